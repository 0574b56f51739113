//! The endpoints: each is one line with its method, path, handler and description. The router and the OpenAPI document are
//! built from this list.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::handler::Handler;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{MethodRouter, get, post, put};
use serde_json::{Value, json};

use crate::http::checkout::{
    describe_events as describe_stream, events as stream, offers, orders as checkout, payments,
};
use crate::http::middleware::request_log::{ResponsePolicy, request_layer};
use crate::http::openapi::operation::{Auth, Operation, Types};
use crate::http::openapi::{self as docs, FILES};
use crate::http::store_api::{self, events, gateway, orders, refunds};
use crate::http::{callbacks, checkout_page as page, receipts, static_files as files};
use crate::state::AppState;
use crate::widget_files::File;

fn browser() -> Routes {
    Routes::default()
        .at("/v1/checkout")
        .post(checkout::open, checkout::describe_open)
        .get(checkout::show, checkout::describe_show)
        .at("/v1/checkout/offer")
        .get(offers::offer, offers::describe_offer)
        .post(offers::offer_of_token, offers::describe_offer_of_token)
        .at("/v1/checkout/quotes")
        .get(payments::quotes, payments::describe_quotes)
        .at("/v1/checkout/attempt")
        .post(payments::attempt, payments::describe_attempt)
        .at("/v1/checkout/session")
        .post(payments::session, payments::describe_session)
        .at("/v1/checkout/email")
        .post(payments::email, payments::describe_email)
        .at("/v1/checkout/refund-address")
        .post(payments::refund_address, payments::describe_refund_address)
        .at("/v1/checkout/paid")
        .post(payments::paid, payments::describe_paid)
        .at("/v1/checkout/receipt")
        .get(
            receipts::customer_receipt,
            receipts::describe_customer_receipt,
        )
        .at("/v1/checkout/events")
        .get(stream, describe_stream)
}

fn store() -> Routes {
    Routes::default()
        .at("/v1/orders")
        .post(orders::open_order, orders::describe_open_order)
        .get(orders::orders, orders::describe_orders)
        .at("/v1/orders/{id}")
        .get(orders::order, orders::describe_order)
        .at("/v1/orders/{id}/cancel")
        .post(orders::cancel, orders::describe_cancel)
        .at("/v1/orders/{id}/refunds")
        .post(refunds::refund, refunds::describe_refund)
        .at("/v1/orders/{id}/receipt")
        .get(receipts::store_receipt, receipts::describe_store_receipt)
        .at("/v1/settlements")
        .get(store_api::settlements, store_api::describe_settlements)
        .at("/v1/receipts/verify")
        .post(receipts::verify, receipts::describe_verify)
        .at("/v1/staff_links")
        .post(
            store_api::open_staff_link,
            store_api::describe_open_staff_link,
        )
        .at("/v1/events")
        .get(events::events, events::describe_events)
        .at("/v1/events/{id}/redeliver")
        .post(events::redeliver, events::describe_redeliver)
        .at("/v1/deliveries")
        .get(events::deliveries, events::describe_deliveries)
        .at("/v1/webhooks")
        .get(events::list_webhooks, events::describe_list_webhooks)
        .at("/v1/webhooks/enable")
        .post(events::enable_webhooks, events::describe_enable_webhooks)
        .at("/v1/gateway/currencies")
        .get(gateway::currencies, gateway::describe_currencies)
        .at("/v1/gateway/invoice")
        .get(gateway::invoice, gateway::describe_invoice)
        .at("/v1/gateway/preferences")
        .post(gateway::add_preferences, gateway::describe_add_preferences)
        .put(
            gateway::update_preferences,
            gateway::describe_update_preferences,
        )
        .at("/v1/gateway/aggregator/merchants")
        .post(
            gateway::onboard_merchant,
            gateway::describe_onboard_merchant,
        )
        .at("/v1/gateway/merchant/account")
        .get(
            gateway::merchant_account,
            gateway::describe_merchant_account,
        )
        .at("/v1/gateway/settings")
        .put(gateway::update_settings, gateway::describe_update_settings)
}

fn others() -> Routes {
    Routes::default()
        .at("/callbacks/{token}")
        .post(callbacks::callback, callbacks::describe_callback)
        .at("/pay")
        .get(page::page, page::describe_page)
        .post(page::page_of_token, page::describe_page_of_token)
        .at("/admission.js")
        .get(page::admission, page::describe_admission)
        .at("/florin.js")
        .get(files::loader, files::describe_loader)
        .at("/florin.d.ts")
        .get(files::types, files::describe_types)
        .at("/assets/{name}")
        .get(files::immutable, files::describe_immutable)
        .at("/gallery/{name}")
        .get(files::gallery, files::describe_gallery)
        .at("/openapi.json")
        .get(document, describe_document)
}

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
    path: &'static str,
}

impl Routes {
    fn at(self, path: &'static str) -> Self {
        Self { path, ..self }
    }

    fn get<H: Handler<T, Arc<AppState>>, T: 'static>(self, handler: H, describe: Describe) -> Self {
        self.route("get", get(handler), describe)
    }

    fn post<H: Handler<T, Arc<AppState>>, T: 'static>(
        self,
        handler: H,
        describe: Describe,
    ) -> Self {
        self.route("post", post(handler), describe)
    }

    fn put<H: Handler<T, Arc<AppState>>, T: 'static>(self, handler: H, describe: Describe) -> Self {
        self.route("put", put(handler), describe)
    }

    fn route(
        mut self,
        method: &'static str,
        handler: MethodRouter<Arc<AppState>>,
        describe: Describe,
    ) -> Self {
        let path = self.path;
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
    let group = |routes: Routes, is_for_pages, is_private| {
        let policy = ResponsePolicy {
            is_for_pages,
            is_private,
        };
        routes.router.layer(request_layer(&app, policy))
    };
    // Of merged routers, the last one answers addresses without a route.
    let routes = Router::new()
        .merge(group(browser(), true, true))
        .merge(group(store(), false, true))
        .merge(group(others(), false, false));
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

/// GET /openapi.json: the document, which holds no secret: any page may read it. It is made at the first request.
async fn document(State(app): State<Arc<AppState>>, headers: HeaderMap) -> Response {
    let file = app.openapi.get_or_init(|| {
        let document = openapi(app.config().public_url.base());
        File::compressed("openapi.json", document.to_string())
    });
    files::public(files::response(file, &headers, files::FRESH))
}

fn describe_document(_: &mut Types) -> Operation {
    Operation::new("description", FILES, Auth::None)
        .summary("This description", "OpenAPI 3.1.")
        .responds_as(
            200,
            "The document.",
            "application/json",
            &json!({ "type": "object" }),
        )
        .with_header(200, "ETag", "ETag")
        .header(
            "If-None-Match",
            "The `ETag` of the document that the client has.",
            &json!({ "type": "string" }),
        )
        .responds_empty(304, "The same document as then.")
        .with_header(304, "ETag", "ETag")
}
