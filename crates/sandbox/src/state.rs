//! All that a running sandbox knows, behind one lock.

use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use jiff::{SignedDuration, Timestamp};
use money::Amount;
use tokio::sync::mpsc::UnboundedSender;

use crate::faults::Faults;
use crate::invoice::Refused;
use crate::invoices::{Announcement, Change, Invoices};
use crate::journal::{Event, Journal};
use crate::platform::Platform;
use crate::prices::Prices;
use crate::request_log::RequestLog;
use crate::rules::Rules;
use crate::seed::Seed;
use crate::sessions::Sessions;
use crate::throttle::Throttle;
use crate::{Clock, Settings};

/// A running sandbox: settings that stay, state that moves.
#[derive(Debug)]
pub(crate) struct Sandbox {
    pub(crate) settings: Settings,
    /// The address under which browsers reach the sandbox, without a slash at its end.
    pub(crate) public_url: String,
    state: Mutex<State>,
    announcements: UnboundedSender<Announcement>,
}

/// What moves. Everything in it is pure: time is an argument.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) rules: Rules,
    pub(crate) prices: Prices,
    pub(crate) sessions: Sessions,
    pub(crate) invoices: Invoices,
    pub(crate) platform: Platform,
    pub(crate) faults: Faults,
    pub(crate) requests: RequestLog,
    pub(crate) journal: Journal,
    pub(crate) throttle: Throttle,
    /// The largest nonce that was accepted.
    pub(crate) last_nonce: i64,
}

impl State {
    /// A world in which nothing has happened yet, except for what the journal knows.
    pub(crate) fn new(settings: &Settings, seed: u64, journal: Journal) -> anyhow::Result<Self> {
        let prices = Prices::new(settings, Seed::new(seed));
        let seed = Seed::new(seed);
        Ok(Self {
            rules: Rules::new(settings),
            prices: prices.context("the prices cannot be stated in the local currency")?,
            sessions: Sessions::new(seed),
            invoices: Invoices::new(seed),
            platform: Platform::new(seed),
            faults: Faults::default(),
            requests: RequestLog::default(),
            journal,
            throttle: Throttle::default(),
            last_nonce: 0,
        })
    }

    /// Sends `amount` to an invoice's address; `None` when there is no such invoice.
    pub(crate) fn pay(
        &mut self,
        id: &str,
        amount: Amount,
        confirmations: u32,
        now: Timestamp,
    ) -> Option<Result<(), Refused>> {
        let paid = self.invoices.pay(id, amount, confirmations, now)?;
        if paid.is_ok() {
            let invoice = self.invoices.find(id)?;
            let seen = invoice.latest_transaction()?;
            let payment = Event::Payment {
                invoice_id: invoice.id.clone(),
                crypto_code: invoice.coin.code.to_string(),
                amount: seen.amount.to_string(),
                transaction_hash: seen.hash.clone(),
                confirmations: seen.confirmations,
            };
            self.journal.add(now, payment);
        }
        Some(paid)
    }

    /// What moved since the last look, written down.
    fn changes(&mut self, now: Timestamp) -> Vec<Change> {
        let mut changes = self.sessions.changes(now);
        changes.extend(self.invoices.changes(now));
        for change in &changes {
            let status = Event::Status {
                invoice_id: change.invoice_id.clone(),
                from: change.from.as_str(),
                to: change.to.as_str(),
            };
            self.journal.add(now, status);
        }
        changes
    }
}

impl Sandbox {
    pub(crate) fn new(
        settings: Settings,
        public_url: String,
        announcements: UnboundedSender<Announcement>,
    ) -> anyhow::Result<Self> {
        let mut journal = Journal::appending_to(settings.log_file.as_deref())?;
        let seed = settings.seed;
        journal.add(settings.clock.now(), Event::Started { seed });
        let state = State::new(&settings, seed, journal)?;
        Ok(Self {
            settings,
            public_url,
            state: Mutex::new(state),
            announcements,
        })
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        self.settings.clock.as_ref()
    }

    /// Does something at this moment, alone; then tells what came to an end.
    pub(crate) fn act<T>(&self, act: impl FnOnce(&mut State, Timestamp) -> T) -> T {
        let now = self.clock().now();
        // Every transition is finished or refused before the next begins: a panic elsewhere leaves nothing half done.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let result = act(&mut state, now);
        for change in state.changes(now) {
            let Some(reached) = change.announced else {
                continue;
            };
            let announcement = Announcement {
                invoice_id: change.invoice_id,
                reached,
                callback_url: change.callback_url,
            };
            if self.announcements.send(announcement).is_err() {
                tracing::debug!("nobody is left to send callbacks");
            }
        }
        result
    }

    /// The service's own clock, which may be told to run ahead: what the header Date says and nonces are compared with.
    pub(crate) fn service_time(&self, rules: &Rules) -> Timestamp {
        let skew = SignedDuration::from_secs(rules.clock_skew_seconds);
        let now = self.clock().now();
        now.saturating_add(skew).unwrap_or(now)
    }
}
