//! Which address leads where.

use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodRouter, get, post, put};

use super::cors::cors;
use super::idempotency::once;
use super::merchant::service;
use super::request_log::log_request;
use super::{assets, callback, checkout, merchant, openapi, page};
use crate::app::App;

/// A router that knows its own addresses, so that a test finds the one that the description of the HTTP leaves out.
#[derive(Default)]
struct Routes {
    router: Router<Arc<App>>,
    paths: Vec<&'static str>,
}

impl Routes {
    fn route(mut self, path: &'static str, methods: MethodRouter<Arc<App>>) -> Self {
        self.paths.push(path);
        self.router = self.router.route(path, methods);
        self
    }
}

/// Everything that browsers, stores and the service call.
pub(crate) fn routes(app: Arc<App>) -> Router {
    let browser = browser()
        .router
        .layer(from_fn_with_state(app.clone(), once))
        .layer(from_fn(checkout::no_store))
        .layer(from_fn_with_state(app.clone(), cors));
    let store = store()
        .router
        .layer(from_fn_with_state(app.clone(), once))
        .layer(from_fn(checkout::no_store));
    Router::new()
        .merge(browser)
        .merge(store)
        .merge(others().router)
        .layer(from_fn_with_state(app.clone(), log_request))
        .with_state(app)
}

/// Every address of the public listener, a parameter as `{name}`.
pub fn paths() -> Vec<&'static str> {
    [browser(), store(), others()]
        .into_iter()
        .flat_map(|routes| routes.paths)
        .collect()
}

/// For pages of the stores' origins.
fn browser() -> Routes {
    Routes::default()
        .route(
            "/v1/checkout",
            post(checkout::open::open).get(checkout::show::show),
        )
        .route("/v1/checkout/donation", get(checkout::donation::donation))
        .route("/v1/checkout/quotes", get(checkout::quotes::quotes))
        .route("/v1/checkout/attempt", post(checkout::attempt::attempt))
        .route("/v1/checkout/session", post(checkout::session::session))
        .route("/v1/checkout/email", post(checkout::email::email))
        .route("/v1/checkout/paid", post(checkout::paid::paid))
        .route("/v1/checkout/receipt", get(checkout::receipt::receipt))
        .route("/v1/checkout/events", get(checkout::events::events))
}

/// For the stores' servers.
fn store() -> Routes {
    Routes::default()
        .route(
            "/v1/orders",
            post(merchant::open_order::open_order).get(merchant::orders::orders),
        )
        .route("/v1/orders/{id}", get(merchant::orders::order))
        .route("/v1/orders/{id}/cancel", post(merchant::cancel::cancel))
        .route("/v1/orders/{id}/receipt", get(merchant::receipts::receipt))
        .route("/v1/receipts/verify", post(merchant::receipts::verify))
        .route("/v1/events", get(merchant::events::events))
        .route(
            "/v1/events/{id}/redeliver",
            post(merchant::deliveries::redeliver),
        )
        .route("/v1/deliveries", get(merchant::deliveries::deliveries))
        .route("/v1/service/currencies", get(service::currencies))
        .route("/v1/service/invoice", get(service::invoice::invoice))
        .route(
            "/v1/service/preferences",
            post(service::add_preferences).put(service::update_preferences),
        )
        .route(
            "/v1/service/aggregator/merchants",
            post(service::onboard_merchant),
        )
        .route(
            "/v1/service/merchant/account",
            get(service::merchant_account),
        )
        .route("/v1/service/settings", put(service::update_settings))
        .route("/v1/webhook", get(merchant::webhook::show))
        .route("/v1/webhook/enable", post(merchant::webhook::enable))
}

/// For the payment service, and for everybody.
fn others() -> Routes {
    Routes::default()
        .route("/callbacks/{token}", post(callback::callback))
        .route("/pay", get(page::page))
        .route("/florin.js", get(assets::loader))
        .route("/florin.d.ts", get(assets::types))
        .route("/assets/{name}", get(assets::immutable))
        .route("/gallery/{name}", get(assets::gallery))
        .route("/openapi.json", get(openapi::document))
}
