//! GET /v1/checkout/donation: what a page needs to ask its customer for an amount.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use checkout_api::{DonationView, ErrorCode};
use money::Amount;
use schemars::JsonSchema;
use serde::Deserialize;

use super::open::store_of_page;
use crate::app::App;
use crate::config::{Donation, Store};
use crate::http::error::ApiError;
use crate::view::store_view;

/// Which donation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// The store's id.
    store: String,
    /// The donation's `id`.
    donation: String,
}

/// Describes a declared donation.
pub(crate) async fn donation(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Json<DonationView>, ApiError> {
    let Query(wanted) = wanted.map_err(|error| ApiError::field("query", &error.body_text()))?;
    let store = store_of_page(&app, &wanted.store, &headers)?;
    let donation = declared(store, &wanted.donation)?;
    let padded = |amount: Amount| amount.padded(store.currency.decimals()).to_text();
    Ok(Json(DonationView {
        environment: app.config.environment,
        store: store_view(store),
        title: donation.title.clone(),
        currency: store.currency.to_string(),
        min: padded(donation.min),
        max: padded(donation.max),
        suggested: donation.suggested.iter().copied().map(padded).collect(),
    }))
}

/// The donation that a store declared under this id.
///
/// # Errors
/// [`ErrorCode::UnknownDonation`].
pub(super) fn declared<'a>(store: &'a Store, id: &str) -> Result<&'a Donation, ApiError> {
    store.donation(id).ok_or_else(|| {
        let message = "The shop does not take this donation. Go back to the shop and choose again.";
        ApiError::new(ErrorCode::UnknownDonation, message)
    })
}
