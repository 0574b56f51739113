//! POST /v1/checkout: the three doors of the browser. A product's price is the catalogue's, a token's the store server's;
//! only a donation's is the customer's, within its bounds.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{ConnectInfo, Query, State};
use axum::http::header::{ETAG, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use checkout_api::{DonationView, Door, ErrorCode, Opened, OrderView};
use ledger::StoreId;
use money::Amount;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::auth::order_token::{Claims, verify};
use crate::config::Store;
use crate::http::body::Body;
use crate::http::checkout::{CheckoutSession, request_poll, view_of};
use crate::http::error::ApiError;
use crate::http::middleware::client_address::client_address;
use crate::http::middleware::cors::require_listed_origin;
use crate::http::middleware::idempotency::Name;
use crate::http::openapi::information::CHECKOUT;
use crate::http::openapi::operation::{Caller, Operation};
use crate::http::openapi::types::Types;
use crate::orders;
use crate::orders::price;
use crate::payments::view::{etag, store_view};
use crate::state::AppState;

/// Opens an order: 201 for a new one, 200 for the one that a token's reference already names.
pub(crate) async fn open(
    State(app): State<Arc<AppState>>,
    peer: Option<Extension<ConnectInfo<SocketAddr>>>,
    headers: HeaderMap,
    name: Option<Extension<Name>>,
    Body(door): Body<Door>,
) -> Result<(StatusCode, Json<Opened>), ApiError> {
    // A request with a key was counted when it came, see `count_with_key`.
    if name.is_none()
        && !matches!(door, Door::OrderToken { .. })
        && let Some(Extension(ConnectInfo(peer))) = peer
    {
        count(&app, peer, &headers)?;
    }
    // It names its order: carried out again after a crash, it finds it.
    let name = name.map_or_else(|| app.random_bits(), |Extension(Name(bits))| bits);
    let now = app.now();
    let terms = match door {
        Door::Product {
            store,
            product,
            quantity,
        } => {
            let store = store_of_page(&app, &store, &headers)?;
            price::product(store, name, &product, quantity.unwrap_or(1), now)?
        }
        Door::Donation {
            store,
            donation,
            amount,
        } => {
            let store = store_of_page(&app, &store, &headers)?;
            price::donation(store, name, &donation, &amount, now)?
        }
        Door::OrderToken { order_token } => {
            let (store, claims) = verify_token(&app, &order_token)?;
            require_listed_origin(&app, store, &headers)?;
            price::order_token(store, claims, now)
        }
    };
    let opened = orders::open::open(&app, &terms).await?;
    let status = if opened.is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let order = view_of(&app, &opened.snapshot)?;
    let client_token = opened.token.expose().to_owned();
    Ok((
        status,
        Json(Opened {
            client_token,
            order,
        }),
    ))
}

pub(crate) fn describe_open(types: &mut Types) -> Operation {
    Operation::post("/v1/checkout", "open_checkout")
        .of(CHECKOUT)
        .does(
            "Open an order",
            "By exactly one door: a product of the catalogue, a declared donation, or a token that the store's server \
             signed. Only a donation's amount is the customer's, within its bounds. A product or a donation is an order \
             of its own at every call; a token is the order of its reference, however often it is used.",
        )
        .by(Caller::Anyone)
        .refuses(&[ErrorCode::OriginNotAllowed, ErrorCode::Internal])
        .takes_key(16)
        .takes::<Door>(types, &json!({ "store": "demo", "product": "ebook", "quantity": 1 }))
        .refuses(&[
            ErrorCode::InvalidOrderToken,
            ErrorCode::UnknownStore,
            ErrorCode::UnknownProduct,
            ErrorCode::UnknownDonation,
            ErrorCode::OrderConflict,
            ErrorCode::QuantityOutOfRange,
            ErrorCode::DonationOutOfRange,
            ErrorCode::RateLimited,
        ])
        .answers::<Opened>(201, "The order, and the token that opens it.", types)
        .answers::<Opened>(
            200,
            "The order that the token's reference already names, or one that a crash kept from being answered, with a \
             fresh client token.",
            types,
        )
}

/// Counts a request with a key before anything is written down for it: its claim is a row, as an order is, and so is the
/// client token of an answer that is given again. All are counted that come with no valid order token, also such as ask
/// for nothing that there is.
pub(crate) fn count_with_key(app: &AppState, parts: &Parts, body: &[u8]) -> Result<(), ApiError> {
    if let Ok(Door::OrderToken { order_token }) = serde_json::from_slice(body)
        && verify(
            &order_token,
            &app.config.stores,
            app.config.public_url.base(),
            app.now(),
        )
        .is_ok()
    {
        return Ok(());
    }
    match parts.extensions.get() {
        Some(ConnectInfo(peer)) => count(app, *peer, &parts.headers),
        None => Ok(()),
    }
}

/// Counts an order that anybody may open; one that a store's server signed is the store's to count.
fn count(app: &AppState, peer: SocketAddr, headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(client) = client_address(peer, headers, &app.config.trusted_proxies) else {
        return Ok(());
    };
    app.order_rate_limit
        .check(client, app.now())
        .map_err(|wait| ApiError::TooManyOrders {
            retry_after: wait.unsigned_abs(),
        })
}

/// Verifies an order token. Every refusal is the same to the outside; the log says why, without the token.
fn verify_token<'a>(app: &'a AppState, token: &str) -> Result<(&'a Store, Claims), ApiError> {
    let config = &app.config;
    let verified = verify(token, &config.stores, config.public_url.base(), app.now());
    verified.map_err(|reason| {
        tracing::warn!(%reason, "an order token was rejected");
        ApiError::InvalidOrderToken
    })
}

