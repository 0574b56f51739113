//! One operation: what may be sent to an address, and every response to it.

use std::collections::BTreeMap;

use florin_checkout_api::ErrorCode;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Auth {
    StoreKey,
    ClientToken,
    None,
}

#[derive(Clone)]
pub(crate) struct Operation {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    id: &'static str,
    tag: &'static str,
    summary: &'static str,
    description: &'static str,
    auth: Auth,
    parameters: Vec<Value>,
    body: Option<Value>,
    responses: BTreeMap<u16, Value>,
    errors: Vec<ErrorCode>,
}

impl Operation {
    /// An operation of a chapter; the router gives it its method and path.
    pub(crate) fn new(id: &'static str, tag: &'static str, auth: Auth) -> Self {
        let operation = Self {
            method: "",
            path: "",
            id,
            tag,
            summary: "",
            description: "",
            auth,
            parameters: Vec::new(),
            body: None,
            responses: BTreeMap::new(),
            errors: Vec::new(),
        };
        match auth {
            Auth::StoreKey => operation.errors(&[
                ErrorCode::Unauthorized,
                ErrorCode::Internal,
                ErrorCode::StorageUnavailable,
            ]),
            Auth::ClientToken => operation.errors(&[
                ErrorCode::NotFound,
                ErrorCode::OriginNotAllowed,
                ErrorCode::Internal,
                ErrorCode::StorageUnavailable,
            ]),
            Auth::None => operation,
        }
    }

    pub(crate) fn at(self, method: &'static str, path: &'static str) -> Self {
        Self {
            method,
            path,
            ..self
        }
    }

    pub(crate) fn summary(self, summary: &'static str, description: &'static str) -> Self {
        Self {
            summary,
            description,
            ..self
        }
    }

    pub(crate) fn path(self, name: &str, description: &str, schema: &Value) -> Self {
        // What cannot be a text at all, such as broken UTF-8.
        self.parameter("path", name, description, schema)
            .errors(&[ErrorCode::InvalidRequest])
    }

    pub(crate) fn header(self, name: &str, description: &str, schema: &Value) -> Self {
        self.parameter("header", name, description, schema)
    }

    fn parameter(mut self, place: &str, name: &str, description: &str, schema: &Value) -> Self {
        self.parameters.push(json!({
            "name": name,
            "in": place,
            "required": place == "path",
            "description": description,
            "schema": schema,
        }));
        self
    }

    /// The key with which it may be sent again; shorter ones than `least` are refused.
    pub(crate) fn idempotency_key(self, least: u8) -> Self {
        self.header(
            "Idempotency-Key",
            "Sent again with the same key, the same request is answered as it was, and not carried out again. Draw one \
             for every request: 128 random bits, say. A refusal is not kept.",
            &json!({ "type": "string", "minLength": least, "maxLength": 255, "pattern": "^[!-~]+$" }),
        )
        .errors(&[
            ErrorCode::InvalidRequest,
            ErrorCode::PayloadTooLarge,
            ErrorCode::RequestInProgress,
            ErrorCode::IdempotencyResultUnreadable,
            ErrorCode::IdempotencyKeyReused,
        ])
    }

    pub(crate) fn query<T: JsonSchema>(mut self, types: &mut Types) -> Self {
        self.parameters.extend(types.query::<T>());
        self.errors(&[ErrorCode::InvalidRequest])
    }

    pub(crate) fn takes<T: JsonSchema>(self, types: &mut Types, example: &Value) -> Self {
        let schema = types.read::<T>();
        self.takes_json(&schema, example)
    }

    pub(crate) fn takes_json(self, schema: &Value, example: &Value) -> Self {
        self.takes_as("application/json", schema, example)
    }

    pub(crate) fn takes_form<T: JsonSchema>(self, types: &mut Types, example: &Value) -> Self {
        let schema = types.read::<T>();
        self.takes_as("application/x-www-form-urlencoded", &schema, example)
    }

    fn takes_as(mut self, media_type: &str, schema: &Value, example: &Value) -> Self {
        self.body = Some(json!({
            "required": true,
            "content": { media_type: { "schema": schema, "example": example } },
        }));
        self.errors(&[
            ErrorCode::InvalidRequest,
            ErrorCode::PayloadTooLarge,
            ErrorCode::UnsupportedMediaType,
        ])
    }

    pub(crate) fn responds<T: JsonSchema>(
        self,
        status: u16,
        description: &str,
        types: &mut Types,
    ) -> Self {
        let schema = types.written::<T>();
        self.responds_as(status, description, "application/json", &schema)
    }

