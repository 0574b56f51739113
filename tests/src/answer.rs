//! HTTP responses with assertions.

use reqwest::header::HeaderMap;
use reqwest::{Method, Response};
use serde_json::Value;

use crate::contract::CONTRACT;

/// An answer, read whole.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body as it came.
    pub text: String,
    /// Its body as JSON; null when it is none.
    pub body: Value,
}

impl Answer {
    /// Reads an answer.
    pub async fn read(response: Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.expect("an answer has an end");
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Self {
            status,
            headers,
            text,
            body,
        }
    }

    /// The answer, which is as the proxy's description of its HTTP has it.
    #[track_caller]
    pub(crate) fn described(self, method: &Method, path: &str) -> Self {
        CONTRACT.check(method, path, &self);
        self
    }

    /// The answer, which has this status.
    #[track_caller]
    pub fn with(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// The answer, which is a refusal with this status and code, a sentence for people and a request id.
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

    /// The answer, whose refusal names this member of the request.
    #[track_caller]
    pub fn naming(self, field: &str) -> Self {
        assert_eq!(self.body["error"]["field"], field, "{}", self.text);
        self
    }

    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// A member of the body that is a text.
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

/// A member that is a text.
#[track_caller]
pub(crate) fn text_at(value: &Value, pointer: &str) -> String {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found
        .unwrap_or_else(|| panic!("no text at {pointer} in {value}"))
        .to_owned()
}
