//! One call, read whole before anything is believed.

use axum::body::{Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Method};
use serde_json::Value;

use super::{Endpoint, Refusal};

/// No request of the specification comes near this.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// A request to the service.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) method: Method,
    /// Path with query exactly as sent, without the base address's `/api`.
    pub(super) target: String,
    /// The path alone.
    pub(super) path: String,
    pub(super) query: Option<String>,
    pub(super) headers: HeaderMap,
    /// The exact bytes; `None` when they were too many or the connection broke.
    pub(super) body: Option<Bytes>,
}

impl Call {
    pub(super) async fn read(request: Request) -> Self {
        let (parts, body) = request.into_parts();
        let whole = parts
            .uri
            .path_and_query()
            .map_or("", |target| target.as_str());
        let target = whole.strip_prefix("/api").unwrap_or(whole).to_owned();
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path.to_owned(), Some(query.to_owned())),
            None => (target.clone(), None),
        };
        Self {
            method: parts.method,
            target,
            path,
            query,
            headers: parts.headers,
            body: to_bytes(body, MAX_BODY_BYTES).await.ok(),
        }
    }

    pub(super) fn endpoint(&self) -> Option<Endpoint> {
        Endpoint::of(&self.method, &self.path)
    }

    /// The body, when it is JSON of some kind.
    pub(super) fn json(&self) -> Option<Value> {
        serde_json::from_slice(self.body.as_ref()?).ok()
    }

    /// The exact bytes of the body.
    pub(super) fn whole_body(&self) -> Result<&[u8], Refusal> {
        let body = self.body.as_deref();
        body.ok_or_else(|| Refusal::request("the body is too large, or was cut off"))
    }

    /// A header that may be sent once.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let value = values.next()?;
        if values.next().is_some() {
            return None;
        }
        value.to_str().ok()
    }
}
