//! What carries a signed request to the service and its answer back: a parameter, so that years of answers, good and
//! bad, can be played to a client without a network.

use std::fmt;

use async_trait::async_trait;
use reqwest::header::HeaderMap;
use url::Url;

use super::{CallError, Unclear};
use crate::Method;

/// A request, ready to be sent as it is.
#[derive(Clone)]
pub struct SignedRequest {
    /// Its method.
    pub method: Method,
    /// The base address, the endpoint's path and its query, as they were signed.
    pub url: Url,
    /// API key, signature, nonce and content type. The first two are marked as sensitive.
    pub headers: HeaderMap,
    /// The bytes that were signed; none for GET.
    pub body: Option<Vec<u8>>,
}

/// What came back, unread.
#[derive(Clone, Debug)]
pub struct RawAnswer {
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its bytes, or why there are none although the headers came.
    pub body: Result<Vec<u8>, Unclear>,
}

/// Carries requests to the service.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Sends a request exactly once: it follows no redirect and repeats nothing. It gives up in bounded time and reads a
    /// bounded answer.
    ///
    /// # Errors
    /// [`CallError::NotSent`] when the service has surely not seen the request; [`CallError::Unclear`] when it may have,
    /// and no answer came.
    async fn carry(&self, request: SignedRequest) -> Result<RawAnswer, CallError>;
}

impl fmt::Debug for SignedRequest {
    /// Without query, headers and body: they hold an invoice and what opens the account.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedRequest")
            .field("method", &self.method)
            .field("path", &self.url.path())
            .finish_non_exhaustive()
    }
}
