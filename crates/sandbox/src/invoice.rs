//! One invoice: what was asked for, what arrived, and what the service says about it.
//!
//! ```text
//!             a transaction is seen           in a block            3 confirmations of all
//!  CHECKING ────────────────────────► CHECKING ─────────► PROCESSING ─────────────────────► COMPLETED
//!     │ time is up, nothing arrived   (PENDING)               ▲         a top-up is seen        │
//!     ▼                                                       └─────────────────────────────────┘
//!   FAILED ── a late transaction is seen ──► as above         told to fail, from anywhere ──► FAILED, for good
//! ```
//!
//! `Assumed:` all of it: the specification names the states and not what moves an invoice between them. That COMPLETED
//! says nothing about *how much* arrived is the specification's word ("invoices can be underpaid or overpaid"). A
//! service that looks at an invoice only until it runs out disproves the late transaction; one that never leaves
//! COMPLETED disproves the top-up.

use jiff::Timestamp;
use money::{Amount, AmountError, AmountText, Currency, Rounding};

use crate::coin::Coin;
use crate::conversion::Terms;

/// Confirmations of every transaction that complete an invoice. Source: payment-service.md, "Limits".
pub(crate) const REQUIRED_CONFIRMATIONS: u32 = 3;

/// Statuses that are remembered of one invoice.
const MAX_HISTORY: usize = 50;

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

/// A payment on the chain.
#[derive(Clone, Debug)]
pub(crate) struct Transaction {
    pub(crate) hash: String,
    pub(crate) amount: Amount,
    pub(crate) seen_at: Timestamp,
    /// 0 while it waits in the mempool.
    pub(crate) confirmations: u32,
}

/// What arrived, counted from the mempool on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) crypto: Amount,
    pub(crate) usd: Amount,
    pub(crate) local: Amount,
}

/// `transaction_status` as far as an invoice of POST /invoice reaches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Checking,
    Processing,
    Completed,
    Failed,
    /// A hosted checkout alone comes here, before it is an invoice.
    Cancelled,
}

/// A status that a callback tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Final {
    Completed,
    Failed,
}

/// A transition that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The invoice was told to fail.
    HasFailed,
    /// Something has arrived: it cannot run out.
    HasPayment,
    /// A payment of nothing.
    Nothing,
    /// The payment has more decimals than the asset.
    TooFine { decimals: u32 },
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
        if self.failed || (self.transactions.is_empty() && now >= self.expires_at) {
            return Status::Failed;
        }
        let counts = || self.transactions.iter().map(|seen| seen.confirmations);
        match (counts().min(), counts().max()) {
            (Some(least), _) if least >= REQUIRED_CONFIRMATIONS => Status::Completed,
            (_, Some(1..)) => Status::Processing,
            _ => Status::Checking,
        }
    }

    /// Confirmations of the transaction that has fewest; `None` while none is in a block.
    pub(crate) fn confirmations(&self) -> Option<u32> {
        let counts = || self.transactions.iter().map(|seen| seen.confirmations);
        counts().max().filter(|most| *most > 0)?;
        counts().min()
    }

    pub(crate) fn latest_transaction(&self) -> Option<&Transaction> {
        self.transactions.last()
    }

    /// Every payment, oldest first.
    pub(crate) fn transactions(&self) -> &[Transaction] {
        &self.transactions
    }

    /// The statuses it had and since when, oldest first.
    pub(crate) fn history(&self) -> &[(Timestamp, Status)] {
        &self.history
    }

    pub(crate) fn transaction_count(&self) -> usize {
        self.transactions.len()
    }

    pub(crate) fn received(&self) -> Received {
        self.received
    }

    /// What is missing of the amount asked for.
    pub(crate) fn remaining(&self) -> Amount {
        let asked = Amount::from(&self.terms.crypto);
        asked.minus(self.received.crypto).unwrap_or(Amount::ZERO)
    }

    /// Whether it was told to fail: nothing can be paid any more.
    pub(crate) fn was_told_to_fail(&self) -> bool {
        self.failed
    }

    pub(crate) fn expires_at(&self) -> Timestamp {
        self.expires_at
    }

    /// A transaction is seen, with so many confirmations already.
    pub(crate) fn pay(&mut self, seen: Transaction) -> Result<(), Refused> {
        let amount = seen.amount;
        if self.failed {
            return Err(Refused::HasFailed);
        }
        if amount.is_zero() {
            return Err(Refused::Nothing);
        }
        let decimals = self.coin.decimals;
        if amount.decimals() > decimals {
            return Err(Refused::TooFine { decimals });
        }
        let crypto = self.received.crypto.plus(amount);
        self.received = crypto
            .and_then(|crypto| Received::worth(crypto, &self.terms, self.local_currency))
            .map_err(Refused::Incalculable)?;
        self.transactions.push(seen);
        Ok(())
    }

    /// Blocks are found: every transaction counts them.
    pub(crate) fn mine(&mut self, blocks: u32) {
        if self.failed {
            return;
        }
        for seen in &mut self.transactions {
            seen.confirmations = seen.confirmations.saturating_add(blocks);
        }
    }

    /// Time is up at once.
    pub(crate) fn expire(&mut self, now: Timestamp) -> Result<(), Refused> {
        if !self.transactions.is_empty() {
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

impl Received {
    pub(crate) const NOTHING: Self = Self {
        crypto: Amount::ZERO,
        usd: Amount::ZERO,
        local: Amount::ZERO,
    };

    /// What an amount is worth at the invoice's own rate: in proportion, rounded down to the decimals in which the
    /// invoice is written (at least those of the currency), so that a payment one unit short is never said to be worth
    /// the whole. The whole amount is worth exactly what was asked, written as it was.
    fn worth(crypto: Amount, terms: &Terms, local: Currency) -> Result<Self, AmountError> {
        let asked = Amount::from(&terms.crypto);
        if crypto == asked {
            return Ok(Self {
                crypto: asked,
                usd: Amount::from(&terms.usd),
                local: Amount::from(&terms.local),
            });
        }
        let share = |whole: &AmountText, currency: Currency| {
            let written = u32::try_from(whole.decimals()).expect("at most 18 decimals");
            let decimals = written.max(currency.decimals());
            let share = Amount::from(whole).times_ratio(crypto, asked, decimals, Rounding::Down)?;
            Ok(share.padded(decimals))
        };
        Ok(Self {
            crypto,
            usd: share(&terms.usd, Currency::USD)?,
            local: share(&terms.local, local)?,
        })
    }
}

impl Status {
    /// The word on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Checking => "CHECKING",
            Self::Processing => "PROCESSING",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Cancelled => "CANCELLED",
        }
    }
}

impl Final {
    /// The word on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Completed => Status::Completed.as_str(),
            Self::Failed => Status::Failed.as_str(),
        }
    }
}

#[cfg(test)]
mod tests;
