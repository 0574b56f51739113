//! The endpoints: each is one line with its method, path, handler and description. The router and the OpenAPI document are
//! built from this list.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::handler::Handler;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{MethodRouter, get, post, put};
use serde_json::Value;

use crate::http::checkout::events as stream;
use crate::http::checkout::{orders as checkout, payments};
use crate::http::middleware::request_log::{RequestLayer, ResponsePolicy};
use crate::http::openapi::operation::Operation;
use crate::http::openapi::types::Types;
use crate::http::store_api::{events, gateway, orders, staff_links};
use crate::http::{
    admission, callbacks, checkout_page as page, openapi as docs, receipts, static_files as files,
};
use crate::state::AppState;

fn browser() -> Routes {
    Routes::default()
        .post("/v1/checkout", checkout::open, checkout::describe_open)
        .get("/v1/checkout", checkout::show, checkout::describe_show)
        .get(
            "/v1/checkout/donation",
            checkout::donation,
            checkout::describe_donation,
        )
        .get(
            "/v1/checkout/quotes",
            payments::quotes,
            payments::describe_quotes,
        )
        .post(
            "/v1/checkout/attempt",
            payments::attempt,
            payments::describe_attempt,
        )
        .post(
            "/v1/checkout/session",
            payments::session,
            payments::describe_session,
        )
        .post(
            "/v1/checkout/email",
            payments::email,
            payments::describe_email,
        )
        .post("/v1/checkout/paid", payments::paid, payments::describe_paid)
        .get(
            "/v1/checkout/receipt",
            receipts::customer_receipt,
            receipts::describe_customer_receipt,
        )
        .get(
            "/v1/checkout/events",
            stream::events,
            stream::describe_events,
        )
}

fn store() -> Routes {
    Routes::default()
        .post(
            "/v1/orders",
            orders::open_order,
            orders::describe_open_order,
        )
        .get("/v1/orders", orders::orders, orders::describe_orders)
        .get("/v1/orders/{id}", orders::order, orders::describe_order)
        .post(
            "/v1/orders/{id}/cancel",
            orders::cancel,
            orders::describe_cancel,
        )
        .get(
            "/v1/orders/{id}/receipt",
            receipts::store_receipt,
            receipts::describe_store_receipt,
        )
        .post(
            "/v1/receipts/verify",
            receipts::verify,
            receipts::describe_verify,
        )
        .post(
            "/v1/staff_links",
            staff_links::open_staff_link,
            staff_links::describe_open_staff_link,
        )
        .get("/v1/events", events::events, events::describe_events)
        .post(
            "/v1/events/{id}/redeliver",
            events::redeliver,
            events::describe_redeliver,
        )
        .get(
            "/v1/deliveries",
            events::deliveries,
            events::describe_deliveries,
        )
        .get(
            "/v1/webhook",
            events::show_webhook,
            events::describe_show_webhook,
        )
        .post(
            "/v1/webhook/enable",
            events::enable_webhook,
            events::describe_enable_webhook,
        )
        .get(
            "/v1/gateway/currencies",
            gateway::currencies,
            gateway::describe_currencies,
        )
        .get(
            "/v1/gateway/invoice",
            gateway::invoice,
            gateway::describe_invoice,
        )
        .post(
            "/v1/gateway/preferences",
            gateway::add_preferences,
            gateway::describe_add_preferences,
        )
        .put(
            "/v1/gateway/preferences",
            gateway::update_preferences,
            gateway::describe_update_preferences,
        )
        .post(
            "/v1/gateway/aggregator/merchants",
            gateway::onboard_merchant,
            gateway::describe_onboard_merchant,
        )
        .get(
            "/v1/gateway/merchant/account",
            gateway::merchant_account,
            gateway::describe_merchant_account,
        )
        .put(
            "/v1/gateway/settings",
            gateway::update_settings,
            gateway::describe_update_settings,
        )
}

fn others() -> Routes {
    Routes::default()
        .post(
            "/callbacks/{token}",
            callbacks::callback,
            callbacks::describe_callback,
        )
        .get("/pay", page::page, page::describe_page)
        .get(
            "/admission.js",
            admission::admission,
            admission::describe_admission,
        )
        .get("/florin.js", files::loader, files::describe_loader)
        .get("/florin.d.ts", files::types, files::describe_types)
        .get(
            "/assets/{name}",
            files::immutable,
            files::describe_immutable,
        )
        .get("/gallery/{name}", files::gallery, files::describe_gallery)
        .get("/openapi.json", document, docs::describe_document)
}

/// Describes an endpoint with the types of its request and response.
type Describe = fn(&mut Types) -> Operation;

struct Endpoint {
    method: &'static str,
    path: &'static str,
    describe: Describe,
}

#[derive(Default)]
struct Routes {
    router: Router<Arc<AppState>>,
    endpoints: Vec<Endpoint>,
}

impl Routes {
    fn get<H, T>(self, path: &'static str, handler: H, describe: Describe) -> Self
    where
        H: Handler<T, Arc<AppState>>,
        T: 'static,
    {
        self.route("get", path, get(handler), describe)
    }

    fn post<H, T>(self, path: &'static str, handler: H, describe: Describe) -> Self
    where
        H: Handler<T, Arc<AppState>>,
        T: 'static,
    {
        self.route("post", path, post(handler), describe)
    }

    fn put<H, T>(self, path: &'static str, handler: H, describe: Describe) -> Self
    where
        H: Handler<T, Arc<AppState>>,
        T: 'static,
    {
        self.route("put", path, put(handler), describe)
    }

    fn route(
        mut self,
        method: &'static str,
        path: &'static str,
        handler: MethodRouter<Arc<AppState>>,
        describe: Describe,
    ) -> Self {
        self.router = self.router.route(path, handler);
        self.endpoints.push(Endpoint {
            method,
            path,
            describe,
        });
        self
    }
}

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

fn endpoints() -> impl Iterator<Item = Endpoint> {
    let routes = [browser(), store(), others()];
    routes.into_iter().flat_map(|routes| routes.endpoints)
}

/// Every address of the public listener, a parameter as `{name}`.
pub fn paths() -> Vec<&'static str> {
    let mut paths: Vec<_> = endpoints().map(|endpoint| endpoint.path).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// The OpenAPI description of a proxy at this address.
pub fn openapi(base: &str) -> Value {
    docs::openapi(base, |types| {
        let operations = endpoints().map(|endpoint| {
            let operation = (endpoint.describe)(types);
            operation.at(endpoint.method, endpoint.path)
        });
        operations.collect()
    })
}

async fn document(State(app): State<Arc<AppState>>, headers: HeaderMap) -> Response {
    docs::document(&app, &headers, openapi)
}
