//! GET /v1/orders and GET /v1/orders/{id}.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use ledger::{OrderFilter, OrderId, OrderRecord, OrderStatus, Reference};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MAX_PAGE, Merchant, page_size};
use crate::app::App;
use crate::http::error::ApiError;

/// Which orders.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// Only the order of this reference.
    #[schemars(regex(pattern = "^[A-Za-z0-9_.:-]{1,64}$"))]
    reference: Option<String>,
    /// Only orders that stand here.
    #[schemars(with = "Option<checkout_api::Status>")]
    status: Option<String>,
    /// The `next` of the page before: only what is older than this order.
    #[schemars(regex(pattern = "^ord_[0-9a-f]{32}$"))]
    after: Option<String>,
    /// At most so many; 20 when absent.
    #[schemars(range(min = 1, max = MAX_PAGE))]
    limit: Option<u32>,
}

/// A page of orders, newest first.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "OrderPage")]
pub(crate) struct Page {
    orders: Vec<OrderRecord>,
    /// What to pass as `after` for the next page; absent on the last.
    next: Option<String>,
}

/// One order.
pub(crate) async fn order(
    State(app): State<Arc<App>>,
    merchant: Merchant,
    Path(id): Path<String>,
) -> Result<Json<OrderRecord>, ApiError> {
    Ok(Json(OrderRecord::of(&merchant.order(&app, &id).await?)))
}

/// A page of orders.
pub(crate) async fn orders(
    State(app): State<Arc<App>>,
    merchant: Merchant,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Json<Page>, ApiError> {
    let Query(wanted) = wanted.map_err(|error| ApiError::field("query", &error.body_text()))?;
    let filter = filter(&wanted)?;
    if let Some(after) = &filter.after {
        let unknown = |_| ApiError::field("after", "The store has no such order.");
        merchant
            .order(&app, after.as_str())
            .await
            .map_err(unknown)?;
    }
    let found = app.parts.ledger.orders(&merchant.0, &filter).await?;
    let is_full = found.len() == filter.limit as usize;
    let next = found
        .last()
        .filter(|_| is_full)
        .map(|last| last.order.id.to_string());
    Ok(Json(Page {
        orders: found.iter().map(OrderRecord::of).collect(),
        next,
    }))
}

fn filter(wanted: &Wanted) -> Result<OrderFilter, ApiError> {
    let refuse = |field: &'static str| {
        move |error: ledger::InvalidId| ApiError::field(field, &error.to_string())
    };
    let status = wanted.status.as_deref().map(|word| {
        let unknown = || ApiError::field("status", "There is no such status.");
        OrderStatus::parse(word).ok_or_else(unknown)
    });
    let reference = wanted
        .reference
        .as_deref()
        .map(Reference::parse)
        .transpose();
    let after = wanted.after.as_deref().map(OrderId::parse).transpose();
    Ok(OrderFilter {
        reference: reference.map_err(refuse("reference"))?,
        status: status.transpose()?,
        after: after.map_err(refuse("after"))?,
        limit: page_size(wanted.limit)?,
    })
}
