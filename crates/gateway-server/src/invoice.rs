//! One invoice: what it asks for, what arrived, and the status that follows.
//!
//! ```text
//!             a transaction is seen           in a block            enough confirmations of all
//!  CHECKING ────────────────────────► CHECKING ─────────► PROCESSING ─────────────────────► COMPLETED
//!     │ the chain passes the deadline with  ▲                 ▲ ▲                             │   │
//!     │ nothing received, or with it stuck  │ a reorg takes   │ └─── a top-up is seen, ───────┘   │
//!     ▼                                     │ the block back ─┘      a reorg takes blocks back    │
//!   FAILED ── late: seen, or unstuck ──► as above ◄── the payment is replaced ────────────────────┘
//! ```
//!
//! `Assumed:` all of it: the specification names the states and not what moves an invoice between them. That COMPLETED
//! means nothing about *how much* arrived is the specification's word ("invoices can be underpaid or overpaid"). A
//! gateway that ignores an invoice after it expires disproves the late transaction; one that never leaves COMPLETED
//! disproves the top-up and the reorg.

use florin_money::{Amount, AmountError, AmountText, Currency, Rounding};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::chain::Tip;
use crate::coin::Coin;
use crate::prices::Terms;
use crate::session::SessionRequest;
use crate::wire::Status;

const MAX_HISTORY: usize = 50;
/// A payment of less than this part of what is asked for is dust.
const DUST: u32 = 1_000;

/// A transfer to the invoice's address in the invoice's asset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    /// Empty if the node does not name it.
    pub transaction_hash: String,
    /// In the asset.
    pub amount: Amount,
    /// When it was recorded first.
    pub seen_at: Timestamp,
    /// Height of its block; `None` in the mempool.
    pub block: Option<u64>,
    /// No block includes it: its fee is too low.
    pub low_fee: bool,
}

/// The sum of an invoice's payments, counted from the mempool on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// In the asset.
    pub crypto: Amount,
    /// Its worth in dollars at the invoice's rate.
    pub usd: Amount,
    /// Its worth in the local currency at the invoice's rate.
    pub local: Amount,
}

impl Received {
    pub(crate) const NOTHING: Self = Self {
        crypto: Amount::ZERO,
        usd: Amount::ZERO,
        local: Amount::ZERO,
    };
}

/// An invoice with its payments, as of the last look at its chain.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words of the specification")]
pub struct Invoice {
    pub id: String,
    pub coin: Coin,
    pub terms: Terms,
    pub local_currency: Currency,
    pub address: String,
    /// Of the address in the merchant's key.
    pub address_index: u32,
    pub qr_string: String,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// Confirmations of every payment that complete it.
    pub required_confirmations: u32,
    /// Set by POST /confirm, which changes no status.
    pub marked_as_paid: bool,
    pub email: Option<String>,
    /// What the shop requested, when the hosted page opened it.
    pub hosted: Option<SessionRequest>,
    /// The statuses and since when, oldest first; the last [`MAX_HISTORY`] of them.
    pub(crate) history: Vec<(Timestamp, Status)>,
    /// Those that the chain has, oldest first.
    #[serde(skip)]
    pub(crate) payments: Vec<Payment>,
    /// Height of the chain at the last look.
    #[serde(skip)]
    pub(crate) height: u64,
}

/// What POST /invoice, or a choice on the hosted page, asks for.
#[derive(Clone, Debug)]
pub(crate) struct NewInvoice {
    pub(crate) coin: Coin,
    pub(crate) terms: Terms,
    pub(crate) local_currency: Currency,
    /// Id and request of the hosted checkout.
    pub(crate) session: Option<(String, SessionRequest)>,
}

impl Invoice {
    /// Adds what the chain showed at the last look. Dust beside another payment is left out until it has enough
    /// confirmations: anyone may send it, with a fee that no miner takes, and it must not hold the invoice back.
    pub(crate) fn with_payments(mut self, mut payments: Vec<Payment>, height: u64) -> Self {
        self.height = height;
        let asked = Amount::from(&self.terms.crypto);
        let is_dust = |payment: &Payment| {
            let times = payment.amount.checked_mul(DUST);
            times.is_ok_and(|times| times < asked)
        };
        if !payments.iter().all(is_dust) {
            let required = self.required_confirmations;
            payments.retain(|it| !is_dust(it) || self.confirmations_of(it) >= required);
        }
        self.payments = payments;
        self
    }

    /// The status as it was recorded last.
    pub fn status(&self) -> Status {
        let (_, status) = *self.history.last().expect("it begins with CHECKING");
        status
    }

    /// The status that follows from the payments when the chain is complete up to a tip.
    ///
    /// A deadline counts by the tip's time and not by a clock: a chain that was not read yet has not passed it.
    fn status_at(&self, tip: &Tip) -> Status {
        let is_stuck = |payment: &Payment| payment.low_fee && payment.block.is_none();
        if tip.time >= self.expires_at && self.payments.iter().all(is_stuck) {
            return Status::Failed;
        }
        match self.fewest_and_most() {
            Some((fewest, _)) if fewest >= self.required_confirmations => Status::Completed,
            Some((_, 1..)) => Status::Processing,
            _ => Status::Checking,
        }
    }

    fn fewest_and_most(&self) -> Option<(u32, u32)> {
        let counts = || self.payments.iter().map(|it| self.confirmations_of(it));
        Some((counts().min()?, counts().max()?))
    }

    /// 0 while no block includes it.
    pub fn confirmations_of(&self, payment: &Payment) -> u32 {
        let below = payment
            .block
            .and_then(|block| self.height.checked_sub(block));
        below.map_or(0, |below| u32::try_from(below + 1).unwrap_or(u32::MAX))
    }

    /// Confirmations of the payment that has fewest; `None` while none is in a block.
    pub fn confirmations(&self) -> Option<u32> {
        let (fewest, _) = self.fewest_and_most().filter(|(_, most)| *most > 0)?;
        Some(fewest)
    }

    /// The payments that the chain has and that count, oldest first.
    pub fn payments(&self) -> &[Payment] {
        &self.payments
    }

    /// The statuses and since when, oldest first.
    pub fn history(&self) -> &[(Timestamp, Status)] {
        &self.history
    }

    /// What arrived.
    pub fn received(&self) -> Received {
        let worth = self.total().and_then(|crypto| self.worth(crypto));
        worth.unwrap_or(Received::NOTHING)
    }

    fn total(&self) -> Result<Amount, AmountError> {
        let mut amounts = self.payments.iter().map(|payment| payment.amount);
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

    /// Whether the sum with one more payment has an exact value.
    ///
    /// # Errors
    /// It has too many digits.
    pub fn check_payment(&self, amount: Amount) -> Result<(), AmountError> {
        let total = self.total()?.checked_add(amount)?;
        self.worth(total).map(|_| ())
    }

    /// What is still to be paid.
    pub fn remaining(&self) -> Amount {
        let asked = Amount::from(&self.terms.crypto);
        asked
            .checked_sub(self.received().crypto)
            .unwrap_or(Amount::ZERO)
    }

    /// Where callbacks go; `None`: to the account's URL.
    pub fn callback_url(&self) -> Option<&str> {
        let hosted = self.hosted.as_ref();
        hosted.map(|hosted| hosted.callback_url.as_str())
    }

    /// The recorded status and the one that follows, when they differ; then records the latter.
    pub(crate) fn transition(&mut self, tip: &Tip, now: Timestamp) -> Option<(Status, Status)> {
        let (from, to) = (self.status(), self.status_at(tip));
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
pub(crate) mod tests;
