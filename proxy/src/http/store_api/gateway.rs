//! `/v1/gateway/…`: the gateway's own endpoints for the store's server, signed here and passed through as JSON.
//!
//! All stores of a proxy share one account at the gateway. So endpoints that change or show it are for stores with
//! `gateway_access` alone; a store that is a merchant of a platform acts for that merchant and no other. See
//! docs/adr/0009-the-account-is-shared.md.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{RawQuery, State};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use florin_checkout_api::ErrorCode;
use florin_gateway_client::{CallError, Endpoint, InvoiceId, RawRequest};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::config::Store;
use crate::http::body::{JsonText, Parameters};
use crate::http::error::ApiError;
use crate::http::idempotency::{Caller, Post, RequestIdentity, idempotent};
use crate::http::openapi::GATEWAY;
use crate::http::openapi::operation::{Auth, Operation, Types};
use crate::http::store_api::AuthenticatedStore;
use crate::payments::error::log_rejection;
use crate::state::AppState;
use crate::trace;

pub(crate) async fn currencies(
    State(app): State<Arc<AppState>>,
    _: AuthenticatedStore,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let query = query.unwrap_or_default();
    let request = RawRequest::new(Endpoint::Currencies, &query, None)?;
    Ok(as_json(pass(&app, request, false).await?))
}

pub(crate) fn describe_currencies(_: &mut Types) -> Operation {
    forwarded(
        "list_currencies",
        "What the gateway supports",
        "GET /currencies of the gateway. Any query is passed on.",
    )
    .errors(&[ErrorCode::InvalidRequest])
}

pub(crate) async fn add_preferences(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
    Post(JsonText(body), request): Post<JsonText>,
) -> Result<Response, ApiError> {
    change_once(&app, store, Endpoint::AddPreferences, body, request).await
}

pub(crate) fn describe_add_preferences(_: &mut Types) -> Operation {
    change_of_account(
        "add_preferences",
        "Add a settlement wallet",
        "POST /preferences of the gateway.",
    )
    .idempotency_key(1)
}

pub(crate) async fn update_preferences(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    let json = change(&app, &store, Endpoint::UpdatePreferences, &body).await?;
    Ok(as_json(json))
}

pub(crate) fn describe_update_preferences(_: &mut Types) -> Operation {
    change_of_account(
        "update_preferences",
        "Update a settlement wallet",
        "PUT /preferences of the gateway.",
    )
}

pub(crate) async fn onboard_merchant(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
    Post(JsonText(body), request): Post<JsonText>,
) -> Result<Response, ApiError> {
    change_once(&app, store, Endpoint::OnboardMerchant, body, request).await
}

pub(crate) fn describe_onboard_merchant(_: &mut Types) -> Operation {
    change_of_account(
        "onboard_merchant",
        "Onboard a merchant of a platform",
        "POST /aggregator/merchants of the gateway. A store with a `merchant_id` may not.",
    )
    .idempotency_key(1)
}

pub(crate) async fn merchant_account(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let endpoint = Endpoint::MerchantAccount;
    let store = permitted(&store, endpoint)?;
    let request = RawRequest::new(endpoint, &query.unwrap_or_default(), None);
    let request = for_its_merchant(store, endpoint, request?)?;
    Ok(as_json(pass(&app, request, false).await?))
}

pub(crate) fn describe_merchant_account(_: &mut Types) -> Operation {
    forwarded(
        "show_merchant_account",
        "Where KYC documents are stored",
        "GET /merchant/account of the gateway. Any query is passed on.",
    )
    .errors(&[ErrorCode::InvalidRequest, ErrorCode::GatewayAccessDenied])
}

pub(crate) async fn update_settings(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
    JsonText(body): JsonText,
) -> Result<Response, ApiError> {
    let json = change(&app, &store, Endpoint::UpdateSettings, &body).await?;
    Ok(as_json(json))
}

pub(crate) fn describe_update_settings(_: &mut Types) -> Operation {
    change_of_account(
        "update_settings",
        "Update a merchant's profile",
        "PUT /settings of the gateway.",
    )
}

/// Forwards a POST that changes the account, once for each key.
async fn change_once(
    app: &Arc<AppState>,
    store: AuthenticatedStore,
    endpoint: Endpoint,
    body: String,
    request: RequestIdentity,
) -> Result<Response, ApiError> {
    let caller = Caller::Store(store.id.clone());
    let done = idempotent(app, request, caller, move |app| async move {
        change(&app, &store, endpoint, &body).await
    })
    .await?;
    Ok((done.replayed(), as_json(done.into_result())).into_response())
}

/// Forwards a call that changes the account. The log names the store: wallets decide where the money goes.
async fn change(
    app: &Arc<AppState>,
    store: &AuthenticatedStore,
    endpoint: Endpoint,
    body: &str,
) -> Result<String, ApiError> {
    let store = permitted(store, endpoint)?;
    let request = RawRequest::new(endpoint, "", Some(body))?;
    let request = for_its_merchant(store, endpoint, request)?;
    tracing::info!(store = %store.id, %endpoint, "store changes the account at the gateway");
    pass(app, request, true).await
}

