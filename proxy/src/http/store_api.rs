//! Endpoints for a store's server, with its secret key. A store sees its own orders alone.

pub(crate) mod events;
pub(crate) mod gateway;
pub(crate) mod orders;
pub(crate) mod refunds;

use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use florin_checkout_api::ErrorCode;
use florin_orders::{OrderId, Snapshot, StoreId};
use florin_storage::StaffAccess;
use headers::authorization::Bearer;
use headers::{Authorization, HeaderMapExt as _};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::auth::is_secret;
use crate::auth::token::{Token, key_digest};
use crate::config::{Config, Role, Store};
use crate::http::body::{Body, Parameters};
use crate::http::error::ApiError;
use crate::http::idempotency::{Caller, Done, Post, Replayed, idempotent_with};
use crate::http::openapi::operation::{Auth, Operation, Types};
use crate::http::openapi::{ORDERS, STAFF};
use crate::settlements::{Period, Settlements, SettlementsQuery, respond};
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
        let found = app.storage.snapshot(&id).await?;
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

pub(crate) async fn settlements(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
    headers: HeaderMap,
    Parameters(query): Parameters<SettlementsQuery>,
) -> Result<Response, ApiError> {
    if query.store.is_some() {
        return Err(ApiError::invalid("store", "The key names the store."));
    }
    let period = Period::of(&app, store.id, &query)?;
    Ok(respond(&app, &period, &query, &headers).await?)
}

pub(crate) fn describe_settlements(types: &mut Types) -> Operation {
    Operation::new("list_settlements", ORDERS, Auth::StoreKey)
        .summary(
            "List what came and went back",
            "Of a day, a month or a range of days in the store's `time_zone`, with totals. The CSV has all lines.",
        )
        .query::<SettlementsQuery>(types)
        .responds::<Settlements>(200, "A page of settlements, or all as CSV.", types)
        .or_responds_as(200, "text/csv", &json!({ "type": "string" }))
}

// Links to the pages for a store's staff, as the store's server makes them.

/// How long a link can be opened: 5 minutes, unless the store says 1 to 15.
const DEFAULT_LINK_SECONDS: u32 = 300;
const LINK_SECONDS: std::ops::RangeInclusive<u32> = 60..=900;
/// How long a session lasts: an hour, unless the store says 5 minutes to 12 hours.
const DEFAULT_SESSION_SECONDS: u32 = 3600;
const SESSION_SECONDS: std::ops::RangeInclusive<u32> = 300..=12 * 3600;
const MAX_PERSON_CHARS: usize = 64;
const UNNAMED: &str = "staff";

/// Who gets a link, and for what.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpenStaffLink {
    /// The person's name, which the audit log keeps; `staff` when absent.
    #[schemars(length(min = 1, max = MAX_PERSON_CHARS), extend("examples" = ["Zoë"]))]
    person: Option<String>,
    #[serde(default)]
    role: StaffRole,
    /// How long the link can be opened: 1 to 15 minutes; 5 when absent.
    #[schemars(
        range(min = *LINK_SECONDS.start(), max = *LINK_SECONDS.end()),
        extend("examples" = [DEFAULT_LINK_SECONDS])
    )]
    expires_in_seconds: Option<u32>,
    /// How long the session lasts once the link was opened: 5 minutes to 12 hours; an hour when absent.
    #[schemars(
        range(min = *SESSION_SECONDS.start(), max = *SESSION_SECONDS.end()),
        extend("examples" = [DEFAULT_SESSION_SECONDS])
    )]
    session_seconds: Option<u32>,
}

/// What the person may do.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum StaffRole {
    /// See the store's orders, change nothing.
    #[default]
    Read,
    /// See and decide.
    Write,
}

/// A link for one person.
#[derive(JsonSchema, Serialize)]
pub(crate) struct StaffLink {
    /// The link, for one person's browser alone. It works once.
    #[schemars(extend("format" = "uri"))]
    url: String,
    /// Until when it can be opened.
    #[schemars(extend("format" = "date-time"))]
    expires_at: String,
}

