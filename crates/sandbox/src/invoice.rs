//! One invoice: what it asks for, what arrived, and the status that follows.
//!
//! ```text
//!             a transaction is seen           in a block            3 confirmations of all
//!  CHECKING ────────────────────────► CHECKING ─────────► PROCESSING ─────────────────────► COMPLETED
//!     │ it expires with nothing             ▲                 ▲ ▲                             │   │
//!     │ received, or with it stuck          │ a reorg takes   │ └─── a top-up is seen, ───────┘   │
//!     ▼                                     │ the block back ─┘      a reorg takes blocks back    │
//!   FAILED ── late: seen, or unstuck ──► as above ◄── the payment is replaced ────────────────────┘
//!
//!   POST /sandbox/invoices/{id}/fail, from any status ──► FAILED, for good
//! ```
//!
//! `Assumed:` all of it: the specification names the states and not what moves an invoice between them. That COMPLETED
//! means nothing about *how much* arrived is the specification's word ("invoices can be underpaid or overpaid"). A
//! gateway that ignores an invoice after it expires disproves the late transaction; one that never leaves COMPLETED
//! disproves the top-up and the reorg.

use florin_money::{Amount, AmountError, AmountText, Currency, Rounding};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::asset::{Coin, INVOICE_MINUTES, REQUIRED_CONFIRMATIONS};
use crate::prices::Terms;
use crate::session::{Session, SessionRequest};
use crate::wire::Status;

const MAX_HISTORY: usize = 50;
const MAX_TRANSACTIONS: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Transaction {
    pub(crate) hash: String,
    pub(crate) amount: Amount,
    pub(crate) seen_at: Timestamp,
    pub(crate) state: TransactionState,
    /// `true` if a node shows it: only the node changes it.
    pub(crate) is_followed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum TransactionState {
    /// In the mempool.
    Pending,
    /// In the mempool, with a fee so low that no block includes it.
    Stuck,
    /// In a block, with this number of confirmations: 1 or more.
    Confirmed(u32),
    /// Another transaction spent its coins: it does not count.
    Replaced,
}

impl Transaction {
    /// 0 while no block includes it.
    pub(crate) fn confirmations(&self) -> u32 {
        match self.state {
            TransactionState::Confirmed(confirmations) => confirmations,
            _ => 0,
        }
    }
}

/// The sum of an invoice's payments, counted from the mempool on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) crypto: Amount,
    pub(crate) usd: Amount,
    pub(crate) local: Amount,
}

impl Received {
    pub(crate) const NOTHING: Self = Self {
        crypto: Amount::ZERO,
        usd: Amount::ZERO,
        local: Amount::ZERO,
    };
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Invoice {
    pub(crate) id: String,
    pub(crate) coin: Coin,
    pub(crate) terms: Terms,
    pub(crate) local_currency: Currency,
    pub(crate) address: String,
    pub(crate) qr_string: String,
    pub(crate) created_at: Timestamp,
    pub(crate) expires_at: Timestamp,
    /// Members with which GET /invoice replaces its own; `null` removes one.
    pub(crate) overrides: Map<String, Value>,
    /// Set by POST /confirm, which changes no status.
    pub(crate) marked_as_paid: bool,
    pub(crate) email: Option<String>,
    /// What the shop requested, when the hosted page opened it.
    pub(crate) hosted: Option<SessionRequest>,
    transactions: Vec<Transaction>,
    /// Failed by the developer; no transaction changes that.
    failed: bool,
    /// The statuses and since when, oldest first; the last [`MAX_HISTORY`] of them.
    history: Vec<(Timestamp, Status)>,
}

#[derive(Debug)]
pub(crate) struct NewInvoice {
    pub(crate) coin: Coin,
    pub(crate) terms: Terms,
    pub(crate) local_currency: Currency,
    pub(crate) session: Option<Session>,
}

/// A change that the invoice rejects, as a sentence for the developer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InvoiceError {
    /// Not in this state.
    State(&'static str),
    /// The amount is invalid.
    Amount(String),
}

const NO_SUCH_PAYMENT: InvoiceError =
    InvoiceError::State("The invoice has no payment that this can change.");

impl Invoice {
    pub(crate) fn new(
        id: String,
        new: NewInvoice,
        address: String,
        qr_string: String,
        now: Timestamp,
    ) -> Self {
        let lifetime = SignedDuration::from_mins(INVOICE_MINUTES);
        let expires_at = now.saturating_add(lifetime);
        let hosted = new.session.map(|session| session.request);
        Self {
            id,
            coin: new.coin,
            terms: new.terms,
            local_currency: new.local_currency,
            address,
            qr_string,
            created_at: now,
            expires_at: expires_at.expect("a duration is no calendar unit"),
            overrides: Map::new(),
            marked_as_paid: false,
            email: hosted.as_ref().map(|hosted| hosted.email.clone()),
            hosted,
            transactions: Vec::new(),
            failed: false,
            history: vec![(now, Status::Checking)],
        }
    }

