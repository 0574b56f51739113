//! The operator's JSON API, for the command line and for scripts.
//!
//! An operator's token authenticates it, not a password: a token is random, so that guessing it needs no lock-out and checking it
//! no slow hash; it opens no page, and it is withdrawn without a new password. No cookie is read here, so that no page in a
//! browser can send these requests.

pub(crate) mod deliveries;
pub(crate) mod orders;
pub(crate) mod records;

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use florin_storage::Actor;
use headers::authorization::Bearer;
use headers::{Authorization, HeaderMapExt as _};

use crate::admin::error::OperatorError;
use crate::auth::operator::by_token;
use crate::config::{Config, Operator, Role};
use crate::state::AppState;

/// Page sizes: the largest, and the default.
const MAX_PAGE: u32 = 100;
const DEFAULT_PAGE: u32 = 20;
/// Characters of a reason.
const MAX_REASON: usize = 500;
/// Characters of a search.
const MAX_SEARCH: usize = 200;

pub(crate) struct Reader;

pub(crate) struct Writer(pub(crate) Actor);

fn operator<'a>(parts: &Parts, config: &'a Config) -> Result<&'a Operator, OperatorError> {
    let token = parts.headers.typed_get::<Authorization<Bearer>>();
    let token = token.ok_or(OperatorError::Unauthorized)?;
    by_token(&config.operators, token.token()).ok_or(OperatorError::Unauthorized)
}

impl FromRequestParts<Arc<AppState>> for Reader {
    type Rejection = OperatorError;

    async fn from_request_parts(
        parts: &mut Parts,
        app: &Arc<AppState>,
    ) -> Result<Self, OperatorError> {
        operator(parts, &app.config())?;
        Ok(Self)
    }
}

impl FromRequestParts<Arc<AppState>> for Writer {
    type Rejection = OperatorError;

    async fn from_request_parts(
        parts: &mut Parts,
        app: &Arc<AppState>,
    ) -> Result<Self, OperatorError> {
        let config = app.config();
        let operator = operator(parts, &config)?;
        let name = operator.name.clone();
        match operator.role {
            Role::Write => Ok(Self(Actor::operator(name))),
            Role::Read => Err(OperatorError::ReadOnly(name)),
        }
    }
}

pub(crate) fn page_size(limit: Option<u32>) -> Result<u32, OperatorError> {
    match limit.unwrap_or(DEFAULT_PAGE) {
        size @ 1..=MAX_PAGE => Ok(size),
        _ => Err(OperatorError::invalid("limit", "ask for 1 to 100 at once")),
    }
}

/// The text of a search; `None` for an empty one.
pub(crate) fn search_text(text: Option<&str>) -> Result<Option<String>, OperatorError> {
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    let Some(text) = text else {
        return Ok(None);
    };
    if text.chars().count() > MAX_SEARCH || text.chars().any(char::is_control) {
        let message = "write up to 200 characters on one line";
        return Err(OperatorError::invalid("q", message));
    }
    Ok(Some(text.to_owned()))
}

pub(crate) fn reason(text: &str) -> Result<String, OperatorError> {
    let text = text.trim();
    let is_short = (1..=MAX_REASON).contains(&text.chars().count());
    let is_plain = !text
        .chars()
        .any(|c| c.is_control() && c != '\n' && c != '\r');
    if is_short && is_plain {
        return Ok(text.to_owned());
    }
    let message = "write why, in 1 to 500 characters: the audit log keeps it";
    Err(OperatorError::invalid("reason", message))
}