/// What is stored of a request that made a link: nothing, since a replay makes a fresh one.
#[derive(Deserialize, Serialize)]
struct Made {}

struct Wanted {
    access: StaffAccess,
    lifetime: SignedDuration,
}

pub(crate) async fn open_staff_link(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
    Post(Body(wanted), request): Post<Body<OpenStaffLink>>,
) -> Result<(StatusCode, Replayed, Json<StaffLink>), ApiError> {
    let wanted = Arc::new(wanted_link(&store, &wanted)?);
    let caller = Caller::Store(store.id.clone());
    let made = wanted.clone();
    let work = move |app: Arc<AppState>| async move { Ok((Made {}, make(&app, &made).await?)) };
    let done = idempotent_with(&app, request, caller, work).await?;
    let replayed = done.replayed();
    let (token, expires_at) = match done {
        Done::Executed(Made {}, link) => link,
        Done::Replayed(Made {}) => make(&app, &wanted).await?,
    };
    let base = store.config.public_url.base();
    let link = StaffLink {
        url: format!("{base}/staff/open/{}", token.expose()),
        expires_at: expires_at.to_string(),
    };
    Ok((StatusCode::CREATED, replayed, Json(link)))
}

pub(crate) fn describe_open_staff_link(types: &mut Types) -> Operation {
    let example = json!({ "person": "Zoë", "role": "write" });
    Operation::new("open_staff_link", STAFF, Auth::StoreKey)
        .summary(
            "Make a link for a member of the staff",
            "Send the person's browser there. The link works once, and opens the pages of this store alone. A replay answers with a fresh link.",
        )
        .idempotency_key(1)
        .takes::<OpenStaffLink>(types, &example)
        .errors(&[ErrorCode::StaffAccessDenied])
        .responds::<StaffLink>(201, "The link.", types)
}

async fn make(app: &AppState, wanted: &Wanted) -> Result<(Token, Timestamp), ApiError> {
    let token = Token::draw(&*app.random);
    let expires_at = app.now() + wanted.lifetime;
    let storage = &app.storage;
    let added = storage.add_staff_link(token.staff_hash(), &wanted.access, expires_at);
    added.await?;
    Ok((token, expires_at))
}

fn wanted_link(store: &AuthenticatedStore, wanted: &OpenStaffLink) -> Result<Wanted, ApiError> {
    let may_decide = wanted.role == StaffRole::Write;
    match store.store().staff_pages {
        None => return Err(ApiError::NoStaffPages),
        Some(Role::Read) if may_decide => return Err(ApiError::StaffReadOnly),
        Some(Role::Read | Role::Write) => {}
    }
    let person = wanted.person.as_deref().unwrap_or(UNNAMED).trim();
    let is_name = (1..=MAX_PERSON_CHARS).contains(&person.chars().count())
        && !person.chars().any(char::is_control);
    if !is_name {
        let message = "Write the person's name in 1 to 64 characters.";
        return Err(ApiError::invalid("person", message));
    }
    let link = wanted.expires_in_seconds.unwrap_or(DEFAULT_LINK_SECONDS);
    if !LINK_SECONDS.contains(&link) {
        let message = "A link can be opened for 60 to 900 seconds.";
        return Err(ApiError::invalid("expires_in_seconds", message));
    }
    let session = wanted.session_seconds.unwrap_or(DEFAULT_SESSION_SECONDS);
    if !SESSION_SECONDS.contains(&session) {
        let message = "A session lasts 300 to 43200 seconds.";
        return Err(ApiError::invalid("session_seconds", message));
    }
    Ok(Wanted {
        access: StaffAccess {
            store: store.id.clone(),
            secret_key: store.key_digest,
            person: person.to_owned(),
            may_decide,
            session: SignedDuration::from_secs(i64::from(session)),
        },
        lifetime: SignedDuration::from_secs(i64::from(link)),
    })
}
