//! Endpoints for a store's server, with its secret key. A store sees its own orders alone.

pub(crate) mod events;
pub(crate) mod gateway;
pub(crate) mod orders;
pub(crate) mod staff_links;

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use florin_orders::{OrderId, Snapshot, StoreId};
use headers::authorization::Bearer;
use headers::{Authorization, HeaderMapExt as _};
use serde_json::{Value, json};

use crate::auth::is_secret;
use crate::auth::token::key_digest;
use crate::config::{Config, Store};
use crate::http::error::ApiError;
use crate::state::AppState;

const MAX_PAGE: u32 = 100;
const DEFAULT_PAGE: u32 = 20;

pub(crate) struct AuthenticatedStore {
    pub(crate) id: StoreId,
    pub(crate) key_digest: [u8; 32],
    /// The configuration that has the key: a request that began before a reload ends with what it began with.
    pub(crate) config: Arc<Config>,
}

impl FromRequestParts<Arc<AppState>> for AuthenticatedStore {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        let key = parts.headers.typed_get::<Authorization<Bearer>>();
        let key = key.ok_or(ApiError::Unauthorized)?;
        let config = app.config();
        let store = store_of_key(&config, key.token());
        let looks_like = || other_secret(&config, key.token());
        let unknown = || ApiError::UnknownKey {
            looks_like: looks_like(),
        };
        let id = store.ok_or_else(unknown)?.id.clone();
        Ok(Self {
            id,
            key_digest: key_digest(key.token()),
            config,
        })
    }
}

impl AuthenticatedStore {
    pub(crate) fn store(&self) -> &Store {
        self.config
            .store(&self.id)
            .expect("the key was found in this configuration")
    }

    /// An order of this store. That of another store is treated as not found.
    pub(crate) async fn order(&self, app: &AppState, id: &str) -> Result<Snapshot, ApiError> {
        let id = OrderId::parse(id).map_err(|_| ApiError::NoSuchOrder)?;
        let found = app.deps.storage.snapshot(&id).await?;
        let is_mine = |snapshot: &Snapshot| snapshot.order.terms.store_id == self.id;
        found.filter(is_mine).ok_or(ApiError::NoSuchOrder)
    }
}

fn store_of_key<'a>(config: &'a Config, key: &str) -> Option<&'a Store> {
    let is_its = |store: &&Store| {
        let expected = store.secret_key.as_ref();
        expected.is_some_and(|expected| expected.is_one(key))
    };
    config.stores.iter().find(is_its)
}

/// Which other secret a refused key looks like, by the form in which `florin-proxy secrets new` draws each; a token key of
/// another form by its value.
fn other_secret(config: &Config, key: &str) -> Option<&'static str> {
    let token_keys = config.stores.iter().flat_map(|store| &store.token_keys);
    let is_token_key = token_keys.fold(false, |found, token_key| {
        is_secret(&token_key.secret, key) | found
    });
    let is_hexadecimal = key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    match key {
        _ if is_token_key || key.starts_with("tk_") => {
            Some("a token key, which signs order tokens")
        }
        _ if key.starts_with("whsec_") => Some("a webhook secret, which verifies deliveries"),
        _ if key.starts_with("sk_") => {
            Some("a secret key of another proxy, or one that was replaced")
        }
        _ if key.starts_with("eyJ") => Some("an order token"),
        _ if is_hexadecimal => Some("a client token, which opens one order"),
        _ => None,
    }
}

pub(crate) fn has_store_key(app: &AppState, headers: &HeaderMap) -> bool {
    let key = headers.typed_get::<Authorization<Bearer>>();
    key.is_some_and(|key| store_of_key(&app.config(), key.token()).is_some())
}

fn page_size(limit: Option<u32>) -> Result<u32, ApiError> {
    match limit.unwrap_or(DEFAULT_PAGE) {
        size @ 1..=MAX_PAGE => Ok(size),
        _ => Err(ApiError::invalid(
            "limit",
            "Ask for 1 to 100 at once, like 20.",
        )),
    }
}

pub(crate) fn order_id() -> Value {
    json!({ "type": "string", "pattern": "^ord_[0-9a-f]{32}$" })
}

pub(crate) fn event_id() -> Value {
    json!({ "type": "string", "pattern": "^evt_[0-9a-f]{32}_[0-9]{1,10}(_[0-9a-f]{16})?$" })
}
