//! The libraries for the servers of shops, `packages/{node,python,php}`: each runs its tests against a proxy and a sandbox, and
//! its types are those that the description of the proxy generates. And the plugins of `plugins/`, by tests in their own
//! languages.

use std::collections::VecDeque;
use std::future::pending;
use std::process::Command;
use std::sync::Arc;
use std::{env, io};

use axum::body::{Body, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use futures_util::stream;
use parking_lot::Mutex;
use serde_json::{Value, json};
use support::{ServerLibrary, World, eventually, generate_types, install_copy, secrets};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::task::{block_in_place, spawn_blocking};

use crate::repository::{root, text_of};

/// What a library's tests ask of the world: `tests/world.*` of each.
struct Helper {
    world: World,
    faults: Mutex<VecDeque<String>>,
    requests: Mutex<Vec<Value>>,
}

type Shared = State<Arc<Helper>>;

/// Waits here for a future that no other thread can continue.
fn wait_for<T>(future: impl Future<Output = T>) -> T {
    block_in_place(|| Handle::current().block_on(future))
}

async fn pay(State(it): Shared, Json(order): Json<Value>) -> Json<Value> {
    Json(wait_for(pay_in(&it.world, &order)))
}

async fn pay_in(world: &World, order: &Value) -> Value {
    let member = |name: &str| order[name].as_str().unwrap().to_owned();
    let customer = world.customer();
    let checkout = customer.with_token(&member("client_token"), &member("id"));
    checkout.choose("LTC").await;
    let sandbox = world.sandbox();
    let how = member("how");
    if how == "late" {
        let invoice = sandbox.invoice_of(&checkout.address().await).await;
        sandbox.expire_invoice(&invoice).await;
        checkout.wait_for("failed").await;
        sandbox.settle_invoice(&invoice, "exact").await;
    } else {
        sandbox.settle(&checkout, &how).await;
    }
    let status = if how == "half" { "underpaid" } else { "paid" };
    checkout.wait_for(status).await
}

async fn deliveries(State(it): Shared, Path(order): Path<String>) -> Json<Value> {
    wait_for(it.world.wait_for_deliveries());
    let deliveries = it.world.webhooks.accepted(&order).into_iter();
    let deliveries = deliveries.map(|delivery| {
        let headers = json!({
            "webhook-id": delivery.id,
            "webhook-timestamp": delivery.timestamp.to_string(),
            "webhook-signature": delivery.signatures,
        });
        json!({ "headers": headers, "body": String::from_utf8_lossy(&delivery.bytes) })
    });
    Json(deliveries.collect())
}

async fn set_faults(State(it): Shared, Json(faults): Json<VecDeque<String>>) -> Json<Value> {
    *it.faults.lock() = faults;
    it.requests.lock().clear();
    Json(Value::Null)
}

async fn requests(State(it): Shared) -> Json<Vec<Value>> {
    Json(std::mem::take(&mut *it.requests.lock()))
}

/// Passes a request on to the proxy, unless it is to fail: `lost` after the proxy has answered, `hangs`, or with a status and
/// `Retry-After`, as a server in front of the proxy answers.
async fn forward(State(it): Shared, Path(path): Path<String>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 16).await.unwrap();
    let key = parts.headers.get("idempotency-key");
    let key = key.map(|key| key.to_str().unwrap());
    it.requests.lock().push(json!({
        "method": parts.method.as_str(), "path": path, "idempotency_key": key, "body": String::from_utf8_lossy(&body),
    }));
    let fault = it.faults.lock().pop_front();
    let fault = fault.as_deref().unwrap_or_default();
    if fault == "hangs" {
        pending::<()>().await;
    }
    let (status, retry_after) = fault.split_once(' ').unwrap_or((fault, ""));
    if let Ok(status) = status.parse() {
        let status = StatusCode::from_u16(status).unwrap();
        let elsewhere = format!("{}/v1/orders", it.world.proxy_url());
        let headers = [("location", elsewhere), ("retry-after", retry_after.into())];
        return (status, headers, "<h1>No proxy</h1>").into_response();
    }
    let url = format!("{}/{path}", it.world.proxy_url());
    let mut headers = parts.headers;
    headers.remove("host");
    let sent = it.world.http().request(parts.method, url).headers(headers);
    let answered = sent.body(body).send().await.unwrap();
    let (status, headers) = (answered.status(), answered.headers().clone());
    let bytes = answered.bytes().await.unwrap();
    let body = if fault == "lost" {
        let half = bytes.slice(..bytes.len() / 2);
        Body::from_stream(stream::iter([Ok(half), Err(io::Error::other("lost"))]))
    } else {
        Body::from(bytes)
    };
    (status, headers, body).into_response()
}

