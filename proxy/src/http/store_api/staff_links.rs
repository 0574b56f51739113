//! Links to the pages for a store's staff, as the store's server makes them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use florin_checkout_api::ErrorCode;
use florin_storage::StaffAccess;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::auth::token::Token;
use crate::config::Role;
use crate::http::body::Body;
use crate::http::error::ApiError;
use crate::http::idempotency::{Caller, Done, Post, Replayed, idempotent_with};
use crate::http::openapi::information::STAFF;
use crate::http::openapi::operation::{Auth, Operation};
use crate::http::openapi::types::Types;
use crate::http::store_api::AuthenticatedStore;
use crate::state::AppState;

/// How long a link can be opened: 5 minutes, unless the store says 1 to 15.
const DEFAULT_LINK_SECONDS: u32 = 300;
const LINK_SECONDS: std::ops::RangeInclusive<u32> = 60..=900;
/// How long a session lasts: an hour, unless the store says 5 minutes to 12 hours.
const DEFAULT_SESSION_SECONDS: u32 = 3600;
const SESSION_SECONDS: std::ops::RangeInclusive<u32> = 300..=12 * 3600;
/// Characters of a name.
const MAX_PERSON_CHARS: usize = 64;
/// The name of a person that the store leaves unnamed.
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

/// `POST /v1/staff_links`: makes a link to the pages for the store's staff.
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
    let token = Token::draw(&*app.deps.random);
    let expires_at = app.now() + wanted.lifetime;
    let storage = &app.deps.storage;
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
