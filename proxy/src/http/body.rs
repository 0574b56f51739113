//! Reading a request's body: bounded, JSON, and refused with the member that is wrong.

use std::fmt::Write as _;
use std::time::Duration;

use axum::body::{Bytes, HttpBody as _, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};
use serde_path_to_error::Segment;
use url::form_urlencoded;

use crate::http::error::ApiError;

pub(crate) const MAX_BODY_BYTES: usize = 64 * 1024;

/// The longest time that a whole body may take. The layers of `tower-http` limit the time between two frames, and their
/// responses have another shape.
const LONGEST_BODY: Duration = Duration::from_secs(10);

pub(crate) struct Body<T>(pub T);

pub(crate) struct Parameters<T>(pub T);

pub(crate) struct Form<T>(pub T);

/// A JSON body as it was written, for requests that are forwarded to the gateway.
///
/// It is not parsed by `Json<Value>`: that would write numbers anew, drop all but one of doubled members, and change the text
/// that is signed.
pub(crate) struct JsonText(pub String);

pub(crate) struct EmptyBody;

pub(crate) trait FromBody: Sized {
    /// Checks the headers before the body is read.
    fn check_headers(_: &HeaderMap) -> Result<(), ApiError> {
        Ok(())
    }

    fn from_body(bytes: &Bytes) -> Result<Self, ApiError>;
}

impl<T: DeserializeOwned + JsonSchema> FromBody for Body<T> {
    fn check_headers(headers: &HeaderMap) -> Result<(), ApiError> {
        require_json(headers)
    }

    fn from_body(bytes: &Bytes) -> Result<Self, ApiError> {
        // A list of the right values in the right order would be read as the members of an object.
        if bytes.trim_ascii_start().first() == Some(&b'[') {
            let message = "The body is not what this address takes: send an object, not a list.";
            return Err(ApiError::InvalidBody(message.to_owned()));
        }
        let json = |error: serde_json::Error| {
            ApiError::InvalidBody(format!("The body is not JSON: {error}."))
        };
        // A body that is not JSON is refused as a whole, not by the member in which it ends.
        serde_json::from_slice::<IgnoredAny>(bytes).map_err(json)?;
        from_deserializer(&mut serde_json::Deserializer::from_slice(bytes)).map(Self)
    }
}

impl FromBody for JsonText {
    fn check_headers(headers: &HeaderMap) -> Result<(), ApiError> {
        require_json(headers)
    }

    fn from_body(bytes: &Bytes) -> Result<Self, ApiError> {
        let not_text = |_| ApiError::InvalidBody("The body is not UTF-8.".to_owned());
        String::from_utf8(bytes.to_vec())
            .map(Self)
            .map_err(not_text)
    }
}

impl FromBody for EmptyBody {
    fn from_body(_: &Bytes) -> Result<Self, ApiError> {
        Ok(Self)
    }
}

impl<S: Send + Sync> FromRequest<S> for JsonText {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        Self::check_headers(&parts.headers)?;
        Self::from_body(&read(body, MAX_BODY_BYTES).await?)
    }
}

impl<T: DeserializeOwned + JsonSchema, S: Send + Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = parts.uri.query().unwrap_or_default();
        let members = form_urlencoded::parse(query.as_bytes());
        from_deserializer(serde_urlencoded::Deserializer::new(members)).map(Self)
    }
}

impl<T: DeserializeOwned + JsonSchema, S: Send + Sync> FromRequest<S> for Form<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        if !is_of_type(&parts.headers, "application/x-www-form-urlencoded") {
            return Err(ApiError::FormExpected);
        }
        let bytes = read(body, MAX_BODY_BYTES).await?;
        let members = form_urlencoded::parse(&bytes);
        from_deserializer(serde_urlencoded::Deserializer::new(members)).map(Self)
    }
}

fn require_json(headers: &HeaderMap) -> Result<(), ApiError> {
    if is_of_type(headers, "application/json") {
        return Ok(());
    }
    Err(ApiError::UnsupportedMediaType)
}

fn is_of_type(headers: &HeaderMap, media_type: &str) -> bool {
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = content_type
        .and_then(|value| value.split(';').next())
        .unwrap_or("");
    essence.trim().eq_ignore_ascii_case(media_type)
}