/// The store that a page names, and that lists the page.
pub(crate) fn store_of_page<'a>(
    app: &'a AppState,
    id: &str,
    headers: &HeaderMap,
) -> Result<&'a Store, ApiError> {
    let store = StoreId::parse(id).ok().and_then(|id| app.config.store(&id));
    let store = store.ok_or(ApiError::UnknownStore)?;
    require_listed_origin(app, store, headers)?;
    Ok(store)
}

/// Shows the order, or says that nothing changed since the tag that the browser holds.
pub(crate) async fn show(
    State(app): State<Arc<AppState>>,
    CheckoutSession(snapshot): CheckoutSession,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    request_poll(&app, &snapshot).await?;
    let tag = etag(&snapshot, app.gateway_unavailable(), app.now());
    let known = headers
        .get(IF_NONE_MATCH)
        .is_some_and(|given| given.as_bytes() == tag.as_bytes());
    if known {
        return Ok((StatusCode::NOT_MODIFIED, [(ETAG, tag)]).into_response());
    }
    Ok(([(ETAG, tag)], Json(view_of(&app, &snapshot)?)).into_response())
}

pub(crate) fn describe_show(types: &mut Types) -> Operation {
    Operation::get("/v1/checkout", "show_checkout")
        .of(CHECKOUT)
        .does("See the order", "All that a checkout shows of it.")
        .by(Caller::Customer)
        .header(
            "If-None-Match",
            "The `ETag` of the answer that the page holds.",
            &json!({ "type": "string" }),
        )
        .answers::<OrderView>(200, "The order as it stands.", types)
        .with_header(200, "ETag", "ETag")
        .answers_empty(304, "Nothing changed since that answer.")
        .with_header(304, "ETag", "ETag")
}

/// Which donation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DonationQuery {
    /// The store's id.
    store: String,
    /// The donation's `id`.
    donation: String,
}

/// Describes a declared donation.
pub(crate) async fn donation(
    State(app): State<Arc<AppState>>,
    headers: HeaderMap,
    wanted: Result<Query<DonationQuery>, QueryRejection>,
) -> Result<Json<DonationView>, ApiError> {
    let Query(wanted) = wanted.map_err(|error| ApiError::invalid("query", error.body_text()))?;
    let store = store_of_page(&app, &wanted.store, &headers)?;
    let donation = price::declared_donation(store, &wanted.donation)?;
    let padded = |amount: Amount| amount.padded(store.currency.decimals()).to_text();
    Ok(Json(DonationView {
        environment: app.config.environment,
        store: store_view(store),
        title: donation.title.clone(),
        currency: store.currency.to_string(),
        min: padded(donation.min),
        max: padded(donation.max),
        suggested: donation.suggested.iter().copied().map(padded).collect(),
    }))
}

pub(crate) fn describe_donation(types: &mut Types) -> Operation {
    Operation::get("/v1/checkout/donation", "show_donation")
        .of(CHECKOUT)
        .does(
            "Describe a donation",
            "What a page needs to ask its customer for an amount: what it is for, its bounds, and amounts to offer.",
        )
        .by(Caller::Anyone)
        .query::<DonationQuery>(types)
        .refuses(&[
            ErrorCode::OriginNotAllowed,
            ErrorCode::UnknownStore,
            ErrorCode::UnknownDonation,
        ])
        .answers::<DonationView>(200, "The donation.", types)
}
