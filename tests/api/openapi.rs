//! The OpenAPI document of the proxy is complete and correct.
//!
//! `support::HttpResponse` checks every response of every test against its description.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use support::{CONTRACT, HttpResponse, World};

/// A method that no route has.
const NO_METHOD: &str = "PROPFIND";

#[tokio::test(flavor = "multi_thread")]
async fn every_route_is_described_and_every_description_has_a_route() {
    let world = World::start().await;
    let mut routed = BTreeSet::new();
    for path in florin_proxy::paths() {
        let address = format!("{}{}", world.proxy_url(), filled(path));
        let request = world.http().request(NO_METHOD.parse().unwrap(), address);
        let response = HttpResponse::read(request.send().await.unwrap()).await;
        let response = response.refused(405, "method_not_allowed");
        let allowed = response
            .header("allow")
            .expect("it says which methods it takes");
        let methods = allowed
            .split(',')
            .map(str::trim)
            .filter(|word| *word != "HEAD");
        routed.extend(methods.map(|method| format!("{method} {path}")));
    }
    let described = CONTRACT
        .operations()
        .map(|(method, path)| format!("{method} {path}"));
    assert_eq!(routed, described.collect());
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_is_served_to_any_page_compressed_and_revalidated() {
    let world = World::start().await;
    let response = world.customer();
    let response = response.send(Method::GET, "/openapi.json", None, None);
    let response = response.await.with(200);
    assert_eq!(response.header("access-control-allow-origin"), Some("*"));
    assert_eq!(response.body, florin_proxy::openapi(&world.proxy_url()));
    assert_eq!(response.body["openapi"], "3.1.1");
    let get = || {
        world
            .http()
            .get(format!("{}/openapi.json", world.proxy_url()))
    };
    let whole = get().send().await.unwrap();
    let tag = whole.headers()["etag"].clone();
    let whole = whole.bytes().await.unwrap();
    let gzip = get()
        .header("accept-encoding", "gzip")
        .send()
        .await
        .unwrap();
    assert_eq!(gzip.headers()["content-encoding"], "gzip");
    let gzip = gzip.bytes().await.unwrap();
    assert!(
        gzip.len() < whole.len() / 4,
        "{} of {}",
        gzip.len(),
        whole.len()
    );
    let same = get().header("if-none-match", tag).send().await.unwrap();
    assert_eq!(same.status(), 304);
    assert_eq!(same.bytes().await.unwrap().len(), 0);
    world.end().await;
}

#[test]
fn every_example_of_a_body_matches_its_schema() {
    let mut examples = 0;
    for (what, schema, example) in bodies() {
        let fits = CONTRACT.validator(&schema).validate(&example);
        assert!(fits.is_ok(), "{what}: {fits:?}");
        examples += 1;
    }
    assert!(examples >= 4, "{examples}");
}

/// A schema that accepts everything describes nothing.
#[test]
fn an_undescribed_member_is_rejected_in_a_body() {
    for (what, schema, mut example) in bodies() {
        if schema["additionalProperties"] == true {
            continue; // deliberately open, as for callbacks
        }
        example["colour"] = json!("blue");
        let open = jsonschema::validator_for(&whole(&schema)).unwrap();
        assert!(!open.is_valid(&example), "{what} accepts everything");
    }
}

/// The gateway's callbacks are hints and may be repeated without a key.
#[test]
fn every_post_except_callbacks_accepts_a_key() {
    for (path, item) in CONTRACT.document()["paths"].as_object().unwrap() {
        let Some(operation) = item.get("post") else {
            continue;
        };
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let mut keys = parameters.filter(|parameter| parameter["name"] == "Idempotency-Key");
        let is_hint = path.starts_with("/callbacks/");
        assert_eq!(keys.next().is_some(), !is_hint, "{path}");
    }
}

#[test]
fn every_operation_has_a_summary_and_a_unique_name() {
    let mut names = BTreeSet::new();
    for operation in operations() {
        let name = operation["operationId"].as_str().unwrap();
        assert!(names.insert(name.to_owned()), "{name} twice");
        assert!(!operation["summary"].as_str().unwrap().is_empty(), "{name}");
        assert!(!operation["tags"][0].as_str().unwrap().is_empty(), "{name}");
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            assert!(parameter["description"].is_string(), "{name}: {parameter}");
        }
    }
}

/// Rust syntax of doc comments must not appear in descriptions.
#[test]
fn no_description_contains_rust_syntax() {
    each(CONTRACT.document(), &mut |value| {
        let text = value["description"].as_str().unwrap_or_default();
        for sign in ["[`", "::", "`None`", "`Some`", "serde"] {
            assert!(!text.contains(sign), "{sign} in {text}");
        }
    });
}

fn operations() -> impl Iterator<Item = &'static Value> {
    let paths = CONTRACT.document()["paths"].as_object().unwrap();
    paths
        .values()
        .flat_map(|item| item.as_object().unwrap().values())
}

/// Returns every request body: operation, schema and example.
fn bodies() -> impl Iterator<Item = (&'static str, Value, Value)> {
    operations().filter_map(|operation| {
        let content = operation.get("requestBody")?["content"].get("application/json")?;
        let name = operation["operationId"].as_str()?;
        Some((name, content["schema"].clone(), content["example"].clone()))
    })
}

fn whole(schema: &Value) -> Value {
    let schemas = &CONTRACT.document()["components"]["schemas"];
    json!({ "components": { "schemas": schemas }, "allOf": [schema] })
}

fn each(value: &'static Value, visit: &mut impl FnMut(&'static Value)) {
    visit(value);
    match value {
        Value::Object(members) => members.values().for_each(|member| each(member, visit)),
        Value::Array(items) => items.iter().for_each(|item| each(item, visit)),
        _ => {}
    }
}

/// `/v1/orders/{id}` → `/v1/orders/x`.
fn filled(path: &str) -> String {
    let parts = path
        .split('/')
        .map(|part| if part.starts_with('{') { "x" } else { part });
    parts.collect::<Vec<_>>().join("/")
}