    pub(crate) fn status(&self, now: Timestamp) -> Status {
        let is_stuck = |seen: &Transaction| seen.state == TransactionState::Stuck;
        if self.failed || (now >= self.expires_at && self.seen().all(is_stuck)) {
            return Status::Failed;
        }
        let counts = || self.seen().map(Transaction::confirmations);
        match (counts().min(), counts().max()) {
            (Some(least), _) if least >= REQUIRED_CONFIRMATIONS => Status::Completed,
            (_, Some(1..)) => Status::Processing,
            _ => Status::Checking,
        }
    }

    pub(crate) fn seen(&self) -> impl DoubleEndedIterator<Item = &Transaction> {
        let counts = |seen: &&Transaction| seen.state != TransactionState::Replaced;
        self.transactions.iter().filter(counts)
    }

    /// Confirmations of the transaction that has fewest; `None` while none is in a block.
    pub(crate) fn confirmations(&self) -> Option<u32> {
        let counts = || self.seen().map(Transaction::confirmations);
        counts().max().filter(|most| *most > 0)?;
        counts().min()
    }

    pub(crate) fn latest_transaction(&self) -> Option<&Transaction> {
        self.seen().next_back()
    }

    /// Payments so far, replaced ones included.
    pub(crate) fn transaction_count(&self) -> usize {
        self.transactions.len()
    }

    pub(crate) fn history(&self) -> &[(Timestamp, Status)] {
        &self.history
    }

    pub(crate) fn stuck_count(&self) -> usize {
        let is_stuck = |seen: &&Transaction| seen.state == TransactionState::Stuck;
        self.seen().filter(is_stuck).count()
    }

    pub(crate) fn received(&self) -> Received {
        let worth = self.total().and_then(|crypto| self.worth(crypto));
        worth.unwrap_or(Received::NOTHING)
    }

    fn total(&self) -> Result<Amount, AmountError> {
        let mut amounts = self.seen().map(|seen| seen.amount);
        amounts.try_fold(Amount::ZERO, Amount::checked_add)
    }

    /// The worth of an amount at the invoice's own rate: in proportion, rounded down to the decimals in which the
    /// invoice is written (at least those of the currency), so that a payment one unit short is never worth the whole.
    /// The whole amount is worth exactly what the invoice asks for, written as it was.
    fn worth(&self, crypto: Amount) -> Result<Received, AmountError> {
        let asked = Amount::from(&self.terms.crypto);
        if crypto.is_zero() {
            return Ok(Received::NOTHING);
        }
        let worth = |whole: &AmountText, currency: Currency| {
            if crypto == asked {
                return Ok(Amount::from(whole));
            }
            let written = u32::try_from(whole.decimals()).expect("at most 18 decimals");
            let decimals = written.max(currency.decimals());
            let share = Amount::from(whole).mul_div(crypto, asked, decimals, Rounding::Down)?;
            Ok(share.with_min_decimals(decimals))
        };
        Ok(Received {
            usd: worth(&self.terms.usd, Currency::USD)?,
            local: worth(&self.terms.local, self.local_currency)?,
            crypto: if crypto == asked { asked } else { crypto },
        })
    }

