//! The payment service as its specification describes it: resources and signature; with the feature `client` also a client
//! that calls it.
//!
//! What the service sends is read leniently where nothing depends on it and strictly where money does: unknown members
//! are ignored, unknown words are kept, and a member that is missing is visible as missing, never as a default.
//!
//! What this crate refuses to do: to judge a payment, to remember anything about an order, and to put a secret into a
//! log, an error or a body.
//!
//! ```
//! use secrecy::SecretString;
//! use florin_gateway::{Nonce, sign};
//!
//! let secret = SecretString::from("test_secret");
//! let signature = sign(&secret, Nonce::from_second(1_700_000_000), "/invoice?id=inv_1", None);
//! assert!(signature.as_str().starts_with("08d1927a3668f9fc"));
//! ```
//!
//! Source: payment-service.md, version 1.0.0 of the service's interface.

#[cfg(feature = "client")]
mod client;
mod signature;
mod types;

#[cfg(feature = "client")]
pub use client::{
    CallError, Client, Clock, Condition, Credentials, Deadlines, Endpoint, InvoiceAnswer,
    MAX_PASSED_BYTES, NonceRule, Passage, PassageError, PaymentService, Priority, Random,
    RawAnswer, RetryPolicy, Settings, SettingsError, SignedRequest, Transport, Unclear,
};
pub use signature::{Method, Nonce, PutBody, Signature, Signing, sign};
pub use types::{
    Callback, CallbackStatus, CheckoutRequest, CheckoutSession, ConfirmRequest, Confirmations,
    Confirmed, ConversionId, ErrorCode, InvalidId, Invoice, InvoiceId, InvoiceRequest,
    InvoiceStatus, Limits, PriceEntry, Prices, Rates, ServiceError, SkippedPrice,
    TransactionStatus,
};
