//! The contract between the browser and the proxy: what a checkout shows, asks and is refused.
//!
//! The proxy writes these types as JSON (feature `server`); the widget reads them through [`Fields`], a view of parsed
//! JSON, because serde's generated readers would be a sixth of its download. Both directions are tested against each
//! other in this crate. No I/O, no calculation: amounts are texts that the proxy has computed.
//!
//! Source: interfaces in docs/http.md, "For the browser".

mod attempt_view;
mod donation_view;
mod door;
mod email;
mod error;
mod fields;
mod json;
mod order_view;
mod quote;
mod status;
mod theme;

pub use attempt_view::{AttemptView, Confirmations};
pub use donation_view::DonationView;
pub use door::{Door, MarkPaid, OpenAttempt, Opened};
pub use email::looks_like_email;
pub use error::{ErrorBody, ErrorCode};
pub use fields::{Fields, Unreadable};
pub use order_view::{Environment, Flow, LatePayment, OrderView, StoreView};
pub use quote::{Quote, Unavailable};
pub use status::Status;
pub use theme::{THEMES, TOKENS, ThemeTokens};

#[cfg(test)]
mod tests;
