//! `Idempotency-Key`: a POST that is sent again with its key is carried out once.
//!
//! The typed result of a request is stored with the request's fingerprint, and answered again. It holds no client token:
//! that is issued afterwards, a fresh one on every replay. A failure is not stored: the same request may try
//! again with the same key, and finds what the one before has opened. A crash locks no key, since a claim is a lease; a retry
//! after a crash finds the order that was opened before, since [`RequestIdentity::generated_reference`] is the reference of its
//! order.

use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequest, MatchedPath, Request};
use axum::http::header::ORIGIN;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, IntoResponseParts, Response, ResponseParts};
use florin_orders::{OrderId, StoreId};
use florin_storage::{Claim, Fingerprint, RequestId, StoredResponse};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use tracing::Instrument as _;

use crate::http::body::{FromBody, MAX_BODY_BYTES, read};
use crate::http::error::ApiError;
use crate::state::{AppState, error_unless_outage};
use crate::trace;

static KEY: HeaderName = HeaderName::from_static("idempotency-key");
static REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// A claim that is older belongs to a process that died, or to a request that waited long for its turn: a call of the gateway
/// takes at most 10 s. A repetition then finds the same order, on which one attempt at a time is created.
const LEASE: SignedDuration = SignedDuration::from_secs(30);
/// A day longer than any order takes attempts.
const KEPT: SignedDuration = SignedDuration::from_hours(31 * 24);
const MAX_KEY_BYTES: usize = 255;
/// For callers without a secret: the key and the request alone lead to the order, so the key must not be guessable.
const MIN_ANONYMOUS_KEY_BYTES: usize = 16;

pub(crate) struct Post<B>(pub B, pub RequestIdentity);

pub(crate) struct RequestIdentity {
    /// The value of `Idempotency-Key`: 1 to 255 visible ASCII characters; `None` if there is none.
    key: Option<Vec<u8>>,
    route: String,
    /// Of everything that decides what the request does, except its caller.
    fingerprint: Fingerprint,
}

/// The caller of a request. Keys of two callers never meet.
pub(crate) enum Caller {
    /// A page without a token, in the shop of this store.
    Anyone(StoreId),
    /// A customer of this order, with any of its client tokens.
    Customer(OrderId),
    Store(StoreId),
}

pub(crate) enum Done<T, E = ()> {
    /// Executed now, with what is not stored.
    Executed(T, E),
    Replayed(T),
}

pub(crate) struct Replayed(bool);

impl<B: FromBody, S: Send + Sync> FromRequest<S> for Post<B> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let key = read_key(&parts.headers)?;
        B::check_headers(&parts.headers)?;
        let bytes = read(body, MAX_BODY_BYTES).await?;
        let route = parts.extensions.get::<MatchedPath>();
        let address = parts.uri.path_and_query().map_or("", |path| path.as_str());
        let origin = parts.headers.get(ORIGIN);
        let origin = origin.map_or(&b""[..], HeaderValue::as_bytes);
        let request = RequestIdentity {
            key,
            route: route.map_or_else(String::new, |path| path.as_str().to_owned()),
            fingerprint: Fingerprint(digest(&[address.as_bytes(), origin, &bytes])),
        };
        Ok(Self(B::from_body(&bytes)?, request))
    }
}

fn read_key(headers: &HeaderMap) -> Result<Option<Vec<u8>>, ApiError> {
    let mut sent = headers.get_all(&KEY).iter();
    let key = match (sent.next(), sent.next()) {
        (None, _) => return Ok(None),
        (Some(key), None) => key.as_bytes(),
        (Some(_), Some(_)) => return Err(invalid_key("Send one Idempotency-Key.")),
    };
    if !(1..=MAX_KEY_BYTES).contains(&key.len()) || !key.iter().all(u8::is_ascii_graphic) {
        return Err(invalid_key(
            "An Idempotency-Key has 1 to 255 visible ASCII characters.",
        ));
    }
    Ok(Some(key.to_vec()))
}

fn invalid_key(message: &'static str) -> ApiError {
    ApiError::invalid("Idempotency-Key", message)
}

impl RequestIdentity {
    /// Names the order that this request opens: the same for the same request. `None` without a key.
    pub(crate) fn generated_reference(&self, caller: &Caller) -> Option<[u8; 16]> {
        let id = self.id(caller)?;
        let whole = digest(&[&id.0, &self.fingerprint.0]);
        let mut half = [0; 16];
        half.copy_from_slice(&whole[..16]);
        Some(half)
    }

    fn id(&self, caller: &Caller) -> Option<RequestId> {
        let key = self.key.as_ref()?;
        let (kind, name) = match caller {
            Caller::Anyone(store) => ("anyone", store.as_str()),
            Caller::Customer(order) => ("customer", order.as_str()),
            Caller::Store(store) => ("store", store.as_str()),
        };
        let id = digest(&[kind.as_bytes(), name.as_bytes(), self.route.as_bytes(), key]);
        Some(RequestId(id))
    }

