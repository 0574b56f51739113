//! Reads a JSON body by the types of the specification: a number is no string, and nothing is converted.

use florin_money::AmountText;
use serde_json::{Map, Value};

use super::{Call, Refusal};

/// Browsers take no longer ones.
const MAX_URL_BYTES: usize = 2_000;

/// The members of a body. Members that the specification does not list are ignored (`Assumed:`).
#[derive(Debug)]
pub(super) struct Members(Map<String, Value>);

impl Members {
    pub(super) fn of(call: &Call) -> Result<Self, Refusal> {
        let body = call.body.as_deref().unwrap_or_default();
        match serde_json::from_slice(body) {
            Ok(Value::Object(members)) => Ok(Self(members)),
            Ok(other) => Err(Refusal::request(format!(
                "the body must be a JSON object, and is {}",
                kind(&other)
            ))),
            Err(error) => Err(Refusal::request(format!("the body is not JSON: {error}"))),
        }
    }

    /// Every member as it is.
    pub(super) fn into_object(self) -> Map<String, Value> {
        self.0
    }

    /// An address of a web page.
    pub(super) fn url(&self, name: &str) -> Result<String, Refusal> {
        let text = self.text(name)?;
        let url = reqwest::Url::parse(text).ok();
        let is_web = |url: &reqwest::Url| matches!(url.scheme(), "http" | "https");
        match url.filter(|url| is_web(url) && text.len() <= MAX_URL_BYTES) {
            Some(_) => Ok(text.to_owned()),
            None => Err(Refusal::request(format!(
                "{name} must be an http or https URL of at most {MAX_URL_BYTES} bytes"
            ))),
        }
    }

    pub(super) fn text(&self, name: &str) -> Result<&str, Refusal> {
        self.maybe_text(name)?.ok_or_else(|| missing(name))
    }

    pub(super) fn maybe_text(&self, name: &str) -> Result<Option<&str>, Refusal> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_type(name, "a string", other)),
        }
    }

    pub(super) fn amount(&self, name: &str) -> Result<AmountText, Refusal> {
        let text = self.text(name)?;
        AmountText::parse(text).map_err(|error| Refusal::request(format!("{name}: {error}")))
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, Refusal> {
        match self.0.get(name) {
            None => Err(missing(name)),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(wrong_type(name, "a boolean", other)),
        }
    }
}

fn missing(name: &str) -> Refusal {
    Refusal::request(format!("{name} is missing"))
}

fn wrong_type(name: &str, expected: &str, found: &Value) -> Refusal {
    Refusal::request(format!("{name} must be {expected}, and is {}", kind(found)))
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
