//! The routes.

use std::sync::Arc;

use axum::Router;
use axum::routing::{MethodRouter, get, post, put};

use crate::http::middleware::request_log::{RequestLayer, ResponsePolicy};
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
    let layer = |policy| RequestLayer {
        app: app.clone(),
        policy,
    };
    let browser = browser().router.layer(layer(ResponsePolicy {
        is_for_pages: true,
        is_private: true,
    }));
    let store = store().router.layer(layer(ResponsePolicy {
        is_for_pages: false,
        is_private: true,
    }));
    let others = others().router.layer(layer(ResponsePolicy::default()));
    // Of merged routers, the last one answers addresses without a route.
    let routes = Router::new().merge(browser).merge(store).merge(others);
    routes.with_state(app)
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
