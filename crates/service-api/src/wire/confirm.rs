//! POST /confirm: "I have paid".

use super::{InvoiceId, lenient};

/// Body of POST /confirm. It moves an invoice into no state: it says that the customer has started paying.
///
/// Source: payment-service.md, "POST /confirm".
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ConfirmRequest {
    marked_as_paid: bool,
    invoice_id: InvoiceId,
    #[serde(skip_serializing_if = "Option::is_none")]
    email_address: Option<String>,
}

impl ConfirmRequest {
    /// Marks the invoice as paid; a receipt goes to the email address if there is one.
    pub fn new(invoice_id: InvoiceId, email_address: Option<String>) -> Self {
        Self {
            marked_as_paid: true,
            invoice_id,
            email_address,
        }
    }
}

/// Answer of POST /confirm. Nothing depends on it, so nothing in it is required.
///
/// Source: payment-service.md, "POST /confirm".
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct Confirmed {
    /// `OK` on success.
    #[serde(default, deserialize_with = "lenient::text")]
    pub message: Option<String>,
    /// Where the service would send the customer.
    #[serde(default, deserialize_with = "lenient::text")]
    pub merchant_website_redirect_url: Option<String>,
}
