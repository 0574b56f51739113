//! The real transport: HTTPS, bounded in time and size.

use core::time::Duration;

use async_trait::async_trait;
use reqwest::{Response, redirect, retry};

use super::transport::{RawAnswer, SignedRequest, Transport};
use super::{CallError, Settings, SettingsError, Unclear};
use crate::Method;

/// Largest answer that is read. All prices together are a few kilobytes.
pub(super) const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// Goes where it is told and nowhere else: no redirects, no proxies from the environment, and no second try of its own.
pub(super) struct Https(reqwest::Client);

impl Https {
    pub(super) fn new(settings: &Settings) -> Result<Self, SettingsError> {
        // The first provider installed in a process stays; ours or another's are as good.
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
    async fn carry(&self, request: SignedRequest) -> Result<RawAnswer, CallError> {
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
        Ok(RawAnswer {
            status: response.status().as_u16(),
            headers: std::mem::take(response.headers_mut()),
            body: read(&mut response).await,
        })
    }
}

/// The body as far as it may be read.
async fn read(response: &mut Response) -> Result<Vec<u8>, Unclear> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| cut(&error))? {
        if body.len() + chunk.len() > MAX_ANSWER_BYTES {
            return Err(Unclear::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// What a request without an answer means: without a connection nothing was sent.
fn failure(error: &reqwest::Error) -> CallError {
    if error.is_connect() {
        CallError::NotSent(innermost(error))
    } else {
        CallError::Unclear(cut(error))
    }
}

fn cut(error: &reqwest::Error) -> Unclear {
    if error.is_timeout() {
        Unclear::TimedOut
    } else {
        Unclear::Cut(innermost(error))
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
