//! The trace that a task works for: that of the order, or of the request.
//!
//! POST /v1/orders takes it from the header `traceparent` (W3C Trace Context), the order keeps it, and calls of the gateway
//! about the order and its webhooks carry it.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use florin_orders::TraceParent;

pub(crate) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

tokio::task_local! {
    static CURRENT: TraceParent;
}

pub(crate) fn current() -> Option<TraceParent> {
    CURRENT.try_with(|trace| *trace).ok()
}

pub(crate) fn header(trace: TraceParent) -> HeaderValue {
    let value = HeaderValue::from_str(&trace.to_string());
    value.expect("digits and hyphens are allowed in headers")
}

/// Works for a trace; without one, for that of the caller.
pub(crate) async fn within<T>(trace: Option<TraceParent>, work: impl Future<Output = T>) -> T {
    match trace {
        Some(trace) => CURRENT.scope(trace, work).await,
        None => work.await,
    }
}

/// Carries the caller's trace into work that is spawned.
pub(crate) fn inherited<F: Future>(work: F) -> impl Future<Output = F::Output> {
    within(current(), work)
}

/// The trace that a request names. A header that is malformed or came twice is ignored.
///
/// Source: W3C Trace Context, section 4.3.
pub(crate) fn of_headers(headers: &HeaderMap) -> Option<TraceParent> {
    let mut values = headers.get_all(TRACEPARENT).iter();
    let (value, None) = (values.next()?, values.next()) else {
        return None;
    };
    TraceParent::parse(value.to_str().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn one_valid_header_is_read_and_two_are_ignored() {
        let mut headers = HeaderMap::new();
        assert_eq!(of_headers(&headers), None);
        headers.append(TRACEPARENT, HeaderValue::from_static(VALID));
        assert_eq!(of_headers(&headers).unwrap().to_string(), VALID);
        headers.append(TRACEPARENT, HeaderValue::from_static(VALID));
        assert_eq!(of_headers(&headers), None);
        headers.insert(TRACEPARENT, HeaderValue::from_bytes(b"00-\xff").unwrap());
        assert_eq!(of_headers(&headers), None);
    }

    #[tokio::test]
    async fn spawned_work_has_the_trace_of_its_caller() {
        let trace = TraceParent::parse(VALID).unwrap();
        let spawned = within(Some(trace), async {
            tokio::spawn(inherited(async { current() })).await.unwrap()
        });
        assert_eq!(spawned.await, Some(trace));
        assert_eq!(inherited(async { current() }).await, None);
    }
}
