//! The state of a running sandbox, behind one lock; and the file of JSON that keeps invoices, hosted checkouts and the time
//! over a restart.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use florin_money::Amount;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::account::Accounts;
use crate::address::payment_uri;
use crate::asset::Chain;
use crate::faults::{Fault, Faults, Target};
use crate::invoice::{Invoice, InvoiceError, NewInvoice, Transaction, TransactionState};
use crate::journal::{Event, Journal};
use crate::prices::Prices;
use crate::session::{Session, SessionRequest};
use crate::settings::{Seed, VirtualClock};
use crate::store::BoundedStore;
use crate::wire::Status;
use crate::{Clock, Settings};

const WRITE_INTERVAL: Duration = Duration::from_secs(1);

/// A running sandbox: constant settings, changing state.
#[derive(Debug)]
pub(crate) struct Sandbox {
    pub(crate) settings: Settings,
    /// Where browsers reach the sandbox, without a slash at the end.
    pub(crate) public_url: String,
    state: Mutex<State>,
    /// Seconds by which the clock of the authentication is ahead.
    clock_error: AtomicI64,
}

/// The changing state; time is an argument.
#[derive(Debug)]
pub(crate) struct State {
    seed: Seed,
    pub(crate) clock: VirtualClock,
    pub(crate) prices: Prices,
    pub(crate) invoices: BoundedStore<Invoice>,
    pub(crate) sessions: BoundedStore<Session>,
    pub(crate) accounts: Accounts,
    pub(crate) faults: Faults,
    pub(crate) journal: Journal,
    pub(crate) next_invoice: NextInvoice,
    callbacks: UnboundedSender<Callback>,
}

/// Members that replace those of the next POST /invoice: a corrupted address, another QR code, the id of another invoice.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NextInvoice {
    pub(crate) address: Option<String>,
    pub(crate) qr_string: Option<String>,
    /// Only in the response: the invoice is stored under its own id.
    pub(crate) invoice_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Callback {
    pub(crate) invoice_id: String,
    pub(crate) status: Status,
    /// `None`: the account's own URL.
    pub(crate) url: Option<String>,
}

impl State {
    fn new(
        settings: &Settings,
        journal: Journal,
        callbacks: UnboundedSender<Callback>,
    ) -> anyhow::Result<Self> {
        let seed = Seed::new(settings.seed);
        let prices = Prices::new(settings, seed);
        let kept = settings.state_file.as_deref().map(read_kept).transpose()?;
        let (clock, invoices, sessions) = kept.flatten().unwrap_or_default();
        Ok(Self {
            seed,
            clock,
            prices: prices.context("a price has no exact value in the local currency")?,
            invoices,
            sessions,
            accounts: Accounts::new(seed),
            faults: Faults::default(),
            journal,
            next_invoice: NextInvoice::default(),
            callbacks,
        })
    }

    /// What a restart keeps, as [`State::new`] reads it.
    pub(crate) fn kept(&self) -> String {
        let kept = (&self.clock, &self.invoices, &self.sessions);
        serde_json::to_string(&kept).expect("its maps have texts as keys")
    }

    /// Opens an invoice at a new address, or at that of [`State::next_invoice`].
    pub(crate) fn open_invoice(&mut self, new: NewInvoice, now: Timestamp) -> &Invoice {
        let number = self.invoices.next_number();
        let next = &mut self.next_invoice;
        let (address, qr_string) = (next.address.take(), next.qr_string.take());
        let address =
            address.unwrap_or_else(|| new.coin.chain.address(&self.seed.draw("address", number)));
        let qr_string =
            qr_string.unwrap_or_else(|| payment_uri(&new.coin, &address, &new.terms.crypto));
        let id = match &new.session {
            Some(session) => session.id.clone(),
            None => format!("inv_{}", self.seed.id("invoice", number)),
        };
        let invoice = Invoice::new(id.clone(), new, address, qr_string, now);
        let due = invoice.expires_at;
        self.invoices.insert(id, invoice, due)
    }

    pub(crate) fn open_session(&mut self, request: SessionRequest, now: Timestamp) -> &Session {
        let number = self.sessions.next_number();
        let id = format!("ses_{}", self.seed.id("session", number));
        let session = Session::new(id.clone(), request, now);
        let due = session.expires_at;
        self.sessions.insert(id, session, due)
    }

    /// Sends `amount` to an invoice's address; `None` when there is no such invoice.
    pub(crate) fn pay(
        &mut self,
        id: &str,
        amount: Amount,
        state: TransactionState,
        now: Timestamp,
    ) -> Option<Result<(), InvoiceError>> {
        let seed = self.seed;
        let invoice = self.invoices.get_mut(id)?;
        let number = u64::try_from(invoice.transaction_count()).expect("it is bounded");
        let hash = invoice.coin.chain.transaction_hash(&seed.draw(id, number));
        let payment = Event::Payment {
            invoice_id: invoice.id.clone(),
            crypto_code: invoice.coin.code.to_string(),
            amount: amount.to_string(),
            transaction_hash: hash.clone(),
        };
        let paid = invoice.pay(Transaction {
            hash,
            amount,
            seen_at: now,
            state,
            is_followed: false,
        });
        if paid.is_ok() {
            self.journal.add(now, payment);
        }
        Some(paid)
    }

