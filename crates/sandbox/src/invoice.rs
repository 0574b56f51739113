//! One invoice: what was asked for, what arrived, and what the service says about it.
//!
//! ```text
//!             a transaction is seen           in a block            3 confirmations of all
//!  CHECKING ────────────────────────► CHECKING ─────────► PROCESSING ─────────────────────► COMPLETED
//!     │ time is up, and nothing arrived     ▲                 ▲ ▲                             │   │
//!     │ or what arrived is stuck            │ a reorg takes   │ └─── a top-up is seen, ───────┘   │
//!     ▼                                     │ the block back ─┘      a reorg takes blocks back    │
//!   FAILED ── late: seen, or unstuck ──► as above ◄── the payment is replaced by another one ─────┘
//!
//!   told to fail, from anywhere ──► FAILED, for good
//! ```
//!
//! `Assumed:` all of it: the specification names the states and not what moves an invoice between them. That COMPLETED
//! says nothing about *how much* arrived is the specification's word ("invoices can be underpaid or overpaid"). A
//! service that looks at an invoice only until it runs out disproves the late transaction; one that never leaves
//! COMPLETED disproves the top-up and the reorg.

mod payments;
mod received;
mod status;
mod transaction;

use florin_money::{Amount, AmountError, Currency};
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::coin::Coin;
use crate::conversion::Terms;
pub(crate) use received::Received;
pub(crate) use status::{Final, Status};
pub(crate) use transaction::{Standing, Transaction};

/// Confirmations of every transaction that complete an invoice. Source: payment-service.md, "Limits".
pub(crate) const REQUIRED_CONFIRMATIONS: u32 = 3;

/// Statuses that are remembered of one invoice.
const MAX_HISTORY: usize = 50;
/// Payments of one invoice.
const MAX_TRANSACTIONS: usize = 100;

/// An invoice with its life.
#[derive(Clone, Debug)]
pub(crate) struct Invoice {
    pub(crate) id: String,
    pub(crate) coin: Coin,
    pub(crate) terms: Terms,
    pub(crate) local_currency: Currency,
    /// Where the customer was told to send it.
    pub(crate) address: String,
    pub(crate) qr_string: String,
    pub(crate) created_at: Timestamp,
    expires_at: Timestamp,
    /// What GET /invoice names as the address: another one, when the service was told to lie.
    pub(crate) reported_address: String,
    /// Members of the record that GET /invoice answers with instead of its own; `null` leaves one out.
    pub(crate) lies: Map<String, Value>,
    /// Payments that went to the address on another chain or in another asset, and that nobody sees.
    pub(crate) unseen_payments: u32,
    /// Set by POST /confirm, which moves nothing else.
    pub(crate) marked_as_paid: bool,
    pub(crate) email: Option<String>,
    /// The checkout session it belongs to, when the service's own page opened it.
    pub(crate) hosted: Option<Hosted>,
    transactions: Vec<Transaction>,
    received: Received,
    /// Told to fail; no transaction changes that.
    failed: bool,
    announced: Option<Final>,
    /// The status at the last look.
    noted: Status,
    /// The statuses it had and since when, oldest first; the last [`MAX_HISTORY`] of them.
    history: Vec<(Timestamp, Status)>,
}

/// What an invoice takes over from its checkout session.
#[derive(Clone, Debug)]
pub(crate) struct Hosted {
    /// Where the customer goes afterwards.
    pub(crate) website: String,
    /// Where the end is told.
    pub(crate) callback_url: String,
}

/// A transition that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The invoice was told to fail.
    HasFailed,
    /// Something has arrived: it cannot run out.
    HasPayment,
    /// There is no payment with which this could happen.
    NoSuchPayment,
    /// A payment of nothing.
    Nothing,
    /// The payment has more decimals than the asset.
    TooFine { decimals: u32 },
    /// It has as many payments as are kept.
    TooMany,
    /// The sum has no exact value.
    Incalculable(AmountError),
}

/// What an invoice starts with.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) id: String,
    pub(crate) coin: Coin,
    pub(crate) terms: Terms,
    pub(crate) local_currency: Currency,
    pub(crate) address: String,
    pub(crate) qr_string: String,
    pub(crate) expires_at: Timestamp,
    pub(crate) email: Option<String>,
    pub(crate) hosted: Option<Hosted>,
}