async fn passes(library: ServerLibrary) {
    let (_folder, tests) = library.tests();
    pass_in_world(tests).await;
}

/// Runs the tests of a library or a plugin in a world.
pub(crate) async fn pass_in_world(mut tests: Command) {
    let helper = Arc::new(Helper {
        world: World::start().await,
        faults: Mutex::default(),
        requests: Mutex::default(),
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let routes = Router::new()
        .route("/pay", post(pay))
        .route("/deliveries/{order}", get(deliveries))
        .route("/faults", post(set_faults))
        .route("/requests", get(requests))
        .route("/proxy/{*path}", any(forward))
        .with_state(helper.clone());
    let serving = tokio::spawn(axum::serve(listener, routes).into_future());
    tests
        .env("FLORIN_URL", helper.world.proxy_url())
        .env("FLORIN_SECRET_KEY", secrets::STORE_KEY)
        .env("FLORIN_WEBHOOK_SECRET", secrets::WEBHOOK)
        .env("FLORIN_TOKEN_KEY", secrets::TOKEN_KEY)
        .env("FLORIN_WORLD_URL", format!("http://{address}"));
    let output = spawn_blocking(move || tests.output()).await.unwrap();
    let output = output.expect("the language is installed");
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed);
    assert!(output.status.success(), "{printed}");
    serving.abort();
    eventually("no request is under way", async || {
        (Arc::strong_count(&helper) == 1).then_some(())
    })
    .await;
    Arc::into_inner(helper).unwrap().world.end().await;
}

#[test]
fn the_types_are_those_of_the_description() {
    let description = florin_proxy::openapi("https://pay.shop.example").to_string();
    let has_to_write = env::var("INSTA_UPDATE").is_ok_and(|update| update == "always");
    let mode = if has_to_write { "write" } else { "compare" };
    assert_eq!(generate_types(&description, mode), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_library_for_node_keeps_its_promises() {
    passes(ServerLibrary::Node).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_library_for_python_keeps_its_promises() {
    passes(ServerLibrary::Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_library_for_php_keeps_its_promises() {
    passes(ServerLibrary::Php).await;
}

#[test]
fn the_plugin_for_woocommerce_passes_its_tests() {
    let mut php = Command::new("php");
    php.arg("plugins/woocommerce/tests/run.php");
    let output = php.current_dir(root()).output();
    let output = output.expect("php is installed");
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}{errors}");
    assert!(printed.contains(" passed, 0 failed"), "{printed}{errors}");
}

/// In a real Vendure on SQLite, over HTTP, with a proxy and a sandbox.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "long: run by cargo xtask test --long"]
async fn the_plugin_for_vendure_passes_its_tests() {
    let copy = install_copy("plugins/vendure");
    let mut tests = Command::new("npm");
    tests.arg("test").current_dir(copy.file("plugins/vendure"));
    pass_in_world(tests).await;
}

#[test]
fn the_plugin_for_vendure_has_the_licence_of_its_host_and_our_version() {
    let package: serde_json::Value =
        serde_json::from_str(&text_of("plugins/vendure/package.json")).unwrap();
    assert_eq!(package["license"], "GPL-3.0-or-later");
    assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
    assert!(text_of("plugins/vendure/LICENSE").contains("Version 3, 29 June 2007"));
}
