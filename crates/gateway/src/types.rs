//! Every resource of the gateway, as it is on the wire.
//!
//! Source: payment-service.md, "Resources and their fields" and "Endpoints".

mod error;
mod invoice;
mod price;
mod text;

pub use error::{ErrorCode, GatewayError};
pub use invoice::{
    Callback, CallbackStatus, CheckoutRequest, CheckoutSession, ConfirmRequest, Confirmations,
    Confirmed, Invoice, InvoiceRequest, InvoiceStatus, TransactionStatus,
};
pub use price::{Limits, PriceEntry, Prices, Rates, SkippedPrice};
pub use text::{ConversionId, InvalidId, InvoiceId};

#[cfg(feature = "client")]
pub(crate) use invoice::InvoiceLookup;

#[cfg(test)]
mod tests;
