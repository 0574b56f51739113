//! What the service POSTs to us.

use super::{InvoiceId, word::words};

words! {
    /// `status` of a callback. A hint: only GET /invoice says what is true.
    CallbackStatus {
        /// The invoice was completed.
        Completed = "COMPLETED",
        /// The invoice failed.
        Failed = "FAILED",
    }
}

/// Body of a callback. It is unsigned and proves nothing; other members may be present and are ignored.
///
/// Source: payment-service.md, "Callback payload" and "Events".
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct Callback {
    /// Which invoice to ask about.
    pub invoice_id: InvoiceId,
    /// What is said to have become of it.
    pub status: CallbackStatus,
}
