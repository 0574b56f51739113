//! POST /v1/checkout/session: another session on the service's page, after the last one ran out or was closed.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use checkout_api::{ErrorCode, OrderView};
use ledger::Flow;

use super::{Holder, again, view_of};
use crate::app::App;
use crate::hosting;
use crate::http::error::ApiError;

/// Answers with the order and the address of its page: the live session's, or that of a new one.
pub(crate) async fn session(
    State(app): State<Arc<App>>,
    Holder(snapshot): Holder,
) -> Result<Json<OrderView>, ApiError> {
    if snapshot.order.terms.flow == Flow::Custom {
        let message = "This order is paid here: choose an asset.";
        return Err(ApiError::new(ErrorCode::OtherFlow, message));
    }
    hosting::open(&app, &snapshot).await?;
    Ok(Json(view_of(&app, &again(&app, &snapshot).await?)?))
}