    pub(crate) fn remaining(&self) -> Amount {
        let asked = Amount::from(&self.terms.crypto);
        asked
            .checked_sub(self.received().crypto)
            .unwrap_or(Amount::ZERO)
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    pub(crate) fn pay(&mut self, transaction: Transaction) -> Result<(), InvoiceError> {
        let amount = transaction.amount;
        let decimals = self.coin.decimals;
        if self.failed {
            return Err(InvoiceError::State(
                "The invoice has failed for good: it takes no payment.",
            ));
        }
        if amount.is_zero() {
            return Err(InvoiceError::State("There is nothing to pay."));
        }
        if amount.decimals() > decimals {
            let sentence = format!("The amount has more decimals than the asset has: {decimals}.");
            return Err(InvoiceError::Amount(sentence));
        }
        if self.transactions.len() == MAX_TRANSACTIONS {
            return Err(InvoiceError::State(
                "The invoice has a hundred payments, the most it takes.",
            ));
        }
        let total = self.total().and_then(|total| total.checked_add(amount));
        let worth = total.and_then(|crypto| self.worth(crypto));
        worth.map_err(|error| {
            InvoiceError::Amount(format!("The sum has no exact value: {error}."))
        })?;
        self.transactions.push(transaction);
        Ok(())
    }

    /// Mines blocks, or takes blocks back if the number is negative: every transaction that is not stuck counts them. Returns
    /// `true` if one did.
    pub(crate) fn add_blocks(&mut self, blocks: i64) -> bool {
        if self.failed {
            return false;
        }
        let mut changed = false;
        for seen in self.transactions.iter_mut().filter(|one| !one.is_followed) {
            if let TransactionState::Pending | TransactionState::Confirmed(_) = seen.state {
                let count = i64::from(seen.confirmations())
                    .saturating_add(blocks)
                    .max(0);
                let state = match u32::try_from(count).unwrap_or(u32::MAX) {
                    0 => TransactionState::Pending,
                    count => TransactionState::Confirmed(count),
                };
                changed |= state != seen.state;
                seen.state = state;
            }
        }
        changed
    }

    /// Raises the fee of every stuck transaction: the next block includes it.
    pub(crate) fn bump_fee(&mut self) -> Result<(), InvoiceError> {
        if self.stuck_count() == 0 {
            return Err(NO_SUCH_PAYMENT);
        }
        for seen in &mut self.transactions {
            if seen.state == TransactionState::Stuck {
                seen.state = TransactionState::Pending;
            }
        }
        Ok(())
    }

    /// Replaces the latest payment by one to another address. Returns its hash.
    pub(crate) fn replace(&mut self) -> Result<String, InvoiceError> {
        let counts = |seen: &&mut Transaction| seen.state != TransactionState::Replaced;
        let latest = self.transactions.iter_mut().rev().find(counts);
        let latest = latest.ok_or(NO_SUCH_PAYMENT)?;
        latest.state = TransactionState::Replaced;
        Ok(latest.hash.clone())
    }

    /// Sets the payments that a node shows: new ones are added, and one that the node no longer shows was replaced. Returns
    /// `true` if something changed.
    pub(crate) fn follow(&mut self, shown: Vec<Transaction>) -> bool {
        let before = self.transactions.clone();
        for known in self.transactions.iter_mut().filter(|one| one.is_followed) {
            let shown = shown.iter().find(|shown| shown.hash == known.hash);
            known.state = shown.map_or(TransactionState::Replaced, |shown| shown.state);
        }
        for new in shown {
            if self.transactions.iter().all(|known| known.hash != new.hash) {
                // A payment that the invoice cannot take stays on the chain.
                let _ = self.pay(new);
            }
        }
        before != self.transactions
    }

    pub(crate) fn expire(&mut self, now: Timestamp) -> Result<(), InvoiceError> {
        if self.seen().next().is_some() {
            return Err(InvoiceError::State(
                "The invoice has a payment: it cannot expire any more.",
            ));
        }
        self.expires_at = self.expires_at.min(now);
        Ok(())
    }

    pub(crate) fn fail(&mut self) {
        self.failed = true;
    }

    /// The last recorded status and the current one, when they differ; then records the current one.
    pub(crate) fn transition(&mut self, now: Timestamp) -> Option<(Status, Status)> {
        let to = self.status(now);
        let (_, from) = *self.history.last().expect("it begins with CHECKING");
        if from == to {
            return None;
        }
        if self.history.len() == MAX_HISTORY {
            self.history.remove(0);
        }
        self.history.push((now, to));
        Some((from, to))
    }
}

#[cfg(test)]
mod tests;
