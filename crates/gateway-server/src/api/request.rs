//! A call to the gateway: which endpoint it names, its exact bytes, and the members of its body; and the gateway's errors.

use axum::Json;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use florin_money::AmountText;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Larger bodies are rejected; no request of the specification is nearly as large.
const MAX_BODY_BYTES: usize = 64 * 1024;
const MAX_URL_BYTES: usize = 2_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the table below says it")]
pub enum Endpoint {
    Prices,
    CreateInvoice,
    Invoice,
    Confirm,
    Checkout,
    Currencies,
    AddPreference,
    ChangePreference,
    OnboardMerchant,
    MerchantAccount,
    ChangeSettings,
}

const ENDPOINTS: [(&str, &str, Endpoint); 11] = [
    ("GET", "/prices", Endpoint::Prices),
    ("POST", "/invoice", Endpoint::CreateInvoice),
    ("GET", "/invoice", Endpoint::Invoice),
    ("POST", "/confirm", Endpoint::Confirm),
    ("POST", "/checkout", Endpoint::Checkout),
    ("GET", "/currencies", Endpoint::Currencies),
    ("POST", "/preferences", Endpoint::AddPreference),
    ("PUT", "/preferences", Endpoint::ChangePreference),
    ("POST", "/aggregator/merchants", Endpoint::OnboardMerchant),
    ("GET", "/merchant/account", Endpoint::MerchantAccount),
    ("PUT", "/settings", Endpoint::ChangeSettings),
];

impl Endpoint {
    fn of(method: &Method, path: &str) -> Option<Self> {
        let mut rows = ENDPOINTS.iter();
        let row = rows.find(|row| (row.0, row.1) == (method.as_str(), path));
        row.map(|row| row.2)
    }
}

/// A call to the gateway.
#[derive(Debug)]
pub struct Call {
    /// Its method.
    pub method: Method,
    /// Path with query exactly as sent, without the base address's `/api`.
    pub target: String,
    pub(crate) headers: HeaderMap,
    /// The exact bytes; `None` when they were too many or the connection broke.
    body: Option<Bytes>,
    /// `None`: the gateway has none of this method and path.
    pub endpoint: Option<Endpoint>,
}

impl Call {
    /// Reads a request below `/api`.
    pub async fn read(parts: &Parts, body: Body) -> Self {
        let target = parts.uri.path_and_query();
        let target = target.map_or("", |target| target.as_str());
        let target = target.strip_prefix("/api").unwrap_or(target).to_owned();
        let path = target.split('?').next().unwrap_or_default();
        Self {
            endpoint: Endpoint::of(&parts.method, path),
            method: parts.method.clone(),
            target,
            headers: parts.headers.clone(),
            body: to_bytes(body, MAX_BODY_BYTES).await.ok(),
        }
    }

    /// The path without the query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    pub(crate) fn query(&self) -> &str {
        let query = self.target.split_once('?');
        query.map_or("", |(_, query)| query)
    }

    /// The body as JSON; `None` if it is none.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_slice(self.body.as_ref()?).ok()
    }

    pub(crate) fn body(&self) -> Result<&[u8], ApiError> {
        let body = self.body.as_deref();
        body.ok_or_else(|| ApiError::invalid("the body is too large, or was cut off"))
    }

    /// A header that may be sent once; `None` also if it was sent twice.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let value = values.next()?;
        if values.next().is_some() {
            return None;
        }
        value.to_str().ok()
    }

    pub(crate) fn members(&self) -> Result<Members, ApiError> {
        match serde_json::from_slice(self.body()?) {
            Ok(Value::Object(members)) => Ok(Members(members)),
            Ok(other) => Err(ApiError::invalid(format!(
                "the body must be a JSON object, and is {}",
                kind(&other)
            ))),
            Err(error) => Err(ApiError::invalid(format!("the body is not JSON: {error}"))),
        }
    }
}

/// The members of a body, by the types of the specification: nothing is converted, and a wrong type is named. Members
/// that the specification does not list are ignored (`Assumed:`).
#[derive(Debug)]
pub(crate) struct Members(Map<String, Value>);

impl Members {
    pub(crate) fn into_object(self) -> Map<String, Value> {
        self.0
    }