fn permitted(store: &AuthenticatedStore, endpoint: Endpoint) -> Result<&Store, ApiError> {
    let store = store.store();
    if !store.gateway_access {
        return Err(ApiError::AccountShared);
    }
    if endpoint == Endpoint::OnboardMerchant && store.merchant_id.is_some() {
        return Err(ApiError::OnboardingDenied);
    }
    Ok(store)
}

fn for_its_merchant(
    store: &Store,
    endpoint: Endpoint,
    request: RawRequest,
) -> Result<RawRequest, ApiError> {
    match &store.merchant_id {
        Some(id) if endpoint.is_about_a_merchant() => Ok(request.for_merchant(id)?),
        _ => Ok(request),
    }
}

/// Passes a call on, to its end even when the store goes away meanwhile, and answers what came, as it came.
async fn pass(
    app: &Arc<AppState>,
    request: RawRequest,
    changes_something: bool,
) -> Result<String, ApiError> {
    let app = app.clone();
    let passed = async move { app.gateway.forward(&request).await };
    let passed = tokio::spawn(trace::inherited(passed));
    let passed = passed.await?;
    passed.map_err(|error| failed(error, changes_something))
}

fn as_json(json: String) -> Response {
    let content_type = HeaderValue::from_static("application/json");
    ([(CONTENT_TYPE, content_type)], json).into_response()
}

/// Which invoice.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InvoiceQuery {
    /// The gateway's id of an invoice or a hosted session that one of the store's orders has or had.
    #[schemars(regex(pattern = "^[!-~]{1,128}$"))]
    id: String,
    /// `true` for the transaction history as well.
    #[serde(default)]
    hist: bool,
}

/// Asks about an invoice. That of another store is treated as not found.
pub(crate) async fn invoice(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
    Parameters(wanted): Parameters<InvoiceQuery>,
) -> Result<Response, ApiError> {
    let id = InvoiceId::parse(&wanted.id).map_err(|_| ApiError::NoSuchInvoice)?;
    let known = florin_orders::InvoiceId::parse(&wanted.id).map_err(|_| ApiError::NoSuchInvoice)?;
    let owner = app.storage.store_of_invoice(&known).await?;
    if owner != Some(store.id) {
        return Err(ApiError::NoSuchInvoice);
    }
    let request = RawRequest::invoice(&id, wanted.hist);
    Ok(as_json(pass(&app, request, false).await?))
}

pub(crate) fn describe_invoice(types: &mut Types) -> Operation {
    forwarded("show_invoice", "What the gateway says of an invoice", "GET /invoice of the gateway, of an invoice of one of the store's own orders. It changes nothing here.").query::<InvoiceQuery>(types).errors(&[ErrorCode::NotFound])
}

/// A call without a success. The gateway's own words go along, except about what is between the operator and the gateway.
fn failed(error: CallError, changes_something: bool) -> ApiError {
    log_rejection(&error, "a store's call of the gateway failed");
    match error {
        CallError::Refused { status: 401, .. } => ApiError::ForwardUnauthorized,
        CallError::Refused { status, error } => ApiError::ForwardRefused { status, error },
        CallError::RateLimited { retry_after }
        | CallError::CircuitOpen { retry_after }
        | CallError::OutOfBudget { retry_after } => ApiError::ForwardUnavailable { retry_after },
        CallError::NotSent(_) | CallError::NoLimits(_) => ApiError::ForwardUnavailable {
            retry_after: Duration::from_secs(5),
        },
        CallError::Ambiguous(_) | CallError::Broken { .. } if changes_something => {
            ApiError::ForwardAmbiguous
        }
        CallError::Ambiguous(_) | CallError::Broken { .. } => ApiError::ForwardFailed,
    }
}

/// What changes the account is for stores with `gateway_access` alone.
fn change_of_account(
    id: &'static str,
    summary: &'static str,
    description: &'static str,
) -> Operation {
    let anything =
        json!({ "description": "The gateway's own shape.", "additionalProperties": true });
    forwarded(id, summary, description)
        .takes_json(&anything, &json!({}))
        .errors(&[ErrorCode::GatewayAccessDenied])
}

fn forwarded(id: &'static str, summary: &'static str, description: &'static str) -> Operation {
    let anything = json!({ "description": "As the gateway wrote it." });
    let response = "What the gateway answered.";
    Operation::new(id, GATEWAY, Auth::StoreKey)
        .summary(summary, description)
        .errors(&[
            ErrorCode::GatewayRefused,
            ErrorCode::GatewayFailed,
            ErrorCode::GatewayUnavailable,
        ])
        .responds_as(200, response, "application/json", &anything)
}
