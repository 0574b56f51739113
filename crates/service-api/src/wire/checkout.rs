//! POST /checkout: a hosted checkout session.

use money::{AmountText, Currency};

use super::InvoiceId;

/// Body of POST /checkout.
///
/// Source: payment-service.md, "POST /checkout".
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CheckoutRequest {
    /// The customer's email address.
    pub client_email_id: String,
    /// The customer's currency.
    pub client_preferred_fiat_currency: Currency,
    /// The price in fiat; absent: the customer enters it on the service's page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<AmountText>,
    /// Required for platforms with several merchants, else absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merchant_id: Option<String>,
    /// Where the customer is sent after paying.
    pub merchant_website: String,
    /// Where callbacks go; should be https.
    pub invoice_callback_url: String,
}

/// Answer of POST /checkout.
///
/// Source: payment-service.md, "Checkout session".
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct CheckoutSession {
    /// The same value as `invoice_id` in callbacks and in GET /invoice.
    pub session_id: InvoiceId,
    /// The hosted page, ending in a query parameter `id` equal to `session_id`.
    pub payment_process_url: String,
}
