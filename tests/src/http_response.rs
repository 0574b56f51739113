//! HTTP on this machine: a client, responses with assertions, and their check against the proxy's OpenAPI document.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jsonschema::Validator;
use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Map, Value, json};

#[derive(Clone, Debug)]
pub struct HttpResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
    /// Its body as JSON; null when it is none.
    pub body: Value,
}

impl HttpResponse {
    pub async fn read(response: Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.expect("a response has an end");
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Self {
            status,
            headers,
            text,
            body,
        }
    }

    pub(crate) async fn of(request: RequestBuilder) -> Self {
        Self::read(request.send().await.expect("the server answers")).await
    }

    /// Checks it against the proxy's description of its HTTP.
    #[track_caller]
    pub(crate) fn described(self, method: &Method, path: &str) -> Self {
        CONTRACT.check(method, path, &self);
        self
    }

    #[track_caller]
    pub fn with(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// The response, which is a refusal with this status and code, a sentence for people and a request id.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        let error = &self.body["error"];
        assert_eq!(error["code"], code, "{}", self.text);
        let message = error["message"].as_str().expect("a refusal has a message");
        assert!(message.len() > 10, "no sentence: {message}");
        let id = error["request_id"].as_str().expect("a refusal has an id");
        assert_eq!(self.header("x-request-id"), Some(id));
        self
    }

    #[track_caller]
    pub fn naming(self, field: &str) -> Self {
        assert_eq!(self.body["error"]["field"], field, "{}", self.text);
        self
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    #[track_caller]
    pub fn text_at(&self, pointer: &str) -> String {
        text_at(&self.body, pointer)
    }

    /// The body without what differs from one request to the next.
    pub fn without_request_id(&self) -> Value {
        let mut body = self.body.clone();
        if let Some(error) = body["error"].as_object_mut() {
            error.remove("request_id").expect("every refusal has one");
        }
        body
    }
}

#[track_caller]
pub(crate) fn text_at(value: &Value, pointer: &str) -> String {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found
        .unwrap_or_else(|| panic!("no text at {pointer} in {value}"))
        .to_owned()
}

/// A client without a proxy and without the machine's root certificates, which each client would read and parse anew:
/// it speaks plain HTTP alone. Installs the crypto provider.
pub(crate) fn client() -> reqwest::ClientBuilder {
    // Fails when it is installed already, which is the aim.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().tls_certs_only([])
}

pub fn plain_client() -> reqwest::Client {
    client().build().expect("the crypto provider is installed")
}

/// What this proxy says: the same for every world but for its address.
pub static CONTRACT: LazyLock<Contract> =
    LazyLock::new(|| Contract::of(florin_proxy::openapi("http://127.0.0.1")));

#[derive(Debug)]
pub struct Contract {
    document: Value,
    operations: Vec<Operation>,
    events: BTreeMap<String, Validator>,
}

#[derive(Debug)]
struct Operation {
    method: Method,
    /// `{…}` stands for any one segment.
    path: String,
    responses: BTreeMap<String, Responses>,
}

#[derive(Debug)]
struct Responses {
    headers: Vec<String>,
    content: Vec<(String, Validator)>,
}

impl Contract {
    fn of(document: Value) -> Self {
        let mut operations = Vec::new();
        let paths = document["paths"].as_object().expect("it has paths");
        for (path, item) in paths {
            for (method, operation) in item.as_object().expect("a path has operations") {
                let method = method.to_uppercase().parse().expect("a method");
                operations.push(Operation {
                    method,
                    path: path.clone(),
                    responses: responses(&document, operation),
                });
            }
        }
        let events = members(&document, "webhooks").map(|(kind, item)| {
            let body = &item["post"]["requestBody"]["content"]["application/json"];
            (kind.clone(), validator(&document, &body["schema"]))
        });
        Self {
            events: events.collect(),
            operations,
            document,
        }
    }

    pub fn document(&self) -> &Value {
        &self.document
    }

    pub fn operations(&self) -> impl Iterator<Item = (&Method, &str)> {
        self.operations
            .iter()
            .map(|operation| (&operation.method, operation.path.as_str()))
    }

