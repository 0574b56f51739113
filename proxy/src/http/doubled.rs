//! Headers that mean one thing and came twice: two programs on the way would read two requests.

use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName};
use checkout_api::ErrorCode;

use super::error::ApiError;

/// Source for `Host`: RFC 9112, section 3.2.
static SINGLE: [HeaderName; 5] = [
    HOST,
    AUTHORIZATION,
    CONTENT_TYPE,
    ORIGIN,
    HeaderName::from_static("idempotency-key"),
];

/// The refusal of a request with such a header.
///
/// # Errors
/// It names the header.
pub(super) fn refuse_doubled(headers: &HeaderMap) -> Result<(), ApiError> {
    let came_twice = |name: &&HeaderName| headers.get_all(*name).iter().nth(1).is_some();
    let Some(name) = SINGLE.iter().find(came_twice) else {
        return Ok(());
    };
    let message = format!("The header {name} came more than once: send it once.");
    Err(ApiError::new(ErrorCode::InvalidRequest, &message))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_header_that_may_come_once_may_come_once() {
        for name in &SINGLE {
            let mut headers = HeaderMap::new();
            headers.append(name, HeaderValue::from_static("a"));
            assert_eq!(refuse_doubled(&headers), Ok(()));
            headers.append(name, HeaderValue::from_static("a"));
            let message = format!("The header {name} came more than once: send it once.");
            let refusal = ApiError::new(ErrorCode::InvalidRequest, &message);
            assert_eq!(refuse_doubled(&headers), Err(refusal));
        }
    }

    #[test]
    fn any_other_header_may_come_twice() {
        let mut headers = HeaderMap::new();
        headers.append("accept", HeaderValue::from_static("a"));
        headers.append("accept", HeaderValue::from_static("b"));
        assert_eq!(refuse_doubled(&headers), Ok(()));
    }
}
