//! The hosted checkout: the service's own page, to which POST /checkout sends the customer.
//!
//! | path | does |
//! |---|---|
//! | GET `/checkout?id=` | the page: full, or in a frame of 1270 × 740 |
//! | GET `/checkout/session?id=` | what the page shows |
//! | POST `/checkout/choose` | `{"id", "crypto_code", "amount"?}`: the QR code is shown |
//! | POST `/checkout/pay` | `{"id"}`: a wallet on this page pays exactly |
//! | POST `/checkout/close` | `{"id"}`: the page is closed; before the QR code that means CANCELLED |
//!
//! Source: payment-service.md, "POST /checkout" and "Limits" for the frame's size.

mod choose;
mod close;
mod pay;
mod qr;
mod view;

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::json;

use crate::page::file;
use crate::state::Sandbox;

/// Nothing inline, nothing from elsewhere; any shop may frame it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *";

pub(crate) fn routes() -> Router<Arc<Sandbox>> {
    const HTML: &str = include_str!("hosted/checkout.html");
    const CSS: &str = include_str!("hosted/checkout.css");
    const JS: &str = include_str!("hosted/checkout.js");
    Router::new()
        .route(
            "/checkout",
            get(async || file(POLICY, "text/html; charset=utf-8", HTML)),
        )
        .route(
            "/checkout/checkout.css",
            get(async || file(POLICY, "text/css; charset=utf-8", CSS)),
        )
        .route(
            "/checkout/checkout.js",
            get(async || file(POLICY, "text/javascript; charset=utf-8", JS)),
        )
        .route("/checkout/session", get(view::show))
        .route("/checkout/choose", post(choose::choose))
        .route("/checkout/pay", post(pay::pay))
        .route("/checkout/close", post(close::close))
}

/// Why the page did not get what it asked for: a status and a sentence for the customer.
#[derive(Debug)]
struct Refusal(StatusCode, String);

impl Refusal {
    fn no_session() -> Self {
        Self(
            StatusCode::NOT_FOUND,
            "There is no such checkout. Go back to the shop and start again.".to_owned(),
        )
    }

    fn bad_request(sentence: impl Into<String>) -> Self {
        Self(StatusCode::BAD_REQUEST, sentence.into())
    }

    fn conflict(sentence: impl Into<String>) -> Self {
        Self(StatusCode::CONFLICT, sentence.into())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0, Json(json!({"error": self.1}))).into_response()
    }
}

/// Reads a JSON body, whatever its content type says: a closing page sends it as plain text.
fn read<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| {
        Refusal::bad_request(format!("The body is not what is taken here: {error}."))
    })
}
