//! A call whose JSON is forwarded unchanged in both directions: for endpoints that the
//! specification only names, and for callers that need the whole response.
//!
//! Source: payment-service.md, "Endpoints listed by name only": their shapes are not shown, so nothing is read into
//! them. Two things are done all the same. Whitespace between JSON's tokens goes, since what is signed is "the request
//! body as compact JSON text". And `merchant_id` must be the store's own.

use serde::Serialize;

use crate::{InvoiceId, Method};

pub const MAX_RAW_BODY_BYTES: usize = 64 * 1024;
const MAX_QUERY_BYTES: usize = 1024;
/// The name by which the specification knows a merchant of a platform.
const MERCHANT: &str = "merchant_id";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    Currencies,
    Prices,
    AddPreferences,
    UpdatePreferences,
    OnboardMerchant,
    MerchantAccount,
    UpdateSettings,
}

impl core::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (method, path) = self.method_and_path();
        write!(f, "{} {path}", method.as_str())
    }
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

    /// Returns `true` if the endpoint is about one merchant of a platform.
    ///
    /// The specification states it for POST /preferences. `Assumed:` for the other three as well:
    /// without it they would change the platform's own account. A refusal of the member or
    /// parameter would disprove it.
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

/// A request before it is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawRequest {
    pub(super) method: Method,
    pub(super) path: &'static str,
    /// Without its question mark; empty when there is none.
    query: String,
    /// Compact JSON.
    pub(super) body: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RawRequestError {
    #[error("the body is not JSON: {0}")]
    NotJson(String),
    #[error("the body has more than {MAX_RAW_BODY_BYTES} bytes")]
    TooLarge,
    /// The endpoint takes a body and there is none, or the other way round.
    #[error("{0}")]
    Body(&'static str),
    #[error("the query is longer than {MAX_QUERY_BYTES} bytes or not percent-encoded")]
    Query,
    /// The call names another merchant, or one in a way that is not understood.
    #[error("the call names another merchant than {0}")]
    OtherMerchant(String),
    #[error("the body must be a JSON object, so that the merchant can be named in it")]
    NotAnObject,
}

impl RawRequest {
    /// Passes a query and a body on to an endpoint.
    ///
    /// # Errors
    /// [`RawRequestError`], all but those about merchants.
    pub fn new(
        endpoint: Endpoint,
        query: &str,
        body: Option<&str>,
    ) -> Result<Self, RawRequestError> {
        let (method, path) = endpoint.method_and_path();
        if query.len() > MAX_QUERY_BYTES || !query.bytes().all(stays_as_it_is) {
            return Err(RawRequestError::Query);
        }
        let body = match (body, method != Method::Get) {
            (None, false) => None,
            (Some(body), true) => Some(checked(body)?),
            (None, true) => return Err(RawRequestError::Body("the endpoint takes a JSON body")),
            (Some(_), false) => return Err(RawRequestError::Body("the endpoint takes no body")),
        };
        Ok(Self {
            method,
            path,
            query: query.to_owned(),
            body,
        })
    }

    /// GET /invoice, whole; with its transaction history when `hist`.
    pub fn invoice(id: &InvoiceId, hist: bool) -> Self {
        // Encoded, so that what is signed is what is sent.
        let id: String = url::form_urlencoded::byte_serialize(id.as_str().as_bytes()).collect();
        let hist = if hist { "&hist=true" } else { "" };
        Self {
            query: format!("id={id}{hist}"),
            ..Self::get("/invoice")
        }
    }

    /// Names a merchant of the platform, in the body or else in the query.
    ///
    /// # Errors
    /// [`RawRequestError::OtherMerchant`] when the call names another one, at any depth and however the name is written;
    /// [`RawRequestError::NotAnObject`].
    pub fn for_merchant(mut self, merchant: &str) -> Result<Self, RawRequestError> {
        let other = || RawRequestError::OtherMerchant(merchant.to_owned());
        let mut is_named = false;
        for (name, value) in url::form_urlencoded::parse(self.query.as_bytes()) {
            if is_merchant_key(&name) {
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
        let rest = body.strip_prefix('{').ok_or(RawRequestError::NotAnObject)?;
        let quoted = serde_json::Value::from(merchant).to_string();
        let mut is_named = false;
        for member in members(body) {
            if is_merchant_key(&member.name) {
                if string(member.value).as_deref() != Some(merchant) {
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

    pub(super) fn path_and_query(&self) -> String {
        match self.query.as_str() {
            "" => self.path.to_owned(),
            query => format!("{}?{query}", self.path),
        }
    }

    pub(super) fn get(path: &'static str) -> Self {
        Self {
            method: Method::Get,
            path,
            query: String::new(),
            body: None,
        }
    }

    pub(super) fn post(path: &'static str, body: &impl Serialize) -> Self {
        let body = serde_json::to_string(body).expect("requests are maps with text keys");
        Self {
            method: Method::Post,
            body: Some(body),
            ..Self::get(path)
        }
    }
}

fn checked(body: &str) -> Result<String, RawRequestError> {
    if body.len() > MAX_RAW_BODY_BYTES {
        return Err(RawRequestError::TooLarge);
    }
    serde_json::from_str::<serde::de::IgnoredAny>(body)
        .map_err(|error| RawRequestError::NotJson(error.to_string()))?;
    let compact = tokens(body).map(|(token, _)| token);
    Ok(compact.filter(|token| !token.trim().is_empty()).collect())
}

/// Returns `true` if a character of a query is sent unencoded, so that the signature matches what
/// arrives. Source: RFC 3986, section
/// 3.4, without the apostrophe, which the URL Standard encodes.
fn stays_as_it_is(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&()*+,;=:@/?%".contains(&byte)
}

/// `merchant_id`, `merchantId`, `Merchant-ID`: a gateway that reads its members leniently would take any of them.
fn is_merchant_key(name: &str) -> bool {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    let plain: String = letters.flat_map(char::to_lowercase).collect();
    plain == "merchantid"
}

// JSON as text: numbers keep their digits, members their order, doubled members both places. All of it takes text that
// is known to be valid JSON.

struct Member<'a> {
    /// How many objects and lists it is inside of, its own included.
    depth: usize,
    name: String,
    /// The text from its value on.
    value: &'a str,
}

/// String literals and the single characters between them, each with the text behind it.
fn tokens(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    core::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = match first {
            '"' => string_length(rest),
            _ => first.len_utf8(),
        };
        let (token, behind) = rest.split_at(length);
        rest = behind;
        Some((token, behind))
    })
}

fn members(text: &str) -> Vec<Member<'_>> {
    let (mut found, mut depth) = (Vec::new(), 0);
    for (token, behind) in tokens(text) {
        match token {
            "{" | "[" => depth += 1,
            "}" | "]" => depth -= 1,
            _ => {
                if let (Some(value), Some(name)) = (behind.strip_prefix(':'), string(token)) {
                    found.push(Member { depth, name, value });
                }
            }
        }
    }
    found
}

fn string(text: &str) -> Option<String> {
    if !text.starts_with('"') {
        return None;
    }
    serde_json::from_str(&text[..string_length(text)]).ok()
}

/// The length of the string literal that a text begins with, quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> String {
        let request = RawRequest::new(Endpoint::AddPreferences, "", Some(text)).unwrap();
        request.body.unwrap()
    }

    fn named(text: &str) -> Result<String, RawRequestError> {
        let request = RawRequest::new(Endpoint::AddPreferences, "", Some(text)).unwrap();
        request
            .for_merchant("m\"1")
            .map(|request| request.body.unwrap())
    }

    fn asked(query: &str) -> Result<String, RawRequestError> {
        let request = RawRequest::new(Endpoint::MerchantAccount, query, None)?;
        Ok(request.for_merchant("m 1")?.path_and_query())
    }

    #[test]
    fn nothing_but_whitespace_between_tokens_changes() {
        let compact = r#"{"b":1.10,"a":[1e5,-0,"x \" y\\"],"b":{"é\u00e9":null},"n":123456789012345678901234567890}"#;
        assert_eq!(body(compact), compact);
        let airy = "\n{ \"b\" :\t1.10,\r\n \"a\":[1e5 , -0,\"x \\\" y\\\\\"] , \"b\" : {\"é\\u00e9\":null}, \
                    \"n\":123456789012345678901234567890 } ";
        assert_eq!(body(airy), compact);
        assert_eq!(body(" \" \" "), "\" \"");
    }

    #[test]
    fn a_body_is_json_of_a_bounded_length_where_one_belongs() {
        let add = |body| RawRequest::new(Endpoint::AddPreferences, "", body);
        assert!(matches!(add(Some("{")), Err(RawRequestError::NotJson(_))));
        assert!(matches!(
            add(Some("{}{}")),
            Err(RawRequestError::NotJson(_))
        ));
        assert!(matches!(add(Some("")), Err(RawRequestError::NotJson(_))));
        let longest = format!("\"{}\"", "a".repeat(MAX_RAW_BODY_BYTES - 2));
        let too_long = format!("{longest} ");
        assert!(add(Some(&longest)).is_ok());
        assert_eq!(add(Some(&too_long)), Err(RawRequestError::TooLarge));
        assert!(matches!(add(None), Err(RawRequestError::Body(_))));
        let ask = RawRequest::new(Endpoint::Currencies, "", Some("{}"));
        assert!(matches!(ask, Err(RawRequestError::Body(_))));
    }

    #[test]
    fn a_query_is_passed_on_as_it_is_or_not_at_all() {
        let passed = |query| RawRequest::new(Endpoint::Currencies, query, None);
        let odd = "a=b%20c&d=(!$*+,;:@/?~)";
        assert_eq!(
            passed(odd).unwrap().path_and_query(),
            format!("/currencies?{odd}")
        );
        for query in ["a b", "a=\"", "a='", "a=é", "a=#b", "a=<", "a=\n", "a=[1]"] {
            assert_eq!(passed(query), Err(RawRequestError::Query), "{query}");
        }
        assert_eq!(passed(&"a".repeat(1025)), Err(RawRequestError::Query));
    }

    #[test]
    fn a_merchant_is_named_where_none_is() {
        assert_eq!(named("{}").unwrap(), r#"{"merchant_id":"m\"1"}"#);
        assert_eq!(
            named(r#"{ "wallet": {"a": 1} }"#).unwrap(),
            r#"{"merchant_id":"m\"1","wallet":{"a":1}}"#
        );
        let already = r#"{"a":"merchant_id","merchant_id":"m\u00221"}"#;
        assert_eq!(named(already).unwrap(), already);
        assert_eq!(named("[]"), Err(RawRequestError::NotAnObject));
        assert_eq!(asked("").unwrap(), "/merchant/account?merchant_id=m+1");
        assert_eq!(
            asked("a=1").unwrap(),
            "/merchant/account?a=1&merchant_id=m+1"
        );
        let already = "merchant_id=m%201";
        assert_eq!(
            asked(already).unwrap(),
            format!("/merchant/account?{already}")
        );
    }

    #[test]
    fn no_other_merchant_can_be_named_however_it_is_written() {
        let other = Err(RawRequestError::OtherMerchant("m\"1".into()));
        for text in [
            r#"{"merchant_id":"m2"}"#,
            r#"{"merchant_id":7}"#,
            r#"{"merchant_id":null}"#,
            r#"{"merchant_id":["m\"1"]}"#,
            r#"{"merchant_id":"m\"1","merchant_id":"m2"}"#,
            r#"{"merchant_id":"m2","merchant_id":"m\"1"}"#,
            r#"{"merchant_id":"m\"1","merchant_id":"m\"1"}"#,
            r#"{"wallet":[{"merchant_id":"m2"}]}"#,
            r#"{"merchantId":"m2"}"#,
            r#"{"Merchant-ID":"m2"}"#,
            r#"{"\u006derchant_id":"m2"}"#,
            r#"{"a":"\\","merchant_id":"m2"}"#,
        ] {
            assert_eq!(named(text), other, "{text}");
        }
        for query in [
            "merchant_id=m2",
            "merchant%5Fid=m2",
            "merchantId=m+1",
            "merchant_id=m+1&merchant_id=m+1",
        ] {
            assert_eq!(
                asked(query),
                Err(RawRequestError::OtherMerchant("m 1".into())),
                "{query}"
            );
        }
    }

    #[test]
    fn history_is_asked_for_in_the_query() {
        let id = InvoiceId::parse("a&b").unwrap();
        let path = |hist| RawRequest::invoice(&id, hist).path_and_query();
        assert_eq!(path(false), "/invoice?id=a%26b");
        assert_eq!(path(true), "/invoice?id=a%26b&hist=true");
    }
}
