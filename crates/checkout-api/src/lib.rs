//! The contract between the browser and the proxy: requests, responses and errors of the checkout.
//!
//! Both ends derive their JSON from these types with serde. No I/O, no calculation: amounts are texts that the proxy has
//! computed.
//!
//! Source: interfaces in docs/reference/http.md, "For the browser".

mod attempt_view;
mod error;
mod offer;
mod order_view;
mod qr_code;
mod requests;

pub use attempt_view::{
    AttemptView, Confirmations, Mark, Quote, Unavailable, WalletKind, WalletTransaction, Warning,
    WarningKind,
};
pub use error::{ErrorBody, ErrorCode, Refusal};
pub use offer::Offer;
pub use order_view::{
    BlockedReason, DonationView, Environment, FailureReason, Flow, LINE_AMOUNT, LatePayment,
    LineKind, LineView, OrderView, OwedIn, Receipt, SignedReceipt, Status, StoreView, THEMES,
    TOKENS,
};
pub use qr_code::QrCode;
pub use requests::{
    InvalidTitle, MAX_TITLE_CHARS, MarkPaid, OpenAttempt, OpenOrderRequest, Opened, ReceiptEmail,
    RefundAddress, check_title, looks_like_email,
};

/// Returns `true` if a browser or a terminal obeys the character instead of showing it: control characters, bidirectional
/// overrides and isolates. The browser reads every text without them.
pub fn is_obeyed(char: char) -> bool {
    char.is_control() || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests;
