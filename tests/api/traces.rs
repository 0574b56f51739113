//! The trace of an order (W3C Trace Context), the spans of OpenTelemetry that a collector gets from the program, and the calls
//! of the gateway in its log, each with the request that caused it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use reqwest::Method;
use serde_json::{Value, json};
use support::{HttpResponse, Program, World, eventually, pay_in_full, secrets};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::isolation::{contains, secrets_in};
use crate::program::{end, start_program_with};

/// A trace that the store's server has sampled, and the span in it.
const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const TRACE_ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT_ID: &str = "00f067aa0ba902b7";
const EMAIL: &str = "ada@example.com";

/// A collector. It takes everything.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Bytes>>>);

impl Collector {
    /// Starts it; the second is its address.
    async fn start() -> (Self, String) {
        let collector = Self::default();
        let take = async |State(collector): State<Collector>, body: Bytes| {
            collector.0.lock().unwrap().push(body);
            StatusCode::OK
        };
        let routes = Router::new().route("/v1/traces", post(take));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let serve = axum::serve(listener, routes.with_state(collector.clone()));
        tokio::spawn(async move { serve.await.unwrap() });
        (collector, address)
    }

    fn bodies(&self) -> Vec<Bytes> {
        self.0.lock().unwrap().clone()
    }

    fn spans(&self) -> Vec<Span> {
        let requests = self
            .bodies()
            .into_iter()
            .map(|body| ExportTraceServiceRequest::decode(body).expect("the body is OTLP"));
        let resources = requests.flat_map(|request| request.resource_spans);
        let scopes = resources.flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }
}

fn named<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    let mut named = spans.iter().filter(|span| span.name == name);
    let found = named.next().unwrap_or_else(|| panic!("{name}: {spans:#?}"));
    assert_eq!(named.next(), None);
    found
}