pub(crate) async fn read(body: axum::body::Body, max_bytes: usize) -> Result<Bytes, ApiError> {
    let refused = || ApiError::PayloadTooLarge;
    // What says by itself that it is too large is not waited for.
    if body.size_hint().lower() > max_bytes as u64 {
        return Err(refused());
    }
    let whole = tokio::time::timeout(LONGEST_BODY, to_bytes(body, max_bytes)).await;
    whole.map_err(|_| refused())?.map_err(|_| refused())
}

// A request that does not have the shape of its type: the member at fault, and what to write there, from the type's schema.

/// Beginnings of the messages of serde and of the standard library, which name types of Rust.
const FOREIGN: [&str; 6] = [
    "invalid ",
    "expected ",
    "unknown variant",
    "provided string was not",
    "cannot parse",
    "number too",
];

fn from_deserializer<'de, T, D>(deserializer: D) -> Result<T, ApiError>
where
    T: DeserializeOwned + JsonSchema,
    D: serde::Deserializer<'de>,
{
    serde_path_to_error::deserialize(deserializer).map_err(|error| {
        let reason = error.inner().to_string();
        // The place in the text is the member's.
        let reason = reason.split(" at line ").next().unwrap_or_default();
        refusal::<T>(error.path().iter(), reason)
    })
}