    pub(crate) fn mine(&mut self, chain: Option<Chain>, blocks: u32, now: Timestamp) {
        self.invoices
            .change_all(|invoice| is_on(invoice, chain) && invoice.add_blocks(blocks.into()));
        self.journal.add(now, Event::Block { chain, blocks });
    }

    pub(crate) fn reorganize(&mut self, chain: Option<Chain>, blocks: u32, now: Timestamp) {
        self.invoices
            .change_all(|invoice| is_on(invoice, chain) && invoice.add_blocks(-i64::from(blocks)));
        self.journal.add(now, Event::Reorg { chain, blocks });
    }

    fn record_transitions(&mut self, now: Timestamp) {
        let sessions = self.sessions.visit_changed(now, |session| {
            let url = session.request.callback_url.clone();
            Some((session.id.clone(), session.transition(now)?, Some(url)))
        });
        let invoices = self.invoices.visit_changed(now, |invoice| {
            let url = invoice.hosted.as_ref().map(|it| it.callback_url.clone());
            Some((invoice.id.clone(), invoice.transition(now)?, url))
        });
        for (invoice_id, (from, to), url) in sessions.into_iter().chain(invoices) {
            let status = Event::Status {
                invoice_id: invoice_id.clone(),
                from: from.as_str(),
                to: to.as_str(),
            };
            self.journal.add(now, status);
            if to.has_callback() {
                self.queue_callback(invoice_id, to, url, now);
            }
        }
    }

    fn queue_callback(&mut self, id: String, status: Status, url: Option<String>, now: Timestamp) {
        let callback = Callback {
            invoice_id: id.clone(),
            status,
            url,
        };
        let fault = self.faults.take(Target::Callback);
        let times = match &fault {
            Some(Fault::Lost {}) => 0,
            Some(Fault::Repeated {}) => 2,
            _ => 1,
        };
        for callback in core::iter::repeat_n(callback, times) {
            // Without a receiver the sandbox is ending.
            let _ = self.callbacks.send(callback);
        }
        if let Some(fault) = fault {
            let event = Event::CallbackFault {
                invoice_id: id,
                status: status.as_str(),
                fault,
            };
            self.journal.add(now, event);
        }
    }
}

fn is_on(invoice: &Invoice, chain: Option<Chain>) -> bool {
    chain.is_none_or(|chain| chain == invoice.coin.chain)
}

impl Sandbox {
    pub(crate) fn new(
        settings: Settings,
        public_url: String,
        callbacks: UnboundedSender<Callback>,
    ) -> anyhow::Result<Self> {
        let mut journal = Journal::appending_to(settings.log_file.as_deref())?;
        let seed = settings.seed;
        journal.add(settings.clock.now(), Event::Started { seed });
        let state = State::new(&settings, journal, callbacks)?;
        Ok(Self {
            settings,
            public_url,
            state: Mutex::new(state),
            clock_error: AtomicI64::new(0),
        })
    }

    /// The time with which nonces are compared, and which responses show: by a clock that may be wrong.
    pub(crate) fn shown_time(&self) -> Timestamp {
        let ahead = SignedDuration::from_secs(self.clock_error.load(Ordering::Relaxed));
        let now = self.clock().now();
        now.saturating_add(ahead).unwrap_or(now)
    }

    /// Sets that clock ahead of the right time by a number of seconds; a negative number is behind it.
    pub(crate) fn set_clock_error(&self, ahead_seconds: i32) {
        self.clock_error
            .store(i64::from(ahead_seconds), Ordering::Relaxed);
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        self.settings.clock.as_ref()
    }

    /// Reads or changes the state, alone; then records what changed.
    pub(crate) fn update<T>(&self, update: impl FnOnce(&mut State, Timestamp) -> T) -> T {
        let clock = self.clock().now();
        // Each change is complete or rejected before the next one: a panic elsewhere leaves nothing half done.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = state.clock.now(clock);
        let result = update(&mut state, now);
        // The update may have moved the time.
        let now = state.clock.now(clock);
        state.record_transitions(now);
        result
    }
}

/// Reads a file; `None` if it does not exist yet.
fn read_kept<T: for<'de> Deserialize<'de>>(file: &Path) -> anyhow::Result<Option<T>> {
    let text = match std::fs::read_to_string(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        read => read.with_context(|| format!("{} cannot be read", file.display()))?,
    };
    let kept = serde_json::from_str(&text);
    let kept = kept.with_context(|| {
        let file = file.display();
        format!("{file} was not written by this version of the sandbox: delete it, or name another with --state")
    })?;
    Ok(Some(kept))
}

/// Writes what changed, each second and at the end.
pub(crate) async fn write_kept(sandbox: &Sandbox, file: &Path, shutdown: &CancellationToken) {
    let mut interval = tokio::time::interval(WRITE_INTERVAL);
    let mut written = String::new();
    loop {
        let is_over = tokio::select! {
            () = shutdown.cancelled() => true,
            _ = interval.tick() => false,
        };
        let text = sandbox.update(|state, _| state.kept());
        if text != written {
            match replace(file, &text) {
                Ok(()) => written = text,
                Err(error) => tracing::error!("{} cannot be written: {error}", file.display()),
            }
        }
        if is_over {
            return;
        }
    }
}

/// A sandbox that is killed leaves the file before it, whole.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let part = file.with_extension("part");
    std::fs::write(&part, text)?;
    std::fs::rename(part, file)
}
