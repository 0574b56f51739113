//! POST /v1/orders/{id}/cancel: only while nothing was paid.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use checkout_api::ErrorCode;
use ledger::{BeginError, OrderRecord};

use super::Merchant;
use crate::app::App;
use crate::http::error::ApiError;

/// Cancels an order. A payment that is on its way all the same is still found and told.
pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    merchant: Merchant,
    Path(id): Path<String>,
) -> Result<Json<OrderRecord>, ApiError> {
    let order = merchant.order(&app, &id).await?.order.id;
    let cancelled = app.parts.ledger.cancel_order(&order, app.now()).await;
    let cancelled = cancelled.map_err(|error| match error {
        BeginError::Ledger(error) => ApiError::from(error),
        BeginError::NoOrder(_) => ApiError::not_found(),
        BeginError::Closed { .. } | BeginError::InProgress | BeginError::TooMany => {
            let message = "Money has been seen for this order: it cannot be cancelled any more.";
            ApiError::new(ErrorCode::OrderClosed, message)
        }
    })?;
    app.order_changed(&order);
    Ok(Json(OrderRecord::of(&cancelled)))
}