fn refusal<'a, T: JsonSchema>(path: impl Iterator<Item = &'a Segment>, reason: &str) -> ApiError {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let schema = Schema {
        root: schema.as_value(),
        shape: schema.as_value(),
    };
    let (mut field, mut shape) = (String::new(), Some(schema));
    for segment in path {
        match segment {
            Segment::Seq { index } => {
                let _ = write!(field, "[{index}]");
                shape = shape.and_then(Schema::item);
            }
            Segment::Map { key } => {
                push(&mut field, key);
                shape = shape.and_then(|shape| shape.member(key));
            }
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    let is_about_member = |what| reason.starts_with(&format!("{what} field `"));
    if ["missing", "unknown", "duplicate"]
        .into_iter()
        .any(is_about_member)
        && let Some(named) = reason.split('`').nth(1)
    {
        // The path ends with an unknown member, and before a missing one.
        let is_in_path = field.rsplit('.').next() == Some(named) && !is_about_member("missing");
        if !is_in_path {
            push(&mut field, named);
        }
        shape = shape.and_then(|shape| shape.member(named));
    }
    let is_foreign = FOREIGN.iter().any(|start| reason.starts_with(start));
    let message = match shape.map(Schema::expected) {
        Some(expected) if is_foreign => format!("Write {expected}."),
        Some(expected) if is_about_member("missing") => {
            format!("It is missing: write {expected}.")
        }
        _ => format!("It is refused: {reason}."),
    };
    if field.is_empty() {
        ApiError::InvalidBody(message)
    } else {
        ApiError::invalid(field, message)
    }
}

/// Extends the name of a member: `lines[2]` to `lines[2].title`.
fn push(field: &mut String, name: &str) {
    if !field.is_empty() {
        field.push('.');
    }
    field.push_str(name);
}

#[derive(Clone, Copy)]
struct Schema<'a> {
    root: &'a Value,
    shape: &'a Value,
}

impl<'a> Schema<'a> {
    fn of(self, shape: &'a Value) -> Self {
        Self { shape, ..self }.resolved()
    }

    /// The shape itself: behind a reference, and without the alternative `null`.
    fn resolved(self) -> Self {
        let inner = match (&self.shape["$ref"], &self.shape["anyOf"]) {
            (Value::String(reference), _) => self.root.pointer(&reference[1..]),
            (_, Value::Array(choices)) if choices.iter().any(is_null) => {
                choices.iter().find(|choice| !is_null(choice))
            }
            _ => None,
        };
        match inner {
            Some(inner) => self.of(inner),
            None => self,
        }
    }

    fn member(self, name: &str) -> Option<Self> {
        if let Some(member) = self.shape["properties"].get(name) {
            return Some(self.of(member));
        }
        let choices = self.shape["anyOf"].as_array()?;
        choices
            .iter()
            .find_map(|choice| self.of(choice).member(name))
    }

    fn item(self) -> Option<Self> {
        self.shape.get("items").map(|items| self.of(items))
    }

    fn words(self) -> Option<Vec<&'a Value>> {
        if let Some(words) = self.shape["enum"].as_array() {
            return Some(words.iter().collect());
        }
        let choices = self.shape["oneOf"].as_array();
        choices?.iter().map(|choice| choice.get("const")).collect()
    }

    fn kind(self) -> &'a str {
        let kind = &self.shape["type"];
        let kinds = kind.as_array().and_then(|kinds| kinds.first());
        kinds.unwrap_or(kind).as_str().unwrap_or("object")
    }

    fn expected(self) -> String {
        if let Some(words) = self.words() {
            let words: Vec<String> = words.into_iter().map(Value::to_string).collect();
            return words.join(" or ");
        }
        let kind = match self.kind() {
            "string" => "a string",
            "integer" => "a whole number",
            "boolean" => return "true or false".to_owned(),
            "array" => "a list",
            _ => "an object",
        };
        format!("{kind}, like {}", self.example())
    }

    fn example(self) -> Value {
        if let Some(example) = self.shape["examples"].get(0) {
            return example.clone();
        }
        if let Some(choice) = self.shape["anyOf"].get(0) {
            return self.of(choice).example();
        }
        match self.kind() {
            "string" => "\u{2026}".into(),
            "integer" => self.shape.get("minimum").cloned().unwrap_or(1.into()),
            "array" => self.item().map(Self::example).into_iter().collect(),
            _ => {
                let required = self.shape["required"].as_array();
                let names = required.into_iter().flatten().filter_map(Value::as_str);
                let members = names.filter_map(|name| {
                    let member = self.member(name)?;
                    Some((name.to_owned(), member.example()))
                });
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }
}

fn is_null(shape: &Value) -> bool {
    shape["type"] == "null"
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "read alone")]
    struct Cart {
        #[schemars(extend("examples" = ["order-1017"]))]
        reference: String,
        price: Option<florin_money::Amount>,
        #[serde(default)]
        items: Vec<Item>,
        way: Option<Way>,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "read alone")]
    struct Item {
        #[schemars(range(min = 2))]
        count: u32,
        #[schemars(extend("examples" = ["A mug"]))]
        title: String,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Way {
        Hand,
        Post,
    }

    /// A member and its value, and of the refusal the member and the message.
    const REFUSALS: &str = r#"
price | 42.00 | price | Write a string, like "19.90".
price | 42 | price | Write a string, like "19.90".
price | [] | price | Write a string, like "19.90".
price | "42,00" | price | It is refused: "42,00" is not an amount: write digits, and a point before the decimals, like 19.90.
reference | null | reference | Write a string, like "order-1017".
items | 7 | items | Write a list, like [{"count":2,"title":"A mug"}].
items | [{ "title": "x", "count": "2" }] | items[0].count | Write a whole number, like 2.
items | [{ "title": "x" }] | items[0].count | It is missing: write a whole number, like 2.
items | [{ "title": "x", "count": 2, "size": 1 }] | items[0].size | It is refused: unknown field `size`, expected `count` or `title`.
way | "plane" | way | Write "hand" or "post".
way | true | way | Write "hand" or "post".
"#;

    #[test]
    fn a_wrong_member_is_named_with_what_to_write_there() {
        for row in REFUSALS.trim().lines() {
            let [name, value, field, message] = row.split(" | ").collect::<Vec<_>>()[..] else {
                panic!("{row}");
            };
            let mut cart = json!({ "reference": "a" });
            cart[name] = serde_json::from_str(value).unwrap();
            match from_deserializer::<Cart, _>(cart) {
                Err(ApiError::Invalid {
                    field: found,
                    message: refusal,
                }) => assert_eq!((&*found, &*refusal), (field, message)),
                other => panic!("{row}: {other:?}"),
            }
        }
        let refused = from_deserializer::<Cart, _>(json!(7)).unwrap_err();
        let expected = "Write an object, like {\"reference\":\"order-1017\"}.";
        assert!(matches!(refused, ApiError::InvalidBody(found) if found == expected));
    }
}
