//! POST /v1/checkout/attempt: pay in this asset, at the price that was shown.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use checkout_api::{OpenAttempt, OrderView};

use super::{Holder, again, view_of};
use crate::app::App;
use crate::attempting;
use crate::http::body::Body;
use crate::http::error::ApiError;

/// Opens an attempt and answers with the order: with its invoice, or blocked when the invoice did not pass our checks.
pub(crate) async fn attempt(
    State(app): State<Arc<App>>,
    Holder(snapshot): Holder,
    Body(chosen): Body<OpenAttempt>,
) -> Result<Json<OrderView>, ApiError> {
    attempting::open(
        &app,
        snapshot.clone(),
        &chosen.crypto_code,
        &chosen.quote_id,
    )
    .await?;
    Ok(Json(view_of(&app, &again(&app, &snapshot).await?)?))
}