    pub(crate) fn check_event(&self, event: &Value) -> Result<(), String> {
        let kind = event["type"].as_str().unwrap_or_default();
        let shape = self
            .events
            .get(kind)
            .ok_or_else(|| format!("{kind:?} is not described"))?;
        let fits = shape.validate(event);
        fits.map_err(|error| format!("{kind}: {error} at {}: {event}", error.instance_path()))
    }

    /// A shape of the document, closed: what is not described fits nothing.
    pub fn validator(&self, schema: &Value) -> Validator {
        validator(&self.document, schema)
    }

    #[track_caller]
    pub fn check(&self, method: &Method, path: &str, response: &HttpResponse) {
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let is_it = |known: &&Operation| fits(&known.path, path) && known.method == *method;
        let Some(operation) = self.operations.iter().find(is_it) else {
            let status = response.status;
            assert!(
                matches!(status, 204 | 404 | 405),
                "{method} {path} is not described and answers {status}"
            );
            return;
        };
        let what = format!(
            "{method} {}: {} {}",
            operation.path, response.status, response.text
        );
        let described = operation.responses.get(&response.status.to_string());
        let described = described.unwrap_or_else(|| panic!("the status is not described: {what}"));
        for name in &described.headers {
            assert!(response.header(name).is_some(), "no header {name}: {what}");
        }
        if described.content.is_empty() {
            assert_eq!(response.text, "", "{what}");
            return;
        }
        let sent = response.header("content-type").unwrap_or_default();
        let sent = sent.split(';').next().unwrap_or_default();
        let content = described
            .content
            .iter()
            .find(|(kind, _)| kind == sent || kind == "*/*");
        let Some((_, shape)) = content else {
            panic!("the content type {sent} is not described: {what}");
        };
        if sent == "application/json" {
            let complaints = shape.iter_errors(&response.body);
            let complaints =
                complaints.map(|error| format!("{error} at {}", error.instance_path()));
            let complaints: Vec<_> = complaints.collect();
            assert!(complaints.is_empty(), "{complaints:#?}: {what}");
        }
    }
}

fn responses(document: &Value, operation: &Value) -> BTreeMap<String, Responses> {
    let responses = operation["responses"]
        .as_object()
        .expect("an operation has answers");
    let all = responses.iter().map(|(status, response)| {
        let is_required = |(_, header): &(&String, &Value)| {
            let pointer = header["$ref"]
                .as_str()
                .and_then(|text| text.strip_prefix('#'));
            let header = pointer.and_then(|pointer| document.pointer(pointer));
            header.is_none_or(|header| header["required"] != false)
        };
        let headers = members(response, "headers").filter(is_required);
        let headers = headers.map(|(name, _)| name.clone());
        let content = members(response, "content")
            .map(|(kind, content)| (kind.clone(), validator(document, &content["schema"])));
        let responses = Responses {
            headers: headers.collect(),
            content: content.collect(),
        };
        (status.clone(), responses)
    });
    all.collect()
}

fn members<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    value
        .get(name)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

fn validator(document: &Value, schema: &Value) -> Validator {
    let mut schemas = document["components"]["schemas"].clone();
    close(&mut schemas);
    let mut schema = schema.clone();
    close(&mut schema);
    let mut whole = Map::new();
    whole.insert("components".to_owned(), json!({ "schemas": schemas }));
    whole.insert("allOf".to_owned(), json!([schema]));
    let whole = Value::Object(whole);
    let options = jsonschema::options().should_validate_formats(true);
    options
        .build(&whole)
        .unwrap_or_else(|error| panic!("not a schema: {error}: {schema}"))
}

/// Lets no object have a member that is not described. A description that adds to another one is left open: the other
/// one is closed already.
fn close(shape: &mut Value) {
    if let Some(members) = shape.as_object_mut() {
        if members.get("type").is_some_and(|word| word == "object")
            && members.contains_key("properties")
        {
            members
                .entry("additionalProperties")
                .or_insert(Value::Bool(false));
        }
        members.values_mut().for_each(close);
    } else if let Some(items) = shape.as_array_mut() {
        items.iter_mut().for_each(close);
    }
}

fn fits(pattern: &str, path: &str) -> bool {
    let mut parts = path.split('/');
    let same = pattern.split('/').all(|wanted| {
        parts
            .next()
            .is_some_and(|part| wanted == part || (wanted.starts_with('{') && !part.is_empty()))
    });
    same && parts.next().is_none()
}
