//! GET /v1/checkout: the order as it stands.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header::{ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};

use super::{Holder, hurry, view_of};
use crate::app::App;
use crate::http::error::ApiError;
use crate::view::etag;

/// Shows the order, or says that nothing changed since the tag that the browser holds.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Holder(snapshot): Holder,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    hurry(&app, &snapshot).await?;
    let tag = etag(&snapshot, app.is_delayed(), app.now());
    let known = headers
        .get(IF_NONE_MATCH)
        .is_some_and(|given| given.as_bytes() == tag.as_bytes());
    if known {
        return Ok((StatusCode::NOT_MODIFIED, [(ETAG, tag)]).into_response());
    }
    Ok(([(ETAG, tag)], Json(view_of(&app, &snapshot)?)).into_response())
}
