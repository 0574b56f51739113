//! GET /v1/orders/{id}/receipt and POST /v1/receipts/verify: receipts as the store sees them.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use checkout_api::SignedReceipt;
use ledger::OrderRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Merchant;
use crate::app::App;
use crate::http::body::Body;
use crate::http::checkout::receipt::receipt_of;
use crate::http::error::ApiError;
use crate::receipt::Shown;

/// What somebody shows as a receipt.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Presented {
    /// The token, or the printed code.
    receipt: String,
}

/// Whether it is one.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Verified {
    /// Whether it is genuine.
    valid: bool,
    /// The order as it stands; absent when the receipt is not genuine.
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<OrderRecord>,
}

/// The receipt of one of the store's orders.
pub(crate) async fn receipt(
    State(app): State<Arc<App>>,
    merchant: Merchant,
    Path(id): Path<String>,
) -> Result<Json<SignedReceipt>, ApiError> {
    let snapshot = merchant.order(&app, &id).await?;
    receipt_of(&app, merchant.store(&app), &snapshot)
}

/// Says whether a receipt is genuine. One that was forged, is another store's, or was never one, is all the same.
pub(crate) async fn verify(
    State(app): State<Arc<App>>,
    merchant: Merchant,
    Body(presented): Body<Presented>,
) -> Result<Json<Verified>, ApiError> {
    let order = match Shown::parse(&presented.receipt) {
        None => None,
        Some(shown) => {
            let found = app.parts.ledger.snapshot(shown.order()).await?;
            let store = merchant.store(&app);
            found.filter(|order| {
                order.order.terms.store_id == merchant.0
                    && shown.is_genuine(&app.config, store, order)
            })
        }
    };
    Ok(Json(Verified {
        valid: order.is_some(),
        order: order.as_ref().map(OrderRecord::of),
    }))
}
