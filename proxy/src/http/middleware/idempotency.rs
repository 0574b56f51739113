//! `Idempotency-Key`: a POST that is sent again with its key is carried out once.
//!
//! What was carried out is kept and answered again. A refusal changed nothing and is not kept: the same request may try
//! again with the same key. A crash locks no key, since a claim is a lease; and whoever takes it over finds the order that
//! was opened before, since the [`Name`] of a request is the reference of its order.

use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequestParts as _, MatchedPath, Request, State};
use axum::http::header::{CONTENT_TYPE, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use jiff::{SignedDuration, Timestamp};
use ledger::{Claim, Fingerprint, OrderId, RequestId, StoreId, StoredAnswer};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tracing::Instrument as _;

use crate::auth::client_token::ClientToken;
use crate::http::body::{MAX_BODY_BYTES, read};
use crate::http::checkout::CheckoutSession;
use crate::http::checkout::orders::count_with_key;
use crate::http::error::ApiError;
use crate::http::store_api::AuthenticatedStore;
use crate::orders;
use crate::state::AppState;

/// The header of a request.
pub(crate) static KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The header of an answer that was given before.
static REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// Longer than any request takes: the service is given 10 s. Whoever claimed a request longer ago is gone.
const LEASE: SignedDuration = SignedDuration::from_secs(30);
/// A day longer than any order takes attempts.
const KEPT: SignedDuration = SignedDuration::from_hours(31 * 24);
/// The one address whose callers have no name: there a key is all that tells them apart.
const DOOR: &str = "/v1/checkout";

/// What a request with a key is told by: the same for the same request, carried out by whomever.
#[derive(Clone, Copy)]
pub(crate) struct Name(pub [u8; 16]);

impl Name {
    fn of(id: RequestId, fingerprint: Fingerprint) -> Self {
        let whole = digest(&[&id.0, &fingerprint.0]);
        let mut half = [0; 16];
        half.copy_from_slice(&whole[..16]);
        Self(half)
    }
}

/// The innermost layer. It acts on a POST with a key alone.
pub(crate) async fn once(
    State(app): State<Arc<AppState>>,
    request: Request,
    next: Next,
) -> Response {
    if *request.method() != Method::POST || !request.headers().contains_key(&KEY) {
        return next.run(request).await;
    }
    let answer = carry_out(&app, request, next).await;
    answer.unwrap_or_else(ApiError::into_response)
}

async fn carry_out(
    app: &Arc<AppState>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let (mut parts, body) = request.into_parts();
    let route = parts.extensions.get::<MatchedPath>();
    let route = route.map_or_else(String::new, |path| path.as_str().to_owned());
    let caller = Caller::of(app, &mut parts, &route).await?;
    let key = Key::read(&parts.headers, matches!(caller, Caller::Anyone))?;
    let body = read(body, MAX_BODY_BYTES).await?;
    if matches!(caller, Caller::Anyone) {
        count_with_key(app, &parts, &body)?;
    }
    let id = RequestId(caller.names(&route, &key, &body));
    let fingerprint = fingerprint(&parts, &body);
    let now = app.now();
    let lease_until = now + LEASE;
    let claim = app
        .deps
        .ledger
        .claim_request(id, fingerprint, now, lease_until);
    match claim.await? {
        Claim::Mine => {}
        Claim::Answered(answer) => return replay(app, answer).await,
        Claim::Running => return Err(ApiError::RequestInProgress),
        Claim::Reused => return Err(ApiError::IdempotencyKeyReused),
    }
    parts.extensions.insert(Name::of(id, fingerprint));
    let request = Request::from_parts(parts, Body::from(body));
    let app = app.clone();
    // To its end, even when the caller goes away meanwhile: that is when the answer is asked for again.
    let done = async move {
        let answer = next.run(request).await;
        keep(&app, id, lease_until, answer).await
    };
    let done = tokio::spawn(done.in_current_span()).await;
    done?
}

/// Who sent a request. Keys of two callers never meet.
enum Caller {
    Anyone,
    /// Of this order, whichever of its client tokens came.
    Customer(OrderId),
    Store(StoreId),
}

impl Caller {
    /// Whoever may not ask for anything here may not ask for an answer either.
    async fn of(app: &Arc<AppState>, parts: &mut Parts, route: &str) -> Result<Self, ApiError> {
        if route == DOOR {
            return Ok(Self::Anyone);
        }
        if route.starts_with(DOOR) {
            let CheckoutSession(snapshot) = CheckoutSession::from_request_parts(parts, app).await?;
            return Ok(Self::Customer(snapshot.order.id));
        }
        let AuthenticatedStore(store) = AuthenticatedStore::from_request_parts(parts, app).await?;
        Ok(Self::Store(store))
    }

    /// The request's id: this caller's, at this address, with this key.
    fn names(&self, route: &str, key: &Key, body: &[u8]) -> [u8; 32] {
        let shop = serde_json::from_slice::<Shop>(body).unwrap_or_default();
        let (kind, name) = match self {
            Self::Anyone => ("anyone", shop.store.as_str()),
            Self::Customer(order) => ("customer", order.as_str()),
            Self::Store(store) => ("store", store.as_str()),
        };
        digest(&[
            kind.as_bytes(),
            name.as_bytes(),
            route.as_bytes(),
            key.as_bytes(),
        ])
    }
}

/// The shop at whose door somebody without a name stands.
#[derive(Default, Deserialize)]
struct Shop {
    store: String,
}

/// All that decides what a request does, beside who sends it.
fn fingerprint(parts: &Parts, body: &Bytes) -> Fingerprint {
    let origin = parts
        .headers
        .get(ORIGIN)
        .map_or(&b""[..], HeaderValue::as_bytes);
    let address = parts.uri.path_and_query().map_or("", |path| path.as_str());
    Fingerprint(digest(&[address.as_bytes(), origin, body]))
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

/// Keeps what was carried out; gives back the claim on what was refused.
async fn keep(
    app: &AppState,
    id: RequestId,
    lease_until: Timestamp,
    answer: Response,
) -> Result<Response, ApiError> {
    let ledger = &app.deps.ledger;
    if !answer.status().is_success() {
        ledger.release_request(id, lease_until).await?;
        return Ok(answer);
    }
    let (parts, body) = answer.into_parts();
    let body = to_bytes(body, usize::MAX).await;
    let body = body.map_err(|_| ApiError::PayloadTooLarge)?;
    let stored = stored(app, parts.status, &body).await?;
    let kept_until = app.now() + KEPT;
    let kept = ledger
        .answer_request(id, lease_until, &stored, kept_until)
        .await;
    match kept {
        Ok(true) => {}
        Ok(false) => tracing::warn!("a request with a key took longer than its lease"),
        // It was done, and its sender should know. Sent again, it finds what it did.
        Err(error) => tracing::error!(%error, "the answer to a request with a key was not kept"),
    }
    Ok(Response::from_parts(parts, Body::from(body)))
}

/// The answer as it may lie in the database: without its client token.
async fn stored(
    app: &AppState,
    status: StatusCode,
    body: &Bytes,
) -> Result<StoredAnswer, ApiError> {
    let text = String::from_utf8_lossy(body).into_owned();
    let status = status.as_u16();
    let handed = serde_json::from_str::<HandsOut>(&text).ok();
    let token = handed.and_then(|handed| ClientToken::parse(&handed.client_token));
    let Some(token) = token else {
        return Ok(StoredAnswer {
            status,
            body: text,
            hands_out: None,
        });
    };
    let hash = token.hash();
    let opens = app.deps.ledger.order_of_token(hash, app.now()).await?;
    Ok(StoredAnswer {
        status,
        body: text.replace(token.expose(), &hex::encode(hash.0)),
        hands_out: opens.map(|snapshot| (snapshot.order.id, hash)),
    })
}

#[derive(Deserialize)]
struct HandsOut {
    client_token: String,
}

/// The answer that was given before, with a client token of its own.
async fn replay(app: &AppState, answer: StoredAnswer) -> Result<Response, ApiError> {
    let StoredAnswer {
        status,
        mut body,
        hands_out,
    } = answer;
    if let Some((order, hash)) = hands_out {
        let token = orders::open::issue_client_token(app, &order).await?;
        let token = token.ok_or(ApiError::NoSuchOrder)?;
        body = body.replace(&hex::encode(hash.0), token.expose());
    }
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    let mut answer = (status, Body::from(body.clone())).into_response();
    let headers = answer.headers_mut();
    headers.insert(REPLAYED.clone(), HeaderValue::from_static("true"));
    if !body.is_empty() {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    Ok(answer)
}

const MAX_BYTES: usize = 255;
/// Of a caller without a name: whoever guesses a key and its request gets to the same order.
const MIN_ANONYMOUS_BYTES: usize = 16;

/// The value of `Idempotency-Key`: 1 to 255 visible ASCII characters, read as they are.
pub(crate) struct Key(Vec<u8>);

impl Key {
    /// Reads the header.
    ///
    /// # Errors
    /// [`checkout_api::ErrorCode::InvalidRequest`], naming the header.
    pub(crate) fn read(headers: &HeaderMap, is_anonymous: bool) -> Result<Self, ApiError> {
        let refused = |message| Err(ApiError::invalid("Idempotency-Key", message));
        let mut sent = headers.get_all(&KEY).iter();
        let (Some(key), None) = (sent.next(), sent.next()) else {
            return refused("Send one Idempotency-Key.");
        };
        let key = key.as_bytes();
        if !(1..=MAX_BYTES).contains(&key.len()) || !key.iter().all(u8::is_ascii_graphic) {
            return refused("An Idempotency-Key has 1 to 255 visible ASCII characters.");
        }
        if is_anonymous && key.len() < MIN_ANONYMOUS_BYTES {
            return refused(
                "Here an Idempotency-Key has 16 characters at least: draw one that nobody guesses.",
            );
        }
        Ok(Self(key.to_vec()))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}
