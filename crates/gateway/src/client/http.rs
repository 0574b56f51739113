//! One request and its response: signed, carried once, and logged; and one lookup per invoice at a time, whose response
//! concurrent callers share.

use core::time::Duration;
use std::collections::HashMap;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use parking_lot::Mutex;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret as _;
use url::Url;

use super::settings::SigningKey;
use super::transport::{RawResponse, SignedRequest};
use super::{CallError, Client, RawRequest};
use crate::{InvoiceId, InvoiceStatus, Nonce, sign};

const API_KEY: HeaderName = HeaderName::from_static("apikey");
const SIGNATURE: HeaderName = HeaderName::from_static("signature");
const NONCE: HeaderName = HeaderName::from_static("nonce");
/// Longest wait for the budget while a customer waits for the call.
const LONGEST_WAIT: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Prices,
    CreateInvoice,
    Invoice,
    Confirm,
    Checkout,
    Read,
    Write,
}

impl Call {
    /// Returns `true` if the call may be repeated after an ambiguous outcome.
    pub(super) fn is_repeatable(self) -> bool {
        match self {
            Self::Prices | Self::Invoice | Self::Confirm | Self::Read => true,
            // Each makes something new every time, or may.
            Self::CreateInvoice | Self::Checkout | Self::Write => false,
        }
    }

    /// Returns `true` if a response that is no 401 says that key and signature are right. Source: payment-service.md: GET /prices
    /// shows no signature, POST /checkout only the key.
    pub(super) fn proves_key(self) -> bool {
        matches!(self, Self::Invoice | Self::CreateInvoice)
    }

    /// Returns `true` if a 401 says that the key is wrong. A store's own call may be one that the account must not make.
    pub(super) fn needs_only_key(self) -> bool {
        !matches!(self, Self::Read | Self::Write)
    }

    /// Longest wait for the budget. A poll does not wait here: it is rescheduled in the database.
    pub(super) fn max_wait(self) -> Duration {
        match self {
            Self::Invoice => Duration::ZERO,
            _ => LONGEST_WAIT,
        }
    }
}

impl RawRequest {
    /// `Assumed:` GET needs the content type as GET /invoice does, so all requests carry it.
    fn headers(&self, key: &SigningKey, nonce: Nonce, sign_put_body: bool) -> HeaderMap {
        let body = self.body.as_ref().map(String::as_bytes);
        let body = body.filter(|_| self.method.signs_body(sign_put_body));
        let signature = sign(&key.api_secret, nonce, &self.path_and_query(), body);
        let value =
            |text: &str| HeaderValue::from_str(text).expect("digits are allowed in headers");
        let mut signature = value(signature.expose_secret());
        signature.set_sensitive(true);
        let mut headers = HeaderMap::from_iter([
            (API_KEY, key.api_key.clone()),
            (SIGNATURE, signature),
            (NONCE, value(&nonce.to_string())),
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        ]);
        headers.extend(traceparent().map(|value| (TRACEPARENT, value)));
        headers
    }
}

impl Client {
    pub(super) async fn send(
        &self,
        request: &RawRequest,
        key: &SigningKey,
        nonce: Nonce,
    ) -> Result<RawResponse, CallError> {
        let began = self.clock.now();
        let base = self.base_url.as_str().trim_end_matches('/');
        let url = format!("{base}{}", request.path_and_query());
        let signed = SignedRequest {
            method: request.method,
            url: Url::parse(&url).expect("a base address and an encoded path"),
            headers: request.headers(key, nonce, self.sign_put_body),
            body: request.body.clone().map(String::into_bytes),
        };
        let result = self.transport.send(signed).await;
        let elapsed = self.clock.now().duration_since(began);
        tracing::debug!(
            method = request.method.as_str(),
            path = request.path,
            status = result.as_ref().ok().map(|response| response.status),
            error = result.as_ref().err().map(tracing::field::display),
            elapsed_ms = elapsed.as_millis(),
            "gateway called"
        );
        result
    }
}

/// Source: W3C Trace Context, section 3.2. `Assumed:` the gateway ignores headers that it does not know; the signature covers
/// none. A refusal of calls with this header would disprove it.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

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

fn traceparent() -> Option<HeaderValue> {
    CURRENT.try_with(HeaderValue::clone).ok()
}

/// The response of one GET /invoice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvoiceResponse {
    /// Its `data`.
    pub status: InvoiceStatus,
    /// The whole body as it came, to be kept as evidence.
    pub raw: String,
}

pub(super) type PendingResponse = BoxFuture<'static, Result<InvoiceResponse, CallError>>;

/// The lookups in flight. A lookup is cancelled only when all its callers are.
#[derive(Default)]
pub(super) struct SingleFlight(Mutex<HashMap<InvoiceId, WeakShared<PendingResponse>>>);

impl SingleFlight {
    pub(super) fn join(
        &self,
        id: &InvoiceId,
        ask: impl FnOnce() -> PendingResponse,
    ) -> Shared<PendingResponse> {
        let mut in_flight = self.0.lock();
        let under_way = in_flight.get(id).and_then(WeakShared::upgrade);
        if let Some(request) = under_way.filter(|request| request.peek().is_none()) {
            return request;
        }
        in_flight.retain(|_, request| request.upgrade().is_some());
        let request = ask().shared();
        if let Some(weak) = request.downgrade() {
            in_flight.insert(id.clone(), weak);
        }
        request
    }
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;

    use super::*;
    use crate::Credentials;

    #[test]
    fn headers_that_open_something_are_marked_as_sensitive() {
        let credentials = Credentials {
            api_key: SecretString::from("key"),
            api_secret: SecretString::from("secret"),
        };
        let key = SigningKey::new(&credentials).unwrap();
        let request = RawRequest::get("/prices");
        let headers = request.headers(&key, Nonce::from_second(1), false);
        let sensitive = headers.iter().filter(|(_, value)| value.is_sensitive());
        let mut names: Vec<_> = sensitive.map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["apikey", "signature"]);
    }
}
