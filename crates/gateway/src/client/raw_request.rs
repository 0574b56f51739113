//! A call whose JSON passes through as it is, both ways: endpoints that the specification only names, and answers that
//! somebody wants to read whole.
//!
//! Source: payment-service.md, "Endpoints listed by name only": their shapes are not shown, so nothing is read into
//! them. Two things are done all the same. Whitespace between JSON's tokens goes, since what is signed is "the request
//! body as compact JSON text". And a platform's merchant is named, and no other can be.

mod json_text;

use super::invoice_path;
use crate::{InvoiceId, Method};

/// Longest body that is passed on.
pub const MAX_PASSED_BYTES: usize = 64 * 1024;
/// Longest query that is passed on.
const MAX_QUERY_BYTES: usize = 1024;
/// The name by which the specification knows a merchant of a platform.
const MERCHANT: &str = "merchant_id";

/// Where a passage leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// GET /currencies: the supported currencies.
    Currencies,
    /// GET /prices: rates, limits and conversion ids.
    Prices,
    /// POST /preferences: adds a settlement wallet.
    AddPreferences,
    /// PUT /preferences: updates a settlement wallet.
    UpdatePreferences,
    /// POST /aggregator/merchants: onboards a merchant of a platform.
    OnboardMerchant,
    /// GET /merchant/account: a storage URL for KYC documents.
    MerchantAccount,
    /// PUT /settings: updates a merchant's profile.
    UpdateSettings,
}

impl Endpoint {
    fn method_and_path(self) -> (Method, &'static str) {
        match self {
            Self::Currencies => (Method::Get, "/currencies"),
            Self::Prices => (Method::Get, "/prices"),
            Self::AddPreferences => (Method::Post, "/preferences"),
            Self::UpdatePreferences => (Method::Put, "/preferences"),
            Self::OnboardMerchant => (Method::Post, "/aggregator/merchants"),
            Self::MerchantAccount => (Method::Get, "/merchant/account"),
            Self::UpdateSettings => (Method::Put, "/settings"),
        }
    }

    /// Whether a body belongs to it.
    pub fn takes_body(self) -> bool {
        self.method_and_path().0 != Method::Get
    }

    /// Whether it is about one merchant of a platform.
    ///
    /// The specification says so of POST /preferences. `Assumed:` of the other three as well: without it they would
    /// change the platform's own account. A refusal of the member or parameter would disprove it.
    pub fn is_about_a_merchant(self) -> bool {
        match self {
            Self::AddPreferences
            | Self::UpdatePreferences
            | Self::MerchantAccount
            | Self::UpdateSettings => true,
            Self::Currencies | Self::Prices | Self::OnboardMerchant => false,
        }
    }
}

/// A call to pass on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    method: Method,
    path: String,
    /// Without its question mark; empty when there is none.
    query: String,
    /// Compact JSON.
    body: Option<String>,
}

/// A call that is not passed on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PassageError {
    /// The body is not JSON.
    #[error("the body is not JSON: {0}")]
    NotJson(String),
    /// The body is too long.
    #[error("the body has more than {MAX_PASSED_BYTES} bytes")]
    TooLarge,
    /// The endpoint takes a body and there is none, or the other way round.
    #[error("{0}")]
    Body(&'static str),
    /// The query is too long, or has characters that an address writes percent-encoded.
    #[error("the query is longer than {MAX_QUERY_BYTES} bytes or not percent-encoded")]
    Query,
    /// The call names another merchant, or one in a way that is not understood.
    #[error("the call names another merchant than {0}")]
    OtherMerchant(String),
    /// A merchant can be named in a JSON object only.
    #[error("the body must be a JSON object, so that the merchant can be named in it")]
    NotAnObject,
}

