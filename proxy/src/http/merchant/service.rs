//! `/v1/service/…`: the service's own endpoints for the store's server, signed here and passed through as JSON.
//!
//! The account at the service is one for all stores of a proxy. So what changes it, and what tells of it, is for stores
//! with `service_access` alone; a store that is a merchant of a platform acts for that merchant and no other. See
//! docs/adr/0009-the-account-is-shared.md.

pub(in crate::http) mod invoice;
mod refusal;

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use checkout_api::ErrorCode;
use service_api::{Endpoint, Passage};

use self::refusal::{not_passed_on, refused};
use super::Merchant;
use crate::app::App;
use crate::config::Store;
use crate::http::body::JsonText;
use crate::http::error::ApiError;

/// GET /v1/service/currencies: every store may know what the service supports.
pub(crate) async fn currencies(
    State(app): State<Arc<App>>,
    _: Merchant,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let query = query.unwrap_or_default();
    let passage =
        Passage::new(Endpoint::Currencies, &query, None).map_err(|error| not_passed_on(&error))?;
    pass(&app, passage, false).await
}

/// POST /v1/service/preferences: adds a settlement wallet.
pub(crate) async fn add_preferences(
    State(app): State<Arc<App>>,
    merchant: Merchant,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    tell(&app, &merchant, Endpoint::AddPreferences, &body).await
}

/// PUT /v1/service/preferences: updates a settlement wallet.
pub(crate) async fn update_preferences(
    State(app): State<Arc<App>>,
    merchant: Merchant,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    tell(&app, &merchant, Endpoint::UpdatePreferences, &body).await
}

/// POST /v1/service/aggregator/merchants: onboards a merchant of the platform.
pub(crate) async fn onboard_merchant(
    State(app): State<Arc<App>>,
    merchant: Merchant,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    tell(&app, &merchant, Endpoint::OnboardMerchant, &body).await
}

/// GET /v1/service/merchant/account: where KYC documents are stored.
pub(crate) async fn merchant_account(
    State(app): State<Arc<App>>,
    merchant: Merchant,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let endpoint = Endpoint::MerchantAccount;
    let store = permitted(&app, &merchant, endpoint)?;
    let passage = Passage::new(endpoint, &query.unwrap_or_default(), None);
    let passage = for_its_merchant(
        store,
        endpoint,
        passage.map_err(|error| not_passed_on(&error))?,
    )?;
    pass(&app, passage, false).await
}

/// PUT /v1/service/settings: updates the merchant's profile.
pub(crate) async fn update_settings(
    State(app): State<Arc<App>>,
    merchant: Merchant,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    tell(&app, &merchant, Endpoint::UpdateSettings, &body).await
}

/// Passes on what changes something. Who changes the account is written down: wallets are where the money goes.
async fn tell(
    app: &Arc<App>,
    merchant: &Merchant,
    endpoint: Endpoint,
    body: &str,
) -> Result<Response, ApiError> {
    let store = permitted(app, merchant, endpoint)?;
    let passage = Passage::new(endpoint, "", Some(body)).map_err(|error| not_passed_on(&error))?;
    let passage = for_its_merchant(store, endpoint, passage)?;
    tracing::info!(store = %store.id, ?endpoint, "a store changes the account at the payment service");
    pass(app, passage, true).await
}

fn permitted<'a>(
    app: &'a App,
    merchant: &Merchant,
    endpoint: Endpoint,
) -> Result<&'a Store, ApiError> {
    let store = merchant.store(app);
    let denied = |message| Err(ApiError::new(ErrorCode::ServiceAccessDenied, message));
    if !store.service_access {
        return denied(
            "The account at the payment service belongs to all stores of this proxy together. If this \
             store may act for all of them, the operator sets its `service_access = true`.",
        );
    }
    if endpoint == Endpoint::OnboardMerchant && store.merchant_id.is_some() {
        return denied(
            "This store is one merchant of a platform and onboards no other. The operator does it: \
             florin-proxy service onboard-merchant.",
        );
    }
    Ok(store)
}

fn for_its_merchant(
    store: &Store,
    endpoint: Endpoint,
    passage: Passage,
) -> Result<Passage, ApiError> {
    match &store.merchant_id {
        Some(id) if endpoint.is_about_a_merchant() => passage
            .for_merchant(id)
            .map_err(|error| not_passed_on(&error)),
        _ => Ok(passage),
    }
}

/// Passes a call on, to its end even when the store goes away meanwhile, and answers what came, as it came.
async fn pass(
    app: &Arc<App>,
    passage: Passage,
    changes_something: bool,
) -> Result<Response, ApiError> {
    let app = app.clone();
    let passed = tokio::spawn(async move { app.parts.service.pass(&passage).await });
    let passed = passed.await.map_err(|error| ApiError::internal(&error))?;
    let json = passed.map_err(|error| refused(&error, changes_something))?;
    let content_type = HeaderValue::from_static("application/json");
    Ok(([(CONTENT_TYPE, content_type)], json).into_response())
}