    pub(crate) fn responds_as(
        self,
        status: u16,
        description: &str,
        content_type: &str,
        schema: &Value,
    ) -> Self {
        let mut operation = self.responds_empty(status, description);
        let content = json!({ content_type: { "schema": schema } });
        operation.response(status)["content"] = content;
        operation
    }

    pub(crate) fn or_responds_as(
        mut self,
        status: u16,
        content_type: &str,
        schema: &Value,
    ) -> Self {
        self.response(status)["content"][content_type] = json!({ "schema": schema });
        self
    }

    pub(crate) fn responds_empty(mut self, status: u16, description: &str) -> Self {
        let response = json!({
            "description": description,
            "headers": { "X-Request-Id": { "$ref": "#/components/headers/RequestId" } },
        });
        self.responses.insert(status, response);
        self
    }

    pub(crate) fn with_header(mut self, status: u16, name: &str, listed: &str) -> Self {
        let header = json!({ "$ref": format!("#/components/headers/{listed}") });
        self.response(status)["headers"][name] = header;
        self
    }

    /// What one can do with a response: another operation, its parameter, and where in the body its value is.
    pub(crate) fn link(
        mut self,
        status: u16,
        operation: &str,
        parameter: &str,
        pointer: &str,
    ) -> Self {
        self.response(status)["links"][operation] = json!({
            "operationId": operation,
            "parameters": { parameter: format!("$response.body#{pointer}") },
        });
        self
    }

    /// What one can send with what a response holds: another operation and its body.
    pub(crate) fn link_body(mut self, status: u16, operation: &str, body: &Value) -> Self {
        self.response(status)["links"][operation] = json!({
            "operationId": operation,
            "requestBody": body,
        });
        self
    }

    pub(crate) fn errors(mut self, codes: &[ErrorCode]) -> Self {
        for code in codes {
            if !self.errors.contains(code) {
                self.errors.push(*code);
            }
        }
        self
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut responses: BTreeMap<String, Value> = BTreeMap::new();
        let takes_key = self.errors.contains(&ErrorCode::IdempotencyKeyReused);
        for (status, response) in &self.responses {
            let mut response = response.clone();
            if takes_key {
                response["headers"]["Idempotency-Replayed"] =
                    json!({ "$ref": "#/components/headers/IdempotencyReplayed" });
            }
            responses.insert(status.to_string(), response);
        }
        let mut by_status: BTreeMap<u16, Vec<ErrorCode>> = BTreeMap::new();
        for code in &self.errors {
            by_status.entry(code.status()).or_default().push(*code);
        }
        for (status, codes) in &by_status {
            responses.insert(status.to_string(), refusal(*status, codes));
        }
        let mut operation = json!({
            "operationId": self.id,
            "tags": [self.tag],
            "summary": self.summary,
            "description": self.description,
            "security": self.security(),
            "responses": responses,
        });
        if !self.parameters.is_empty() {
            operation["parameters"] = self.parameters.clone().into();
        }
        if let Some(body) = &self.body {
            operation["requestBody"] = body.clone();
        }
        operation
    }

    fn security(&self) -> Value {
        match self.auth {
            Auth::StoreKey => json!([{ "secret_key": [] }]),
            Auth::ClientToken => json!([{ "client_token": [] }]),
            Auth::None => json!([]),
        }
    }

    fn response(&mut self, status: u16) -> &mut Value {
        self.responses
            .get_mut(&status)
            .expect("a response is named before what belongs to it")
    }
}

fn refusal(status: u16, codes: &[ErrorCode]) -> Value {
    let words: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    let meanings = codes
        .iter()
        .map(|code| format!("`{}`: {}", code.as_str(), code.meaning()));
    let examples = codes.iter().map(|code| {
        let error = json!({
            "code": code.as_str(),
            "message": code.meaning(),
            "request_id": "req_0123456789abcdef",
        });
        let example = json!({ "summary": code.meaning(), "value": { "error": error } });
        (code.as_str().to_owned(), example)
    });
    let schema = json!({
        "$ref": "#/components/schemas/Refusal",
        "properties": { "error": { "properties": { "code": { "enum": words } } } },
    });
    let mut response = json!({
        "description": meanings.collect::<Vec<_>>().join("\n\n"),
        "headers": { "X-Request-Id": { "$ref": "#/components/headers/RequestId" } },
        "content": { "application/json": {
            "schema": schema,
            "examples": examples.collect::<serde_json::Map<_, _>>(),
        } },
    });
    let passes = [ErrorCode::RequestInProgress, ErrorCode::AttemptInProgress];
    if passes.iter().any(|code| codes.contains(code)) {
        response["headers"]["Retry-After"] =
            json!({ "$ref": "#/components/headers/RetryAfterSome" });
    }
    if matches!(status, 429 | 503) {
        response["headers"]["Retry-After"] = json!({ "$ref": "#/components/headers/RetryAfter" });
    }
    response
}

