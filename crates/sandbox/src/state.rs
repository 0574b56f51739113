//! All that a running sandbox knows, behind one lock.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use florin_money::Amount;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;

use crate::chain::Chain;
use crate::chains::Chains;
use crate::faults::{Fault, Faults};
use crate::invoice::{Final, Refused, Standing};
use crate::invoices::{Announcement, Change, Invoices};
use crate::journal::{Event, Journal};
use crate::platform::Platform;
use crate::prices::Prices;
use crate::request_log::RequestLog;
use crate::rules::Rules;
use crate::seed::Seed;
use crate::sessions::Sessions;
use crate::throttle::Throttle;
use crate::warp::Warp;
use crate::{Clock, Settings};

/// Callbacks that wait for another one to go first; one more goes out in its turn.
const MAX_HELD: usize = 1_000;

/// A running sandbox: settings that stay, state that moves.
#[derive(Debug)]
pub(crate) struct Sandbox {
    pub(crate) settings: Settings,
    /// The address under which browsers reach the sandbox, without a slash at its end.
    pub(crate) public_url: String,
    state: Mutex<State>,
    announcements: Sender<Announcement>,
}

/// What moves. Everything in it is pure: time is an argument.
#[derive(Debug)]
pub(crate) struct State {
    /// Where all of it comes from.
    pub(crate) seed: u64,
    pub(crate) rules: Rules,
    pub(crate) prices: Prices,
    pub(crate) sessions: Sessions,
    pub(crate) invoices: Invoices,
    pub(crate) platform: Platform,
    pub(crate) faults: Faults,
    pub(crate) requests: RequestLog,
    pub(crate) journal: Journal,
    pub(crate) throttle: Throttle,
    pub(crate) chains: Chains,
    pub(crate) warp: Warp,
    /// Callbacks on their way out.
    pub(crate) outgoing: Vec<Announcement>,
    /// Callbacks that wait for another one to go first.
    held: Vec<Announcement>,
    /// The largest nonce that was accepted.
    pub(crate) last_nonce: i64,
}

impl State {
    /// A world in which nothing has happened yet, except for what the journal knows.
    pub(crate) fn new(settings: &Settings, seed: u64, journal: Journal) -> anyhow::Result<Self> {
        let clock = settings.clock.now();
        let number = seed;
        let seed = Seed::new(number);
        let prices = Prices::new(settings, seed);
        Ok(Self {
            seed: number,
            rules: Rules::new(settings),
            prices: prices.context("the prices cannot be stated in the local currency")?,
            sessions: Sessions::new(seed),
            invoices: Invoices::new(seed),
            platform: Platform::new(seed),
            faults: Faults::new(seed),
            requests: RequestLog::default(),
            journal,
            throttle: Throttle::default(),
            chains: Chains::new(clock),
            warp: Warp::none(clock),
            outgoing: Vec::new(),
            held: Vec::new(),
            last_nonce: 0,
        })
    }

    /// Sends `amount` to an invoice's address; `None` when there is no such invoice.
    pub(crate) fn pay(
        &mut self,
        id: &str,
        amount: Amount,
        standing: Standing,
        now: Timestamp,
    ) -> Option<Result<(), Refused>> {
        let paid = self.invoices.pay(id, amount, standing, now)?;
        if paid.is_ok() {
            let invoice = self.invoices.find(id)?;
            let seen = invoice.latest_transaction()?;
            let payment = Event::Payment {
                invoice_id: invoice.id.clone(),
                crypto_code: invoice.coin.code.to_string(),
                amount: seen.amount.to_string(),
                transaction_hash: seen.hash.clone(),
                confirmations: seen.confirmations(),
            };
            self.journal.add(now, payment);
            if self.faults.take_early() {
                let hosted = invoice.hosted.as_ref();
                let url = hosted.map(|hosted| hosted.callback_url.clone());
                let early = Announcement::new(id.to_owned(), Final::Completed, url);
                self.outgoing.push(early);
            }
        }
        Some(paid)
    }

