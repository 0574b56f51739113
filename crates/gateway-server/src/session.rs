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

use crate::wire::Status;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Session {
    pub id: String,
    pub request: SessionRequest,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    Choosing,
    Cancelled,
    /// The invoice of the same id has the status.
    Chosen,
}

/// The asset of a checkout is chosen, and its invoice is being opened.
pub(crate) const CHOSEN: &str = "CHOSEN";

/// The body of POST /checkout.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words of the specification")]
pub struct SessionRequest {
    pub email: String,
    pub currency: Currency,
    /// Units of the currency for one US dollar.
    pub per_usd: Amount,
    /// In the currency; `None`: the customer enters it on the page.
    pub amount: Option<AmountText>,
    pub merchant_id: Option<String>,
    pub website: String,
    pub callback_url: String,
}

impl Session {
    pub(crate) fn new(
        id: String,
        request: SessionRequest,
        lifetime: SignedDuration,
        now: Timestamp,
    ) -> Self {
        let expires_at = now.saturating_add(lifetime);
        Self {
            id,
            request,
            created_at: now,
            expires_at: expires_at.expect("a duration is no calendar unit"),
            stage: Stage::Choosing,
        }
    }

    /// The status; after a choice the invoice has it.
    pub fn status(&self, now: Timestamp) -> Status {
        match self.stage {
            Stage::Cancelled => Status::Cancelled,
            Stage::Choosing if now >= self.expires_at => Status::Failed,
            Stage::Choosing | Stage::Chosen => Status::Checking,
        }
    }

    pub(crate) fn is_choosing(&self, now: Timestamp) -> bool {
        self.stage == Stage::Choosing && now < self.expires_at
    }

    /// The status by which the database finds expired checkouts; one with an invoice has `INVOICED`.
    pub(crate) fn open_status(&self) -> &'static str {
        match self.stage {
            Stage::Choosing => "CHECKING",
            Stage::Cancelled => "CANCELLED",
            Stage::Chosen => CHOSEN,
        }
    }

    pub(crate) fn choose(&mut self) {
        self.stage = Stage::Chosen;
    }

    /// The invoice could not be opened: the customer may choose again.
    pub(crate) fn unchoose(&mut self) {
        self.stage = Stage::Choosing;
    }

    /// The page is closed. After the asset is picked, this changes nothing.
    pub(crate) fn close(&mut self, now: Timestamp) {
        if self.is_choosing(now) {
            self.stage = Stage::Cancelled;
        }
    }
}
