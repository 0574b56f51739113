//! The payment gateway: resources and signature; with the feature `client` also a client with its
//! limits.
//!
//! Responses are parsed leniently where no money depends on them and strictly where it does:
//! unknown members are ignored, unknown words are kept, and a missing member stays visible as
//! missing, never as a default.
//!
//! What this crate refuses to do: assess a payment, store anything about an order, and put a secret
//! into a log, an error or a body.
//!
//! Source: payment-service.md, version 1.0.0 of the gateway's interface.

#![expect(
    missing_docs,
    reason = "a member has a comment where its name leaves a question open"
)]

#[cfg(feature = "client")]
mod client;
mod signature;
mod types;

#[cfg(feature = "client")]
pub use client::{
    AccountRow, AccountRowError, AccountState, AccountStep, AmbiguousOutcome, CallError, Client,
    Clock, Credentials, Deadlines, Endpoint, Health, InvoiceResponse, MAX_RAW_BODY_BYTES,
    NewAccountState, NonceRule, PaymentGateway, Priority, Random, RawRequest, RawRequestError,
    RawResponse, Settings, SettingsError, SignedRequest, Transport, retry_after, with_traceparent,
};
pub use signature::{Method, Nonce, sign};
pub use types::{
    Callback, CallbackStatus, CheckoutRequest, ConfirmRequest, Confirmations, Confirmed,
    ConversionId, ErrorCode, GatewayError, HostedSession, InvalidId, Invoice, InvoiceId,
    InvoiceRequest, InvoiceStatus, Limits, PriceEntry, Prices, Rates, SkippedPrice,
    TransactionStatus,
};