    pub(crate) fn text(&self, name: &str) -> Result<&str, ApiError> {
        self.optional_text(name)?.ok_or_else(|| missing(name))
    }

    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<&str>, ApiError> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_type(name, "a string", other)),
        }
    }

    pub(crate) fn amount(&self, name: &str) -> Result<AmountText, ApiError> {
        let text = self.text(name)?;
        AmountText::parse(text).map_err(|error| ApiError::invalid(format!("{name}: {error}")))
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, ApiError> {
        match self.0.get(name) {
            None => Err(missing(name)),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(wrong_type(name, "a boolean", other)),
        }
    }

    pub(crate) fn url(&self, name: &str) -> Result<String, ApiError> {
        let text = self.text(name)?;
        let url = reqwest::Url::parse(text).ok();
        let is_web = |url: &reqwest::Url| matches!(url.scheme(), "http" | "https");
        match url.filter(|url| is_web(url) && text.len() <= MAX_URL_BYTES) {
            Some(_) => Ok(text.to_owned()),
            None => Err(ApiError::invalid(format!(
                "{name} must be an http or https URL of at most {MAX_URL_BYTES} bytes"
            ))),
        }
    }
}

fn missing(name: &str) -> ApiError {
    ApiError::invalid(format!("{name} is missing"))
}

fn wrong_type(name: &str, expected: &str, found: &Value) -> ApiError {
    ApiError::invalid(format!("{name} must be {expected}, and is {}", kind(found)))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Source: payment-service.md, "Error codes", for the first five. `Assumed:` the others, for cases in which the
/// specification shows a status and no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the words on the wire")]
pub enum ErrorCode {
    InvalidApiKey,
    InvalidSignature,
    InvalidInvoiceId,
    AmountOutOfRange,
    UnsupportedCryptoCode,
    InvalidConversionId,
    InvalidRequest,
    NotFound,
    RateLimitExceeded,
    InternalError,
}

impl ErrorCode {
    /// 401 is stated for key and signature. `Assumed:` for the others the specification's list of statuses is applied by
    /// its words.
    fn status(self) -> StatusCode {
        match self {
            Self::InvalidApiKey | Self::InvalidSignature => StatusCode::UNAUTHORIZED,
            Self::InvalidInvoiceId | Self::NotFound => StatusCode::NOT_FOUND,
            Self::AmountOutOfRange
            | Self::UnsupportedCryptoCode
            | Self::InvalidConversionId
            | Self::InvalidRequest => StatusCode::BAD_REQUEST,
            Self::RateLimitExceeded => StatusCode::TOO_MANY_REQUESTS,
            Self::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// A refused call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The closed list of the specification, and a few more.
    pub code: ErrorCode,
    /// Names the mistake, for the caller's developer.
    pub message: String,
}

impl ApiError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidRequest, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    /// The asset cannot be chosen now: no price, no node, or too many invoices without a payment.
    pub(crate) fn not_now(code: &str) -> Self {
        let message = format!("{code} cannot be chosen now; GET /prices has what can");
        Self::new(ErrorCode::UnsupportedCryptoCode, message)
    }

    pub(crate) fn no_endpoint(call: &Call) -> Self {
        let (method, path) = (&call.method, call.path());
        Self::not_found(format!("the gateway has no {method} {path}"))
    }

    pub(crate) fn unknown_invoice(id: &str) -> Self {
        let message = format!("there is no invoice {id:?}");
        Self::new(ErrorCode::InvalidInvoiceId, message)
    }

    /// Source: payment-service.md, "Errors"; a 400 of POST /checkout has another shape.
    pub(crate) fn response(&self, endpoint: Option<Endpoint>) -> Response {
        let (code, status, message) = (self.code, self.code.status(), &self.message);
        let body = match (endpoint, status) {
            (Some(Endpoint::Checkout), StatusCode::BAD_REQUEST) => {
                json!({"error": true, "message": message})
            }
            _ => json!({"error": status.canonical_reason(), "code": code, "message": message}),
        };
        let response = (status, Json(body));
        if code == ErrorCode::RateLimitExceeded {
            return ([(header::RETRY_AFTER, "1")], response).into_response();
        }
        response.into_response()
    }
}
