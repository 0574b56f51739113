//! One request and its answer: signed, bounded in time and size.

use core::time::Duration;
use std::fmt;
use std::sync::Arc;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Response, redirect, retry};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use url::Url;

use super::nonces::Nonces;
use super::settings::check_base_url;
use super::{Call, CallError, Clock, Settings, SettingsError, Unclear};
use crate::{Method, ServiceError, Signing};

/// Largest answer that is read. All prices together are a few kilobytes.
pub(super) const MAX_ANSWER_BYTES: usize = 256 * 1024;

const API_KEY: HeaderName = HeaderName::from_static("apikey");
const SIGNATURE: HeaderName = HeaderName::from_static("signature");
const NONCE: HeaderName = HeaderName::from_static("nonce");

/// What is sent, unsigned.
pub(super) struct Request {
    pub(super) call: Call,
    method: Method,
    path_and_query: String,
    body: Option<Vec<u8>>,
}

impl Request {
    pub(super) fn get(call: Call, path_and_query: String) -> Self {
        Self {
            call,
            method: Method::Get,
            path_and_query,
            body: None,
        }
    }

    /// With compact JSON as its body.
    pub(super) fn post(call: Call, path: &str, body: &impl Serialize) -> Self {
        let body = serde_json::to_vec(body).expect("requests are maps with text keys");
        Self {
            call,
            method: Method::Post,
            path_and_query: path.to_owned(),
            body: Some(body),
        }
    }

    /// The path for logs: the query holds an invoice.
    fn path(&self) -> &str {
        let path = &self.path_and_query;
        path.split_once('?').map_or(path, |(path, _)| path)
    }
}

/// What came back.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) retry_after: Option<String>,
    /// Its bytes, or why there are none.
    body: Result<Vec<u8>, Unclear>,
}

impl Answer {
    pub(super) fn text(self) -> Result<String, Unclear> {
        String::from_utf8(self.body?).map_err(|error| Unclear::Garbled(error.to_string()))
    }

    pub(super) fn explanation(&self) -> ServiceError {
        self.body
            .as_deref()
            .map(ServiceError::from_body)
            .unwrap_or_default()
    }
}

/// The connection to the service.
pub(super) struct Exchange {
    http: reqwest::Client,
    base_url: Url,
    api_key: HeaderValue,
    api_secret: SecretString,
    signing: Signing,
    nonces: Nonces,
    clock: Arc<dyn Clock>,
}

impl Exchange {
    pub(super) fn new(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self, SettingsError> {
        check_base_url(&settings.base_url)?;
        let key = settings.credentials.api_key.expose_secret();
        let mut api_key = HeaderValue::from_str(key).map_err(|_| SettingsError::ApiKey)?;
        api_key.set_sensitive(true);
        Ok(Self {
            http: http_client(&settings)?,
            base_url: settings.base_url,
            api_key,
            api_secret: settings.credentials.api_secret,
            signing: settings.signing,
            nonces: Nonces::new(),
            clock,
        })
    }

    /// Signs and sends a request once, and reads the answer.
    pub(super) async fn send(&self, request: &Request) -> Result<Answer, CallError> {
        let began = self.clock.now();
        let result = self.exchange(request).await;
        let elapsed = self.clock.now().duration_since(began);
        tracing::debug!(
            method = ?request.method,
            path = request.path(),
            status = result.as_ref().ok().map(|answer| answer.status),
            error = result.as_ref().err().map(tracing::field::display),
            elapsed_ms = elapsed.as_millis(),
            "payment service called"
        );
        result
    }

    async fn exchange(&self, request: &Request) -> Result<Answer, CallError> {
        let method = match request.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Put => reqwest::Method::PUT,
        };
        let mut builder = self.http.request(method, self.url(&request.path_and_query));
        builder = builder.headers(self.headers(request));
        if let Some(body) = &request.body {
            builder = builder.body(body.clone());
        }
        let mut response = builder.send().await.map_err(|error| failure(&error))?;
        let retry_after = response.headers().get(RETRY_AFTER);
        Ok(Answer {
            status: response.status().as_u16(),
            retry_after: retry_after
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned),
            body: read(&mut response).await,
        })
    }

    fn url(&self, path_and_query: &str) -> Url {
        let base = self.base_url.as_str().trim_end_matches('/');
        Url::parse(&format!("{base}{path_and_query}")).expect("a base address and an encoded path")
    }

    /// `Assumed:` GET needs the content type as GET /invoice does, so all requests carry it.
    fn headers(&self, request: &Request) -> HeaderMap {
        let nonce = self.nonces.next(self.clock.now());
        let signature = self.signing.sign(
            &self.api_secret,
            nonce,
            request.method,
            &request.path_and_query,
            request.body.as_deref(),
        );
        let value =
            |text: &str| HeaderValue::from_str(text).expect("digits are allowed in headers");
        let mut signature = value(signature.as_str());
        signature.set_sensitive(true);
        HeaderMap::from_iter([
            (API_KEY, self.api_key.clone()),
            (SIGNATURE, signature),
            (NONCE, value(&nonce.to_string())),
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        ])
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("base_url", &self.base_url.as_str())
            .finish_non_exhaustive()
    }
}

/// A client that goes where it is told and nowhere else: no redirects, no proxies from the environment, and no second
/// try of its own.
fn http_client(settings: &Settings) -> Result<reqwest::Client, SettingsError> {
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
    builder.build().map_err(SettingsError::Tls)
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

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::Credentials;

    struct Stopped;

    #[async_trait::async_trait]
    impl Clock for Stopped {
        fn now(&self) -> Timestamp {
            Timestamp::UNIX_EPOCH
        }

        async fn sleep(&self, _: Duration) {}
    }

    #[test]
    fn headers_that_open_something_are_marked_as_sensitive() {
        let credentials = Credentials {
            api_key: SecretString::from("key"),
            api_secret: SecretString::from("secret"),
        };
        let settings = Settings::new("http://127.0.0.1:1/api".parse().unwrap(), credentials);
        let exchange = Exchange::new(settings, Arc::new(Stopped)).unwrap();
        let headers = exchange.headers(&Request::get(Call::Prices, "/prices".into()));
        let sensitive = headers.iter().filter(|(_, value)| value.is_sensitive());
        let mut names: Vec<_> = sensitive.map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["apikey", "signature"]);
    }
}