impl Invoice {
    pub(crate) fn open(opening: Opening, now: Timestamp) -> Self {
        Self {
            id: opening.id,
            coin: opening.coin,
            terms: opening.terms,
            local_currency: opening.local_currency,
            reported_address: opening.address.clone(),
            address: opening.address,
            lies: Map::new(),
            unseen_payments: 0,
            qr_string: opening.qr_string,
            created_at: now,
            expires_at: opening.expires_at,
            marked_as_paid: false,
            email: opening.email,
            hosted: opening.hosted,
            transactions: Vec::new(),
            received: Received::NOTHING,
            failed: false,
            announced: None,
            noted: Status::Checking,
            history: vec![(now, Status::Checking)],
        }
    }

    pub(crate) fn status(&self, now: Timestamp) -> Status {
        let mut seen = self.seen().peekable();
        let hopeless = seen.peek().is_none() || seen.all(|seen| seen.standing == Standing::Stuck);
        if self.failed || (hopeless && now >= self.expires_at) {
            return Status::Failed;
        }
        let counts = || self.seen().map(Transaction::confirmations);
        match (counts().min(), counts().max()) {
            (Some(least), _) if least >= REQUIRED_CONFIRMATIONS => Status::Completed,
            (_, Some(1..)) => Status::Processing,
            _ => Status::Checking,
        }
    }

    /// Every transaction that was not replaced.
    fn seen(&self) -> impl Iterator<Item = &Transaction> {
        let stands = |seen: &&Transaction| seen.standing != Standing::Replaced;
        self.transactions.iter().filter(stands)
    }

    /// Confirmations of the transaction that has fewest; `None` while none is in a block.
    pub(crate) fn confirmations(&self) -> Option<u32> {
        let counts = || self.seen().map(Transaction::confirmations);
        counts().max().filter(|most| *most > 0)?;
        counts().min()
    }

    pub(crate) fn latest_transaction(&self) -> Option<&Transaction> {
        self.seen().last()
    }

    /// Every payment, oldest first, replaced ones included.
    pub(crate) fn transactions(&self) -> &[Transaction] {
        &self.transactions
    }

    /// The statuses it had and since when, oldest first.
    pub(crate) fn history(&self) -> &[(Timestamp, Status)] {
        &self.history
    }

    /// Payments that wait with a fee that is too low.
    pub(crate) fn stuck_count(&self) -> usize {
        let stuck = |seen: &&Transaction| seen.standing == Standing::Stuck;
        self.seen().filter(stuck).count()
    }

    pub(crate) fn payment_count(&self) -> usize {
        self.seen().count()
    }

    pub(crate) fn received(&self) -> Received {
        self.received
    }

    /// What is missing of the amount asked for.
    pub(crate) fn remaining(&self) -> Amount {
        let asked = Amount::from(&self.terms.crypto);
        asked
            .checked_sub(self.received.crypto)
            .unwrap_or(Amount::ZERO)
    }

    /// Whether it was told to fail: nothing can be paid any more.
    pub(crate) fn was_told_to_fail(&self) -> bool {
        self.failed
    }

    pub(crate) fn expires_at(&self) -> Timestamp {
        self.expires_at
    }

    /// Time is up at once.
    pub(crate) fn expire(&mut self, now: Timestamp) -> Result<(), Refused> {
        if self.seen().next().is_some() {
            return Err(Refused::HasPayment);
        }
        self.expires_at = self.expires_at.min(now);
        Ok(())
    }

    /// The transaction is stuck, or taken back.
    pub(crate) fn fail(&mut self) {
        self.failed = true;
    }

    /// The status at the last look and now, when they differ.
    pub(crate) fn moved(&mut self, now: Timestamp) -> Option<(Status, Status)> {
        let to = self.status(now);
        let from = core::mem::replace(&mut self.noted, to);
        if from == to {
            return None;
        }
        if self.history.len() == MAX_HISTORY {
            self.history.remove(0);
        }
        self.history.push((now, to));
        Some((from, to))
    }

    /// The final status that nobody was told yet, once. After a top-up, completing is told again.
    pub(crate) fn announce(&mut self, now: Timestamp) -> Option<Final> {
        let reached = match self.status(now) {
            Status::Completed => Some(Final::Completed),
            Status::Failed => Some(Final::Failed),
            Status::Checking | Status::Processing | Status::Cancelled => None,
        };
        let news = reached.filter(|_| reached != self.announced);
        self.announced = reached;
        news
    }
}

#[cfg(test)]
mod tests;