/// An attribute as text; empty without it.
fn attribute(span: &Span, key: &str) -> String {
    use opentelemetry_proto::tonic::common::v1::any_value::Value;
    let found = span
        .attributes
        .iter()
        .find(|attribute| attribute.key == key);
    let value = found.and_then(|found| found.value.as_ref()?.value.as_ref());
    match value {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// A world whose proxy is the program, and sends spans to a collector.
async fn start(endpoint: &str, ratio: &str) -> (World, Program) {
    let mut world = World::start().await;
    let variables = [
        ("FLORIN_TRACING__OTLP_ENDPOINT", endpoint),
        ("FLORIN_TRACING__SAMPLE_RATIO", ratio),
        // What log lines say at any level stays out of spans.
        ("FLORIN_LOG", "trace"),
    ];
    let program = start_program_with(&mut world, &variables).await;
    (world, program)
}

/// Opens a hosted order of the store's server, with this key and trace.
async fn open_order(world: &World, key: &str, reference: &str, trace: &str) -> HttpResponse {
    let order = json!({
        "amount": "42.00", "currency": "USD", "reference": reference, "flow": "hosted",
        "customer_email": EMAIL,
    });
    let caller = world.customer().with_header("traceparent", trace);
    let path = "/v1/orders";
    caller
        .send(Method::POST, path, Some(key), Some(&order))
        .await
}

#[tokio::test]
async fn an_orders_trace_leads_from_the_store_to_the_gateway_and_to_the_webhooks() {
    let (collector, endpoint) = Collector::start().await;
    let (world, mut program) = start(&endpoint, "0").await;
    let opened = open_order(&world, secrets::STORE_KEY, "lamp-1", TRACE).await;
    let opened = opened.with(201);
    let order = opened.text_at("/order/id");
    // None of these is recorded: a customer's, another program's, and what the store has not sampled.
    world.customer().open("ebook").await.choose("BTC").await;
    let refused = open_order(&world, "sk_wrong", "lamp-2", TRACE).await;
    assert_eq!(refused.status, 401);
    let quiet = format!("00-{TRACE_ID}-{PARENT_ID}-00");
    let unsampled = open_order(&world, secrets::STORE_KEY, "lamp-2", &quiet).await;
    let unsampled = unsampled.with(201).text_at("/order/id");
    world.wait_for_deliveries().await;
    let passed_on = traces_of_webhooks(&world, &unsampled);
    assert!(passed_on.iter().all(|trace| *trace == Some(quiet.clone())));
    let webhooks = world.webhooks.accepted(&order);
    assert_eq!(program.stop().await, Some(0));

    let spans = collector.spans();
    let mut traces = spans.iter().map(|span| hex::encode(&span.trace_id));
    assert!(traces.all(|trace| trace == TRACE_ID), "{spans:#?}");
    let named = |name: &str| named(&spans, name);
    let request = named("POST /v1/orders");
    assert_eq!(hex::encode(&request.parent_span_id), PARENT_ID);
    assert_eq!(attribute(request, "http.response.status_code"), "201");
    let id = opened.header("x-request-id").unwrap();
    assert_eq!(attribute(request, "florin.request_id"), id);
    for write in ["open_order", "begin_attempt", "open_attempt", "snapshot"] {
        let write = named(&format!("storage {write}"));
        assert_eq!(write.parent_span_id, request.span_id);
        assert_eq!(attribute(write, "error.type"), "");
    }
    let call = named("POST /checkout");
    assert_eq!(call.parent_span_id, request.span_id);
    assert_eq!(attribute(call, "florin.gateway.outcome"), "ok");
    let expected = format!("00-{TRACE_ID}-{}-01", hex::encode(&call.span_id));
    let sent = traces_of_calls(&world, "POST", "/checkout").await;
    assert!(sent.iter().any(|trace| *trace == expected), "{sent:?}");
    for delivery in webhooks {
        let span = named(&format!("deliver {}", delivery.kind));
        assert_eq!(span.parent_span_id, request.span_id);
        assert_eq!(attribute(span, "florin.delivery.outcome"), "delivered");
        assert_eq!(attribute(span, "florin.event.id"), delivery.id);
        let expected = format!("00-{TRACE_ID}-{}-01", hex::encode(&span.span_id));
        assert_eq!(delivery.traceparent, Some(expected));
    }
    world.end().await;
}

/// The calls of the gateway that a program logged, by path, each with the id of the request that caused it.
fn calls(program: &Program) -> Vec<(String, Option<String>)> {
    let printed = program.printed();
    let lines = printed.lines();
    let lines = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let calls = lines.filter(|line| line["message"] == "gateway called");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let call = |line: Value| {
        (
            text(&line["path"]).unwrap(),
            text(&line["span"]["request_id"]),
        )
    };
    calls.map(call).collect()
}

#[tokio::test]
async fn a_customers_request_begins_the_orders_trace_and_is_in_the_log_without_a_secret() {
    let (collector, endpoint) = Collector::start().await;
    let (world, mut program) = start(&endpoint, "1").await;
    let checkout = world.customer().open("ebook").await;
    let quotes = checkout.get("/quotes").await.with(200);
    let attempt = checkout.request_attempt("BTC").await.with(200);
    let address = checkout.address().await;
    let email = json!({ "email": EMAIL });
    let paid = checkout.post("/paid", &email).await.with(200);
    let id = |response: &HttpResponse| response.header("x-request-id").unwrap().to_owned();
    for (path, request) in [
        ("/prices", Some(id(&quotes))),
        ("/invoice", Some(id(&attempt))),
        ("/confirm", Some(id(&paid))),
        // A poll, which no request caused.
        ("/invoice", None),
    ] {
        let expected = (path.to_owned(), request);
        eventually(&format!("{expected:?} is logged"), async || {
            calls(&program).contains(&expected).then_some(())
        })
        .await;
    }
    pay_in_full(&world, &checkout).await;
    world.wait_for_deliveries().await;
    let webhooks = world.webhooks.accepted(&checkout.order);
    assert_eq!(program.stop().await, Some(0));

    let spans = collector.spans();
    let opening = named(&spans, "POST /v1/checkout");
    assert!(opening.parent_span_id.iter().all(|byte| *byte == 0));
    for name in ["deliver order.created", "POST /invoice"] {
        assert_eq!(named(&spans, name).trace_id, opening.trace_id);
    }
    let trace = hex::encode(&opening.trace_id);
    let mut traces = webhooks.iter().map(|it| it.traceparent.as_ref().unwrap());
    assert!(traces.all(|it| it.contains(&trace)));
    let everything = collector.bodies().concat();
    assert_eq!(secrets_in(&everything), [""; 0]);
    for private in [&*address, checkout.token(), EMAIL] {
        assert!(!contains(&everything, private), "{private}");
    }
    world.end().await;
}

#[tokio::test]
async fn a_request_whose_client_goes_away_is_recorded_as_cancelled() {
    let (collector, endpoint) = Collector::start().await;
    let (mut world, program) = start(&endpoint, "0").await;
    world.gateway_link.freeze();
    let stored = async || (!world.store().orders().await.is_empty()).then_some(());
    tokio::select! {
        answered = open_order(&world, secrets::STORE_KEY, "lamp-1", TRACE) => panic!("{answered:?}"),
        () = eventually("the order is stored", stored) => {}
    }
    eventually("its client is gone", async || {
        let spans = collector.spans();
        let request = spans.iter().find(|span| span.name == "POST /v1/orders")?;
        assert_eq!(attribute(request, "error.type"), "cancelled");
        assert_eq!(attribute(request, "http.route"), "/v1/orders");
        assert_eq!(attribute(request, "http.response.status_code"), "");
        Some(())
    })
    .await;
    world.gateway_link.restore().await;
    end(world, program).await;
}

/// One warning, and an end in time. `proxy/src/spans.rs` counts the lost spans.
#[tokio::test]
async fn a_collector_that_never_answers_stops_nothing() {
    // Connections wait in its backlog.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let (world, mut program) = start(&endpoint, "1").await;
    world.customer().open_with("ebook", "BTC").await;
    world.wait_for_deliveries().await;
    eventually("the collector is missed", async || {
        program.printed().contains("takes no traces").then_some(())
    })
    .await;
    let ended = timeout(Duration::from_secs(8), program.stop()).await;
    assert_eq!(ended.unwrap(), Some(0));
    let printed = program.printed();
    assert_eq!(printed.matches("takes no traces").count(), 1, "{printed}");
    drop(listener);
    world.end().await;
}

async fn traces_of_calls(world: &World, method: &str, path: &str) -> Vec<Value> {
    let calls = world.sandbox().calls().await.into_iter();
    let calls = calls.filter(|call| {
        let called = call["path"].as_str().unwrap_or_default();
        call["method"] == method && called.starts_with(path)
    });
    calls.map(|call| call["traceparent"].clone()).collect()
}

fn traces_of_webhooks(world: &World, order: &str) -> Vec<Option<String>> {
    let accepted = world.webhooks.accepted(order).into_iter();
    accepted.map(|delivery| delivery.traceparent).collect()
}

/// That polls and later deliveries have it too is in `crates/storage/src/contract/orders.rs`.
#[tokio::test]
async fn without_a_collector_an_orders_trace_is_in_its_webhooks_and_in_calls_of_the_gateway() {
    let world = World::start().await;
    // A browser names none.
    let customer = world.customer().with_header("traceparent", TRACE);
    let order = customer.open("ebook").await.order;
    world.wait_for_deliveries().await;
    assert_eq!(traces_of_webhooks(&world, &order), [None]);
    let opened = open_order(&world, secrets::STORE_KEY, "lamp-1", TRACE).await;
    let order = opened.with(201).text_at("/order/id");
    world.wait_for_deliveries().await;
    let sent = traces_of_webhooks(&world, &order);
    assert_eq!(sent, [Some(TRACE.to_owned()), Some(TRACE.to_owned())]);
    assert_eq!(traces_of_calls(&world, "POST", "/checkout").await, [TRACE]);
    world.end().await;
}
