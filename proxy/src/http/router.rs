//! The routes.

use std::sync::Arc;

use axum::Router;
use axum::http::HeaderValue;
use axum::http::header::CACHE_CONTROL;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get, post, put};
use tower_http::set_header::SetResponseHeaderLayer;

use crate::http::middleware::cors::cors;
use crate::http::middleware::request_log::{catch_panics, log_request};
use crate::http::store_api::gateway;
use crate::http::{callbacks, checkout, checkout_page, openapi, receipts, static_files, store_api};
use crate::state::AppState;

/// A router that knows its paths, so that a test finds one that the API document leaves out.
#[derive(Default)]
struct Routes {
    router: Router<Arc<AppState>>,
    paths: Vec<&'static str>,
}

impl Routes {
    fn route(mut self, path: &'static str, methods: MethodRouter<Arc<AppState>>) -> Self {
        self.paths.push(path);
        self.router = self.router.route(path, methods);
        self
    }
}

/// All routes of the public listener.
pub(crate) fn routes(app: Arc<AppState>) -> Router {
    let browser = browser()
        .router
        // Together they need one box and one more task state for each request; one by one, three.
        .layer((
            from_fn_with_state(app.clone(), cors),
            no_store(),
            catch_panics(),
        ));
    let store = store().router.layer((no_store(), catch_panics()));
    Router::new()
        .merge(browser)
        .merge(store)
        .merge(others().router.layer(catch_panics()))
        .layer(from_fn_with_state(app.clone(), log_request))
        .with_state(app)
}

/// Keeps answers about orders out of caches.
fn no_store() -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::overriding(CACHE_CONTROL, HeaderValue::from_static("no-store"))
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
            post(checkout::orders::open).get(checkout::orders::show),
        )
        .route("/v1/checkout/donation", get(checkout::orders::donation))
        .route("/v1/checkout/quotes", get(checkout::payments::quotes))
        .route("/v1/checkout/attempt", post(checkout::payments::attempt))
        .route("/v1/checkout/session", post(checkout::payments::session))
        .route("/v1/checkout/email", post(checkout::payments::email))
        .route("/v1/checkout/paid", post(checkout::payments::paid))
        .route("/v1/checkout/receipt", get(receipts::customer_receipt))
        .route("/v1/checkout/events", get(checkout::events::events))
}

/// For the stores' servers.
fn store() -> Routes {
    Routes::default()
        .route(
            "/v1/orders",
            post(store_api::orders::open_order).get(store_api::orders::orders),
        )
        .route("/v1/orders/{id}", get(store_api::orders::order))
        .route("/v1/orders/{id}/cancel", post(store_api::orders::cancel))
        .route("/v1/orders/{id}/receipt", get(receipts::store_receipt))
        .route("/v1/receipts/verify", post(receipts::verify))
        .route("/v1/events", get(store_api::events::events))
        .route(
            "/v1/events/{id}/redeliver",
            post(store_api::events::redeliver),
        )
        .route("/v1/deliveries", get(store_api::events::deliveries))
        .route("/v1/gateway/currencies", get(gateway::currencies))
        .route("/v1/gateway/invoice", get(gateway::invoice))
        .route(
            "/v1/gateway/preferences",
            post(gateway::add_preferences).put(gateway::update_preferences),
        )
        .route(
            "/v1/gateway/aggregator/merchants",
            post(gateway::onboard_merchant),
        )
        .route(
            "/v1/gateway/merchant/account",
            get(gateway::merchant_account),
        )
        .route("/v1/gateway/settings", put(gateway::update_settings))
        .route("/v1/webhook", get(store_api::events::show_webhook))
        .route(
            "/v1/webhook/enable",
            post(store_api::events::enable_webhook),
        )
}

/// Callbacks of the gateway, and static files.
fn others() -> Routes {
    Routes::default()
        .route("/callbacks/{token}", post(callbacks::callback))
        .route("/pay", get(checkout_page::page))
        .route("/florin.js", get(static_files::loader))
        .route("/florin.d.ts", get(static_files::types))
        .route("/assets/{name}", get(static_files::immutable))
        .route("/gallery/{name}", get(static_files::gallery))
        .route("/openapi.json", get(openapi::document))
}
