//! The transport of signed requests: a parameter, so that tests run a client without a network.

use core::time::Duration;
use std::fmt;

use async_trait::async_trait;
use reqwest::header::HeaderMap;
use reqwest::{Response, redirect, retry};
use url::Url;

use super::{AmbiguousOutcome, CallError, Settings, SettingsError};
use crate::Method;

/// A request, ready to be sent as it is.
#[derive(Clone)]
pub struct SignedRequest {
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
pub struct RawResponse {
    pub status: u16,
    pub headers: HeaderMap,
    /// Its bytes, or why there are none although the headers came.
    pub body: Result<Vec<u8>, AmbiguousOutcome>,
}

#[async_trait]
pub trait Transport: Send + Sync {
    /// Sends a request exactly once: it follows no redirect and repeats nothing. It gives up in bounded time and reads a
    /// bounded answer.
    ///
    /// # Errors
    /// [`CallError::NotSent`] if the gateway has definitely not received the request;
    /// [`CallError::Ambiguous`] if it may have, and no response came.
    async fn send(&self, request: SignedRequest) -> Result<RawResponse, CallError>;
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

/// Largest answer that is read. All prices together are a few kilobytes.
pub(super) const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// The real transport: HTTPS, bounded in time and size. No redirects, no proxies from the
/// environment, no automatic retries.
pub(super) struct Https(reqwest::Client);

impl Https {
    pub(super) fn new(settings: &Settings) -> Result<Self, SettingsError> {
        // The first provider installed in a process stays; any of them works.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .connect_timeout(settings.deadlines.connect)
            .timeout(settings.deadlines.total)
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .no_proxy()
            .pool_idle_timeout(Duration::from_secs(30));
        if settings.base_url.scheme() == "http" {
            // A sandbox on this machine: without this a machine that has no certificates could not run it.
            builder = builder.tls_certs_only([]);
        }
        builder.build().map(Self).map_err(SettingsError::Tls)
    }
}

#[async_trait]
impl Transport for Https {
    async fn send(&self, request: SignedRequest) -> Result<RawResponse, CallError> {
        let method = match request.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Put => reqwest::Method::PUT,
        };
        let mut builder = self.0.request(method, request.url).headers(request.headers);
        if let Some(body) = request.body {
            builder = builder.body(body);
        }
        let mut response = builder.send().await.map_err(|error| failure(&error))?;
        Ok(RawResponse {
            status: response.status().as_u16(),
            headers: std::mem::take(response.headers_mut()),
            body: read(&mut response).await,
        })
    }
}

async fn read(response: &mut Response) -> Result<Vec<u8>, AmbiguousOutcome> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| cut(&error))? {
        if body.len() + chunk.len() > MAX_ANSWER_BYTES {
            return Err(AmbiguousOutcome::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// What a request without a response means: without a connection nothing was sent.
fn failure(error: &reqwest::Error) -> CallError {
    if error.is_connect() {
        CallError::NotSent(innermost(error))
    } else {
        CallError::Ambiguous(cut(error))
    }
}

fn cut(error: &reqwest::Error) -> AmbiguousOutcome {
    if error.is_timeout() {
        AmbiguousOutcome::TimedOut
    } else {
        AmbiguousOutcome::Truncated(innermost(error))
    }
}

/// The cause at the bottom: the layers above it repeat the address, and its query.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
