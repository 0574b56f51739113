//! A hosted checkout, from POST /checkout until the customer picks an asset or leaves.
//!
//! ```text
//!   CHECKING ── the customer picks an asset ──► an invoice of the same id has the status from here on
//!      │ the page is closed before that ──► CANCELLED
//!      │ it expires ──► FAILED
//! ```
//!
//! Source: payment-service.md, "States", for CANCELLED. `Assumed:` the other two; a gateway that answers GET /invoice
//! with 404 until an asset is picked, or reports a page that was never opened as CANCELLED, disproves them.

use florin_money::{Amount, AmountText, Currency};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::asset::INVOICE_MINUTES;
use crate::wire::Status;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) request: SessionRequest,
    pub(crate) created_at: Timestamp,
    pub(crate) expires_at: Timestamp,
    stage: Stage,
    recorded: Status,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    Choosing,
    Cancelled,
    /// The invoice of the same id has the status.
    Chosen,
}

/// The body of POST /checkout.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SessionRequest {
    pub(crate) email: String,
    pub(crate) currency: Currency,
    /// Units of the currency for one US dollar.
    pub(crate) per_usd: Amount,
    /// In the currency; `None`: the customer enters it on the page.
    pub(crate) amount: Option<AmountText>,
    pub(crate) merchant_id: Option<String>,
    pub(crate) website: String,
    pub(crate) callback_url: String,
}

impl Session {
    pub(crate) fn new(id: String, request: SessionRequest, now: Timestamp) -> Self {
        let lifetime = SignedDuration::from_mins(INVOICE_MINUTES);
        let expires_at = now.saturating_add(lifetime);
        Self {
            id,
            request,
            created_at: now,
            expires_at: expires_at.expect("a duration is no calendar unit"),
            stage: Stage::Choosing,
            recorded: Status::Checking,
        }
    }

    pub(crate) fn status(&self, now: Timestamp) -> Status {
        match self.stage {
            Stage::Cancelled => Status::Cancelled,
            Stage::Choosing if now >= self.expires_at => Status::Failed,
            Stage::Choosing | Stage::Chosen => Status::Checking,
        }
    }

    pub(crate) fn is_choosing(&self, now: Timestamp) -> bool {
        self.stage == Stage::Choosing && now < self.expires_at
    }

    pub(crate) fn choose(&mut self) {
        self.stage = Stage::Chosen;
    }

    /// The page is closed. After the asset is picked, this changes nothing.
    pub(crate) fn close(&mut self, now: Timestamp) {
        if self.is_choosing(now) {
            self.stage = Stage::Cancelled;
        }
    }

    /// The last recorded status and the current one, when they differ; then records the current one.
    pub(crate) fn transition(&mut self, now: Timestamp) -> Option<(Status, Status)> {
        let to = self.status(now);
        let from = core::mem::replace(&mut self.recorded, to);
        (from != to).then_some((from, to))
    }
}