    /// Blocks are found on one chain, or on all.
    pub(crate) fn mine(&mut self, chain: Option<Chain>, blocks: u32, now: Timestamp) {
        self.chains.mine(chain, blocks);
        self.count_blocks(chain, blocks, now);
    }

    fn count_blocks(&mut self, chain: Option<Chain>, blocks: u32, now: Timestamp) {
        self.invoices.mine(chain, blocks);
        let chain = chain.map_or("all", Chain::as_str);
        self.journal.add(now, Event::Block { chain, blocks });
    }

    /// Blocks are taken back on one chain, or on all.
    pub(crate) fn reorganize(&mut self, chain: Option<Chain>, blocks: u32, now: Timestamp) {
        self.chains.reorganize(chain);
        self.invoices.reorganize(chain, blocks);
        let chain = chain.map_or("all", Chain::as_str);
        self.journal.add(now, Event::Reorg { chain, blocks });
    }

    /// What happens by itself: blocks are found, prices walk.
    fn catch_up(&mut self, now: Timestamp) {
        for (chain, blocks) in self.chains.found(now) {
            self.count_blocks(Some(chain), blocks, now);
        }
        self.prices.walk(now);
    }

    /// A callback on its way out, spoiled by what was planned for it.
    fn send(&mut self, mut callback: Announcement, now: Timestamp) {
        let fault = self.faults.take_of_callback();
        if let Some(fault) = &fault {
            let spoiled = Event::CallbackSpoiled {
                invoice_id: callback.invoice_id.clone(),
                status: callback.reached.as_str(),
                fault: fault.to_string(),
            };
            self.journal.add(now, spoiled);
        }
        callback.delay = fault.as_ref().map_or(Duration::ZERO, Fault::delay);
        match fault {
            Some(Fault::Lost {}) => return,
            Some(Fault::Reordered {}) if self.held.len() < MAX_HELD => {
                self.held.push(callback);
                return;
            }
            Some(Fault::Duplicated {}) => self.outgoing.push(callback.clone()),
            Some(Fault::Lying {}) => callback.reached = callback.reached.opposite(),
            _ => {}
        }
        callback.followers = core::mem::take(&mut self.held);
        self.outgoing.push(callback);
    }

    /// A callback for which there is no room, and those behind it: said, and written down.
    pub(crate) fn drop_callback(&mut self, callback: Announcement, now: Timestamp) {
        let Announcement {
            invoice_id,
            reached,
            followers,
            ..
        } = callback;
        let status = reached.as_str();
        tracing::warn!(invoice_id, status, "callback dropped: too many others wait");
        let dropped = Event::CallbackDropped { invoice_id, status };
        self.journal.add(now, dropped);
        for follower in followers {
            self.drop_callback(follower, now);
        }
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
        announcements: Sender<Announcement>,
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
        let clock = self.clock().now();
        // Every transition is finished or refused before the next begins: a panic elsewhere leaves nothing half done.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = state.warp.here(clock);
        state.catch_up(now);
        let result = act(&mut state, now);
        // The act may have moved the time itself.
        let now = state.warp.here(clock);
        state.catch_up(now);
        for change in state.changes(now) {
            if let Some(reached) = change.announced {
                let callback = Announcement::new(change.invoice_id, reached, change.callback_url);
                state.send(callback, now);
            }
        }
        self.hand_over(&mut state, now);
        result
    }

    /// Gives the sender what is to be told. What it has no room for is dropped and written down.
    fn hand_over(&self, state: &mut State, now: Timestamp) {
        for announcement in core::mem::take(&mut state.outgoing) {
            if let Err(TrySendError::Full(dropped)) = self.announcements.try_send(announcement) {
                state.drop_callback(dropped, now);
            }
        }
    }

    /// The service's own clock, which may be told to run ahead: what the header Date says and nonces are compared with.
    pub(crate) fn service_time(&self, rules: &Rules) -> Timestamp {
        let skew = SignedDuration::from_secs(rules.clock_skew_seconds);
        let now = self.clock().now();
        now.saturating_add(skew).unwrap_or(now)
    }
}

#[cfg(test)]
mod tests;
