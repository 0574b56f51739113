//! All that a running sandbox knows, behind one lock.

use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use jiff::Timestamp;
use tokio::sync::mpsc::UnboundedSender;

use crate::faults::Faults;
use crate::invoices::{Announcement, Invoices};
use crate::journal::{Event, Journal};
use crate::prices::Prices;
use crate::request_log::RequestLog;
use crate::{Clock, Settings};

/// A running sandbox: settings that stay, state that moves.
#[derive(Debug)]
pub(crate) struct Sandbox {
    pub(crate) settings: Settings,
    state: Mutex<State>,
    announcements: UnboundedSender<Announcement>,
}

/// What moves. Everything in it is pure: time is an argument.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) prices: Prices,
    pub(crate) invoices: Invoices,
    pub(crate) faults: Faults,
    pub(crate) requests: RequestLog,
    pub(crate) journal: Journal,
    /// The largest nonce that was accepted.
    pub(crate) last_nonce: i64,
}

impl Sandbox {
    pub(crate) fn new(
        settings: Settings,
        announcements: UnboundedSender<Announcement>,
    ) -> anyhow::Result<Self> {
        let mut journal = Journal::appending_to(settings.log_file.as_deref())?;
        let seed = settings.seed;
        journal.add(settings.clock.now(), Event::Started { seed });
        let state = State {
            prices: Prices::new(&settings)
                .context("the prices cannot be stated in the local currency")?,
            invoices: Invoices::new(&settings),
            faults: Faults::default(),
            requests: RequestLog::default(),
            journal,
            last_nonce: 0,
        };
        Ok(Self {
            settings,
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
        for change in state.invoices.changes(now) {
            let invoice_id = change.invoice_id.clone();
            let (from, to) = (change.from.as_str(), change.to.as_str());
            let status = Event::Status {
                invoice_id: change.invoice_id,
                from,
                to,
            };
            state.journal.add(now, status);
            let Some(reached) = change.announced else {
                continue;
            };
            let announcement = Announcement {
                invoice_id,
                reached,
            };
            if self.announcements.send(announcement).is_err() {
                tracing::debug!("nobody is left to send callbacks");
            }
        }
        result
    }
}
