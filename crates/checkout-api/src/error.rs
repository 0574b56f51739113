//! The closed list of refusals.

use serde::{Deserialize, Deserializer, Serialize};

use crate::Offer;

macro_rules! error_codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $word:literal, $status:literal;)+) => {
        /// Why the proxy refused. Machines read the code, people the message beside it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
        pub enum ErrorCode { $($(#[doc = $doc])+ #[serde(rename = $word)] $name,)+ }

        impl ErrorCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The word on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }

            /// The HTTP status it always comes with.
            pub fn status(self) -> u16 {
                match self { $(Self::$name => $status,)+ }
            }

            /// When it comes, for people.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc),+).trim_ascii(),)+ }
            }

            fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|code| code.as_str() == word)
            }
        }
    };
}

error_codes! {
    /// The request is not what the endpoint takes; `field` names the member.
    InvalidRequest = "invalid_request", 400;
    /// No secret key, or one that no store has.
    Unauthorized = "unauthorized", 401;
    /// An order token that does not open an order: altered, expired, or not of this proxy. The log
    /// has the reason.
    InvalidOrderToken = "invalid_order_token", 401;
    /// A page of an origin that the store does not list.
    OriginNotAllowed = "origin_not_allowed", 403;
    /// The store may not act for the account at the gateway, or not for that merchant.
    GatewayAccessDenied = "gateway_access_denied", 403;
    /// The store has no pages for its staff, or its staff may not decide about orders.
    StaffAccessDenied = "staff_access_denied", 403;
    /// No such order, or not yours; the same response for an unknown, foreign or expired token.
    NotFound = "not_found", 404;
    /// The proxy has no store of that id.
    UnknownStore = "unknown_store", 404;
    /// The store's catalogue has no product of that sku.
    UnknownProduct = "unknown_product", 404;
    /// The store declared no donation of that id.
    UnknownDonation = "unknown_donation", 404;
    /// Another method is expected here.
    MethodNotAllowed = "method_not_allowed", 405;
    /// The reference is already used for an order of another price.
    OrderConflict = "order_conflict", 409;
    /// The order is paid, cancelled, or too old for another attempt, or money for it was seen.
    OrderClosed = "order_closed", 409;
    /// The price that was shown no longer holds; ask for new quotes.
    QuoteExpired = "quote_expired", 409;
    /// Another attempt is being opened for this order at this moment.
    AttemptInProgress = "attempt_in_progress", 409;
    /// A request of the same `Idempotency-Key` is being carried out; `Retry-After` has the time to wait.
    RequestInProgress = "request_in_progress", 409;
    /// The request of this `Idempotency-Key` was executed, but its stored result is of another version and cannot be
    /// read. Nothing is executed again.
    IdempotencyResultUnreadable = "idempotency_result_unreadable", 409;
    /// The order is paid in the other flow: on the gateway's page, or by choosing an asset here.
    OtherFlow = "other_flow", 409;
    /// "I've sent it", but there is no invoice to pay.
    NothingToPay = "nothing_to_pay", 409;
    /// An address for a refund, but the store owes no money.
    NothingOwed = "nothing_owed", 409;
    /// There is a receipt for paid orders alone.
    NotPaid = "not_paid", 409;
    /// The body is larger than any request needs.
    PayloadTooLarge = "payload_too_large", 413;
    /// The body is not JSON, or not a form where a form is expected.
    UnsupportedMediaType = "unsupported_media_type", 415;
    /// More or fewer pieces than the store sells at once.
    QuantityOutOfRange = "quantity_out_of_range", 422;
    /// The amount of a donation is outside its bounds, which the message states.
    DonationOutOfRange = "donation_out_of_range", 422;
    /// The `Idempotency-Key` came before with another request.
    IdempotencyKeyReused = "idempotency_key_reused", 422;
    /// The price is outside the asset's limits.
    AmountOutOfRange = "amount_out_of_range", 422;
    /// The gateway does not price orders in this currency; `message` says which ones it does.
    CurrencyUnavailable = "currency_unavailable", 422;
    /// The asset is not offered for this order now.
    AssetUnavailable = "asset_unavailable", 422;
    /// The gateway refuses the store's request; `gateway` contains its error.
    GatewayRefused = "gateway_refused", 422;
    /// Too many requests; `Retry-After` has the time to wait.
    RateLimited = "rate_limited", 429;
    /// Our mistake.
    Internal = "internal", 500;
    /// The gateway gave no clear response to what the store's server asked of it: it may have been done.
    GatewayFailed = "gateway_failed", 502;
    /// The gateway cannot be reached or asked us to wait; `Retry-After` has the time to wait.
    GatewayUnavailable = "gateway_unavailable", 503;
    /// The proxy cannot write its database at present; `Retry-After` has the time to wait.
    StorageUnavailable = "storage_unavailable", 503;
}

/// Body of every refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Why the request was refused.
    pub error: ErrorBody,
    /// With a refused choice of `POST /v1/checkout`: what can be chosen now. No order was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<Box<Offer>>,
}

/// The member `error` of every refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorBody {
    /// Why, for machines. A page that is older than its proxy reads a code that it does not know as an absent one.
    #[serde(deserialize_with = "known_code")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub code: Option<ErrorCode>,
    /// One or two sentences for people.
    pub message: String,
    /// The member or parameter at fault; absent when it is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What to quote when asking for help.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// A page that is older than its proxy reads a new code as none, and shows the message beside it.
fn known_code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ErrorCode>, D::Error> {
    let word = String::deserialize(deserializer)?;
    Ok(ErrorCode::parse(&word))
}
