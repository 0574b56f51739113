//! The developer's side, below `/sandbox`: no signature, plain JSON, every refusal a sentence.
//!
//! A fault of the developer's own request is answered here and never shows in the service's answers.

mod api;
mod callbacks;
mod chains;
mod faults;
mod invoices;
mod journal;
mod next_invoice;
mod open_invoice;
mod pay;
mod prices;
mod requests;
mod reset;
mod rules;
mod scenario;
mod sessions;
mod time;
mod walk;
mod world;

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::state::Sandbox;

pub(crate) fn routes() -> Router<Arc<Sandbox>> {
    verbs()
        .route("/sandbox/scenarios", get(scenario::list))
        .route("/sandbox/scenario", post(scenario::play))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
}

/// What a step of a scenario can do: all but to play another one.
fn verbs() -> Router<Arc<Sandbox>> {
    Router::new()
        .route("/sandbox/api", get(api::list))
        .route(
            "/sandbox/invoices",
            get(invoices::list).post(open_invoice::open),
        )
        .route("/sandbox/invoices/{id}/pay", post(pay::pay))
        .route("/sandbox/invoices/{id}/unstick", post(invoices::unstick))
        .route("/sandbox/invoices/{id}/replace", post(invoices::replace))
        .route("/sandbox/invoices/{id}/expire", post(invoices::expire))
        .route("/sandbox/invoices/{id}/fail", post(invoices::fail))
        .route(
            "/sandbox/invoices/{id}/address",
            post(invoices::report_address),
        )
        .route("/sandbox/invoices/{id}/record", post(invoices::lie))
        .route("/sandbox/next-invoice", post(next_invoice::lie))
        .route(
            "/sandbox/sessions",
            get(sessions::list).post(sessions::open),
        )
        .route("/sandbox/sessions/{id}/close", post(sessions::close))
        .route("/sandbox/chains", get(chains::list))
        .route("/sandbox/mine", post(chains::mine))
        .route("/sandbox/auto-mine", post(chains::mine_every))
        .route("/sandbox/reorg", post(chains::reorganize))
        .route("/sandbox/prices", get(prices::list).post(prices::set))
        .route("/sandbox/prices/lapse", post(prices::lapse))
        .route("/sandbox/walk", get(walk::show).post(walk::change))
        .route("/sandbox/time", get(time::show).post(time::change))
        .route("/sandbox/rules", get(rules::show).post(rules::change))
        .route(
            "/sandbox/faults",
            get(faults::list).post(faults::plan).delete(faults::clear),
        )
        .route("/sandbox/faults/{number}", delete(faults::forget))
        .route("/sandbox/callbacks", post(callbacks::forge))
        .route("/sandbox/reset", post(reset::reset))
        .route("/sandbox/requests", get(requests::list))
        .route("/sandbox/requests/{number}", get(requests::show))
        .route("/sandbox/journal", get(journal::list))
        .route("/sandbox/world", get(world::show))
}

/// No request of the control API comes near this.
const MAX_BODY_BYTES: usize = 256 * 1024;

/// For every path and method that leads nowhere.
pub(crate) async fn nothing_here(method: Method, uri: Uri) -> Response {
    let sentence = format!(
        "The sandbox has no {method} {}: see /sandbox/api.",
        uri.path()
    );
    ControlError::NotFound(sentence).into_response()
}

/// Why the control API did not do it.
#[derive(Debug)]
enum ControlError {
    /// 400: the request makes no sense.
    BadRequest(String),
    /// 404: there is no such invoice, or no such endpoint.
    NotFound(String),
    /// 409: not in this state.
    Conflict(String),
}

impl ControlError {
    /// The refusal of another verb, handed on.
    fn of(status: StatusCode, sentence: String) -> Self {
        match status {
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => Self::NotFound(sentence),
            StatusCode::CONFLICT => Self::Conflict(sentence),
            _ => Self::BadRequest(sentence),
        }
    }
}

impl IntoResponse for ControlError {
    fn into_response(self) -> Response {
        let (status, sentence) = match self {
            Self::BadRequest(sentence) => (StatusCode::BAD_REQUEST, sentence),
            Self::NotFound(sentence) => (StatusCode::NOT_FOUND, sentence),
            Self::Conflict(sentence) => (StatusCode::CONFLICT, sentence),
        };
        (status, Json(json!({"error": sentence}))).into_response()
    }
}

/// Reads a JSON body, whatever its content type says, so that `curl -d '{…}'` is enough. No body is an empty object.
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, ControlError> {
    let body = if body.is_empty() { b"{}" } else { body };
    serde_json::from_slice(body).map_err(|error| {
        ControlError::BadRequest(format!(
            "The body is not what this endpoint takes: {error}."
        ))
    })
}