impl Passage {
    /// Passes a query and a body on to an endpoint.
    ///
    /// # Errors
    /// [`PassageError`], all but those about merchants.
    pub fn new(endpoint: Endpoint, query: &str, body: Option<&str>) -> Result<Self, PassageError> {
        let (method, path) = endpoint.method_and_path();
        if query.len() > MAX_QUERY_BYTES || !query.bytes().all(stays_as_it_is) {
            return Err(PassageError::Query);
        }
        let body = match (body, endpoint.takes_body()) {
            (None, false) => None,
            (Some(body), true) => Some(checked(body)?),
            (None, true) => return Err(PassageError::Body("the endpoint takes a JSON body")),
            (Some(_), false) => return Err(PassageError::Body("the endpoint takes no body")),
        };
        Ok(Self {
            method,
            path: path.to_owned(),
            query: query.to_owned(),
            body,
        })
    }

    /// GET /invoice, whole; with its transaction history when `hist`.
    pub fn invoice(id: &InvoiceId, hist: bool) -> Self {
        let path_and_query = invoice_path(id);
        let (path, query) = path_and_query
            .split_once('?')
            .expect("an invoice is named in the query");
        let hist = if hist { "&hist=true" } else { "" };
        Self {
            method: Method::Get,
            path: path.to_owned(),
            query: format!("{query}{hist}"),
            body: None,
        }
    }

    /// Names a merchant of the platform, in the body or else in the query.
    ///
    /// # Errors
    /// [`PassageError::OtherMerchant`] when the call names another one, at any depth and however the name is written;
    /// [`PassageError::NotAnObject`].
    pub fn for_merchant(mut self, merchant: &str) -> Result<Self, PassageError> {
        let other = || PassageError::OtherMerchant(merchant.to_owned());
        let mut is_named = false;
        for (name, value) in url::form_urlencoded::parse(self.query.as_bytes()) {
            if names_a_merchant(&name) {
                if value != merchant || name != MERCHANT || is_named {
                    return Err(other());
                }
                is_named = true;
            }
        }
        let Some(body) = &self.body else {
            if !is_named {
                let pair = url::form_urlencoded::Serializer::new(String::new())
                    .append_pair(MERCHANT, merchant)
                    .finish();
                let and = if self.query.is_empty() { "" } else { "&" };
                self.query = format!("{}{and}{pair}", self.query);
            }
            return Ok(self);
        };
        let rest = body.strip_prefix('{').ok_or(PassageError::NotAnObject)?;
        let quoted = serde_json::Value::from(merchant).to_string();
        let mut is_named = false;
        for member in json_text::members(body) {
            if names_a_merchant(&member.name) {
                if json_text::string(member.value).as_deref() != Some(merchant) {
                    return Err(other());
                }
                let is_the_one = member.depth == 1 && member.name == MERCHANT;
                if is_the_one && is_named {
                    return Err(other());
                }
                is_named |= is_the_one;
            }
        }
        if !is_named {
            let comma = if rest == "}" { "" } else { "," };
            self.body = Some(format!("{{\"{MERCHANT}\":{quoted}{comma}{rest}"));
        }
        Ok(self)
    }

    pub(super) fn method(&self) -> Method {
        self.method
    }

    pub(super) fn path_and_query(&self) -> String {
        match self.query.as_str() {
            "" => self.path.clone(),
            query => format!("{}?{query}", self.path),
        }
    }

    pub(super) fn body(&self) -> Option<&str> {
        self.body.as_deref()
    }
}

fn checked(body: &str) -> Result<String, PassageError> {
    if body.len() > MAX_PASSED_BYTES {
        return Err(PassageError::TooLarge);
    }
    serde_json::from_str::<serde::de::IgnoredAny>(body)
        .map_err(|error| PassageError::NotJson(error.to_string()))?;
    Ok(json_text::compact(body))
}

/// Whether a character of a query is sent as it is, so that what is signed is what arrives. Source: RFC 3986, section
/// 3.4, without the apostrophe, which the URL Standard encodes.
fn stays_as_it_is(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&()*+,;=:@/?%".contains(&byte)
}

/// `merchant_id`, `merchantId`, `Merchant-ID`: a service that reads its members leniently would take any of them.
fn names_a_merchant(name: &str) -> bool {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    let plain: String = letters.flat_map(char::to_lowercase).collect();
    plain == "merchantid"
}

#[cfg(test)]
mod tests;