// The shapes of what is sent and answered, out of the types that read and write them.

const PLACE: &str = "/components/schemas";

/// Collects shapes. What is read and what is written differ in what may be absent.
pub(crate) struct Types {
    read: SchemaGenerator,
    written: SchemaGenerator,
    by_hand: Map<String, Value>,
}

impl Types {
    pub(crate) fn new() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = PLACE.into();
                settings.meta_schema = None;
            })
        };
        Self {
            read: settings().for_deserialize().into_generator(),
            written: settings().for_serialize().into_generator(),
            by_hand: Map::new(),
        }
    }

    pub(crate) fn read<T: JsonSchema>(&mut self) -> Value {
        self.read.subschema_for::<T>().to_value()
    }

    pub(crate) fn written<T: JsonSchema>(&mut self) -> Value {
        self.written.subschema_for::<T>().to_value()
    }

    pub(crate) fn keep(&mut self, name: &str, shape: Value) -> Value {
        self.by_hand.insert(name.to_owned(), shape);
        json!({ "$ref": format!("#{PLACE}/{name}") })
    }

    pub(crate) fn query<T: JsonSchema>(&mut self) -> Vec<Value> {
        let mut shape = T::json_schema(&mut self.read).to_value();
        replace_widths(&mut shape);
        let required = shape["required"].take();
        let Value::Object(members) = shape["properties"].take() else {
            return Vec::new();
        };
        let members = members.into_iter().map(|(name, mut schema)| {
            let description = schema["description"].take();
            remove(&mut schema, "description");
            let is_required = required
                .as_array()
                .is_some_and(|names| names.iter().any(|known| *known == name));
            json!({
                "name": name,
                "in": "query",
                "required": is_required,
                "description": description,
                "schema": without_null(schema),
            })
        });
        members.collect()
    }

    pub(crate) fn into_schemas(mut self) -> Map<String, Value> {
        let mut schemas = self.read.take_definitions(true);
        let mut written = self.written.take_definitions(true);
        for shape in written.values_mut() {
            never_null(shape);
        }
        schemas.append(&mut written);
        schemas.append(&mut self.by_hand);
        for shape in schemas.values_mut() {
            replace_widths(shape);
        }
        schemas
    }
}

fn replace_widths(shape: &mut Value) {
    match shape {
        Value::Object(members) => {
            let most = match members.get("format").and_then(Value::as_str) {
                Some("uint32") => Some(u64::from(u32::MAX)),
                Some("uint16") => Some(u64::from(u16::MAX)),
                _ => None,
            };
            if let Some(most) = most {
                members.remove("format");
                members.entry("maximum").or_insert(most.into());
            }
            members.values_mut().for_each(replace_widths);
        }
        Value::Array(items) => items.iter_mut().for_each(replace_widths),
        _ => {}
    }
}

/// A member that may be absent is left out when we write, and never null.
fn never_null(shape: &mut Value) {
    let required = shape["required"].clone();
    let is_required = |name: &str| {
        required
            .as_array()
            .is_some_and(|names| names.iter().any(|known| known == name))
    };
    if let Some(members) = shape.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, member) in members.iter_mut() {
            if !is_required(name) {
                *member = without_null(member.take());
            }
            never_null(member);
        }
    }
    if required.is_null() {
        remove(shape, "required");
    }
}

fn without_null(mut shape: Value) -> Value {
    if let Some(types) = shape.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|word| word != "null");
        if let [only] = &types[..] {
            shape["type"] = only.clone();
        }
    }
    if let Some(choices) = shape.get_mut("anyOf").and_then(Value::as_array_mut) {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = &choices[..] {
            let only = only.clone();
            remove(&mut shape, "anyOf");
            shape.as_object_mut().expect("it has members").extend(only);
        }
    }
    if let Some(words) = shape.get_mut("enum").and_then(Value::as_array_mut) {
        words.retain(|word| !word.is_null());
    }
    shape
}

fn remove(shape: &mut Value, name: &str) {
    if let Some(members) = shape.as_object_mut() {
        members.remove(name);
    }
}
