//! POST /v1/checkout: the three doors of the browser. A product's price is the catalogue's, a token's the store server's;
//! only a donation's is the customer's, within its bounds.

mod donation;
mod order_token;
mod product;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::{Extension, Json};
use checkout_api::{Door, ErrorCode, Opened};
use jiff::SignedDuration;
use ledger::StoreId;

use super::view_of;
use crate::app::App;
use crate::client_address::client_address;
use crate::config::Store;
use crate::http::body::Body;
use crate::http::cors::admit;
use crate::http::error::ApiError;
use crate::http::idempotency::Name;
use crate::opening;

/// An order that a browser opened takes attempts for a day.
const ORDER_LIFETIME: SignedDuration = SignedDuration::from_hours(24);

/// Opens an order: 201 for a new one, 200 for the one that a token's reference already names.
pub(crate) async fn open(
    State(app): State<Arc<App>>,
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
    let name = name.map_or_else(|| app.draw(), |Extension(Name(bits))| bits);
    let terms = match door {
        Door::Product {
            store,
            product,
            quantity,
        } => {
            let store = store_of_page(&app, &store, &headers)?;
            product::terms(&app, store, name, &product, quantity.unwrap_or(1))?
        }
        Door::Donation {
            store,
            donation,
            amount,
        } => {
            let store = store_of_page(&app, &store, &headers)?;
            donation::terms(&app, store, name, &donation, &amount)?
        }
        Door::OrderToken { order_token } => order_token::terms(&app, &order_token, &headers)?,
    };
    let opened = opening::open(&app, &terms).await?;
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

/// Counts a request with a key before anything is written down for it: its claim is a row, as an order is, and so is the
/// client token of an answer that is given again. All are counted that come with no valid order token, also such as ask
/// for nothing that there is.
pub(in crate::http) fn count_with_key(
    app: &App,
    parts: &Parts,
    body: &[u8],
) -> Result<(), ApiError> {
    if let Ok(Door::OrderToken { order_token }) = serde_json::from_slice(body)
        && order_token::is_valid(app, &order_token)
    {
        return Ok(());
    }
    match parts.extensions.get() {
        Some(ConnectInfo(peer)) => count(app, *peer, &parts.headers),
        None => Ok(()),
    }
}

/// Counts an order that anybody may open; one that a store's server signed is the store's to count.
fn count(app: &App, peer: SocketAddr, headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(client) = client_address(peer, headers, &app.config.trusted_proxies) else {
        return Ok(());
    };
    app.openings.take(client, app.now()).map_err(|wait| {
        let message =
            "Too many orders were opened from your address. Wait a moment, then try again.";
        let seconds = wait.as_millis().unsigned_abs().div_ceil(1000);
        let seconds = u32::try_from(seconds).unwrap_or(u32::MAX);
        ApiError::new(ErrorCode::RateLimited, message).retry_after(seconds)
    })
}

/// The store that a page names, and that lists the page.
pub(super) fn store_of_page<'a>(
    app: &'a App,
    id: &str,
    headers: &HeaderMap,
) -> Result<&'a Store, ApiError> {
    let store = StoreId::parse(id).ok().and_then(|id| app.config.store(&id));
    let store = store.ok_or_else(|| {
        let message = "There is no shop of this name here.";
        ApiError::new(ErrorCode::UnknownStore, message)
    })?;
    admit(app, store, headers)?;
    Ok(store)
}
