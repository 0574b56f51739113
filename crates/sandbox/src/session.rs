//! A hosted checkout, from POST /checkout until the customer has chosen an asset or gone.
//!
//! ```text
//!   CHECKING ── an asset is chosen, the QR code is shown ──► an invoice of the same id tells the rest
//!      │ the page is closed before that ──► CANCELLED
//!      │ time is up ──► FAILED
//! ```
//!
//! Source: payment-service.md, "States", for CANCELLED. `Assumed:` the other two; a service that answers GET /invoice
//! with 404 until an asset is chosen, or calls a page that nobody opened CANCELLED, disproves them.

use florin_money::{Amount, AmountText, Currency};
use jiff::Timestamp;

use crate::invoice::Status;

/// A hosted checkout before there is an address.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) email: String,
    pub(crate) currency: Currency,
    /// Units of the currency for one US dollar.
    pub(crate) per_usd: Amount,
    /// What is to be paid, in the currency; `None` lets the customer say it on the page.
    pub(crate) amount: Option<AmountText>,
    pub(crate) merchant_id: Option<String>,
    /// Where the customer goes afterwards.
    pub(crate) website: String,
    /// Where the end is told.
    pub(crate) callback_url: String,
    pub(crate) created_at: Timestamp,
    pub(crate) expires_at: Timestamp,
    stage: Stage,
    noted: Status,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Choosing,
    Cancelled,
    /// The invoice of the same id tells the rest.
    Chosen,
}

/// What POST /checkout asked for.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) email: String,
    pub(crate) currency: Currency,
    pub(crate) per_usd: Amount,
    pub(crate) amount: Option<AmountText>,
    pub(crate) merchant_id: Option<String>,
    pub(crate) website: String,
    pub(crate) callback_url: String,
}

impl Session {
    pub(crate) fn open(
        id: String,
        request: Request,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Self {
        Self {
            id,
            email: request.email,
            currency: request.currency,
            per_usd: request.per_usd,
            amount: request.amount,
            merchant_id: request.merchant_id,
            website: request.website,
            callback_url: request.callback_url,
            created_at: now,
            expires_at,
            stage: Stage::Choosing,
            noted: Status::Checking,
        }
    }

    /// The status while no invoice tells it.
    pub(crate) fn status(&self, now: Timestamp) -> Status {
        match self.stage {
            Stage::Cancelled => Status::Cancelled,
            Stage::Choosing if now >= self.expires_at => Status::Failed,
            Stage::Choosing | Stage::Chosen => Status::Checking,
        }
    }

    /// Whether the customer may still choose.
    pub(crate) fn is_choosing(&self, now: Timestamp) -> bool {
        self.stage == Stage::Choosing && now < self.expires_at
    }

    /// The customer has chosen; from here on the invoice tells.
    pub(crate) fn choose(&mut self) {
        self.stage = Stage::Chosen;
    }

    /// The page was closed. After the QR code was shown, that means nothing.
    pub(crate) fn close(&mut self, now: Timestamp) {
        if self.is_choosing(now) {
            self.stage = Stage::Cancelled;
        }
    }

    /// The status at the last look and now, when they differ.
    pub(crate) fn moved(&mut self, now: Timestamp) -> Option<(Status, Status)> {
        let to = self.status(now);
        let from = core::mem::replace(&mut self.noted, to);
        (from != to).then_some((from, to))
    }
}