    fn check_key(&self, caller: &Caller) -> Result<(), ApiError> {
        let is_short = |key: &Vec<u8>| key.len() < MIN_ANONYMOUS_KEY_BYTES;
        if matches!(caller, Caller::Anyone(_)) && self.key.as_ref().is_some_and(is_short) {
            return Err(invalid_key(
                "Here an Idempotency-Key has 16 characters at least: use one that cannot be guessed, 128 random bits for example.",
            ));
        }
        Ok(())
    }
}

pub(crate) async fn idempotent<T, W>(
    app: &Arc<AppState>,
    request: RequestIdentity,
    caller: Caller,
    work: impl FnOnce(Arc<AppState>) -> W + Send,
) -> Result<Done<T>, ApiError>
where
    T: Serialize + DeserializeOwned + Send + 'static,
    W: Future<Output = Result<T, ApiError>> + Send + 'static,
{
    let work = work(app.clone());
    let work = |_| async { Ok((work.await?, ())) };
    idempotent_with(app, request, caller, work).await
}

/// Carries out a request once and stores its result; a request without a key is carried out every time.
///
/// With a key, `work` runs to its end even if the caller disconnects: that is when the response is asked for again. What
/// `work` returns beside the result is not stored.
pub(crate) async fn idempotent_with<T, E, W>(
    app: &Arc<AppState>,
    request: RequestIdentity,
    caller: Caller,
    work: impl FnOnce(Arc<AppState>) -> W + Send,
) -> Result<Done<T, E>, ApiError>
where
    T: Serialize + DeserializeOwned + Send + 'static,
    E: Send + 'static,
    W: Future<Output = Result<(T, E), ApiError>> + Send + 'static,
{
    let work = work(app.clone());
    request.check_key(&caller)?;
    let Some(id) = request.id(&caller) else {
        let (result, extra) = work.await?;
        return Ok(Done::Executed(result, extra));
    };
    let now = app.now();
    let lease_until = now + LEASE;
    let storage = &app.storage;
    let claim = storage.claim_request(id, request.fingerprint, now, lease_until);
    match claim.await? {
        Claim::Acquired => {}
        Claim::Completed(stored) => return read_result(&stored),
        Claim::Running => return Err(ApiError::RequestInProgress),
        Claim::Reused => return Err(ApiError::IdempotencyKeyReused),
    }
    let app = app.clone();
    let done = async move {
        match work.await {
            Ok((result, extra)) => {
                let json = serde_json::to_string(&result)?;
                store_result(&app, id, lease_until, json).await;
                Ok(Done::Executed(result, extra))
            }
            Err(error) => {
                app.storage.release_request(id, lease_until).await?;
                Err(error)
            }
        }
    };
    tokio::spawn(trace::inherited(done.in_current_span())).await?
}

/// Reads a stored result. One of another format is not executed again: a forwarded call would be sent twice.
fn read_result<T: DeserializeOwned, E>(stored: &StoredResponse) -> Result<Done<T, E>, ApiError> {
    let result = serde_json::from_str(&stored.body);
    result.map(Done::Replayed).map_err(|error| {
        tracing::warn!(%error, "the stored result of a request with a key cannot be read");
        ApiError::IdempotencyResultUnreadable
    })
}

async fn store_result(app: &AppState, id: RequestId, lease_until: Timestamp, json: String) {
    let stored = StoredResponse {
        status: 200,
        body: json,
    };
    let kept_until = app.now() + KEPT;
    let storage = &app.storage;
    let kept = storage.store_response(id, lease_until, &stored, kept_until);
    match kept.await {
        Ok(true) => {}
        Ok(false) => tracing::warn!("a request with a key took longer than its lease"),
        // It was done, and its sender should know. Sent again, it finds what it did.
        Err(error) => {
            error_unless_outage!(error, "the result of a request with a key was not stored");
        }
    }
}

/// SHA-256 over parts, each with its length: no two lists of parts are written the same.
fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

impl<T, E> Done<T, E> {
    pub(crate) fn replayed(&self) -> Replayed {
        Replayed(matches!(self, Self::Replayed(_)))
    }
}

impl<T> Done<T> {
    pub(crate) fn into_result(self) -> T {
        match self {
            Self::Executed(result, ()) | Self::Replayed(result) => result,
        }
    }
}

impl<T: Serialize> IntoResponse for Done<T> {
    fn into_response(self) -> Response {
        (self.replayed(), Json(self.into_result())).into_response()
    }
}

impl IntoResponseParts for Replayed {
    type Error = std::convert::Infallible;

    fn into_response_parts(self, mut parts: ResponseParts) -> Result<ResponseParts, Self::Error> {
        if self.0 {
            let value = HeaderValue::from_static("true");
            parts.headers_mut().insert(REPLAYED.clone(), value);
        }
        Ok(parts)
    }
}
