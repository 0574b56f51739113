//! The contract between the browser and the proxy: what a checkout shows, asks and is refused.
//!
//! Both ends derive their JSON from these types with serde. The browser reads every text through [`from_json`], which
//! takes out the characters that a browser obeys instead of showing. No I/O, no calculation: amounts are texts that the
//! proxy has computed.
//!
//! Source: interfaces in docs/reference/http.md, "For the browser".

mod attempt_view;
mod donation_view;
mod email;
mod error;
mod from_json;
mod open_order_request;
mod order_view;
mod quote;
mod receipt;
mod status;
mod theme;
mod warning;

pub use attempt_view::{AttemptView, Confirmations};
pub use donation_view::DonationView;
pub use email::looks_like_email;
pub use error::{ErrorBody, ErrorCode, Refusal};
pub use from_json::from_json;
pub use open_order_request::{KeepEmail, MarkPaid, OpenAttempt, OpenOrderRequest, Opened};
pub use order_view::{
    BlockedReason, Environment, FailureReason, Flow, LatePayment, LineView, MAX_TITLE_CHARS,
    OrderView, StoreView,
};
pub use quote::{Quote, Unavailable};
pub use receipt::{Receipt, SignedReceipt};
pub use status::Status;
pub use theme::{THEMES, TOKENS};
pub use warning::{Warning, WarningKind};

#[cfg(test)]
mod tests;
