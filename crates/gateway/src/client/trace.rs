//! The trace that a call belongs to: a header that the caller sets for a task, and no parameter of every call.

use reqwest::header::{HeaderName, HeaderValue};

/// Source: W3C Trace Context, section 3.2. `Assumed:` the gateway ignores headers that it does not know; the signature covers
/// none. A refusal of calls with this header would disprove it.
pub(super) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

tokio::task_local! {
    static CURRENT: HeaderValue;
}

/// Carries out `call`; its requests to the gateway have the header `traceparent`. Concurrent lookups of one invoice share a
/// request, which has the header of one of them.
pub async fn with_traceparent<T>(value: Option<HeaderValue>, call: impl Future<Output = T>) -> T {
    match value {
        Some(value) => CURRENT.scope(value, call).await,
        None => call.await,
    }
}

/// The header of the calls of this task.
pub(super) fn traceparent() -> Option<HeaderValue> {
    CURRENT.try_with(HeaderValue::clone).ok()
}
