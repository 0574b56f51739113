//! The gateway's API, below `/api`, as its specification describes it.

mod auth;
mod invoices;
pub(crate) mod request;

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Json, Router};
use serde_json::Value;

use self::request::ApiError;
use crate::state::Sandbox;
use request::{Call, Endpoint, Outcome};

/// Routes for [`crate::faults::layer`], which reads the call.
pub(crate) fn routes() -> Router<Arc<Sandbox>> {
    Router::new()
        .route("/api", any(serve))
        .route("/api/{*path}", any(serve))
}

async fn serve(
    State(sandbox): State<Arc<Sandbox>>,
    Extension(call): Extension<Arc<Call>>,
) -> Response {
    match handle(&sandbox, &call) {
        Ok((endpoint, body)) => {
            let outcome = Outcome {
                endpoint: Some(endpoint),
                ..Outcome::default()
            };
            (Extension(outcome), Json(body)).into_response()
        }
        Err(error) => {
            let status = error.code.status();
            let body =
                if call.endpoint == Some(Endpoint::Checkout) && status == StatusCode::BAD_REQUEST {
                    error.checkout_body()
                } else {
                    error.body()
                };
            let outcome = Outcome {
                endpoint: None,
                code: Some(error.code.as_str()),
                message: Some(error.message),
            };
            (status, Extension(outcome), Json(body)).into_response()
        }
    }
}

fn handle(sandbox: &Sandbox, call: &Call) -> Result<(Endpoint, Value), ApiError> {
    let endpoint = call.endpoint.ok_or_else(|| ApiError::no_endpoint(call))?;
    auth::authenticate(sandbox, call, endpoint)?;
    let settings = &sandbox.settings;
    let body = sandbox.update(|state, now| match endpoint {
        Endpoint::Prices => Ok(invoices::list_prices(&mut state.prices, now)),
        Endpoint::Currencies => Ok(invoices::list_currencies(&state.prices)),
        Endpoint::CreateInvoice => invoices::create(state, call, now),
        Endpoint::Invoice => invoices::read(state, call, now),
        Endpoint::Confirm => invoices::confirm(settings, state, call),
        Endpoint::Checkout => invoices::open(sandbox, state, call, now),
        Endpoint::AddPreference => state.accounts.add_wallet(&state.prices, call),
        Endpoint::ChangePreference => state.accounts.change_wallet(&state.prices, call),
        Endpoint::OnboardMerchant => state.accounts.onboard(call),
        Endpoint::MerchantAccount => crate::account::upload_url(&sandbox.public_url, call),
        Endpoint::ChangeSettings => state.accounts.change_settings(call),
    })?;
    Ok((endpoint, body))
}
