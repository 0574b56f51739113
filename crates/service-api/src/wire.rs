//! Every resource of the service, as it is on the wire.
//!
//! Source: payment-service.md, "Resources and their fields" and "Endpoints".

mod callback;
mod checkout;
mod confirm;
mod error;
mod id;
mod invoice;
mod invoice_status;
mod lenient;
mod price;
mod word;

pub use callback::{Callback, CallbackStatus};
pub use checkout::{CheckoutRequest, CheckoutSession};
pub use confirm::{ConfirmRequest, Confirmed};
pub use error::{ErrorCode, ServiceError};
pub use id::{ConversionId, InvalidId, InvoiceId};
pub use invoice::{Invoice, InvoiceRequest};
pub use invoice_status::{Confirmations, InvoiceStatus, TransactionStatus};
pub use price::{Limits, PriceEntry, Prices, Rates, SkippedPrice};

#[cfg(feature = "client")]
pub(crate) use invoice_status::InvoiceLookup;

#[cfg(test)]
mod tests;
