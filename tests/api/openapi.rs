//! The OpenAPI document of the proxy is complete and correct. Its outline, and the JSON that browsers, stores and endpoints receive,
//! are snapshots: a change of the contract is seen in the review of the change that causes it. Accept one with
//! `INSTA_UPDATE=always cargo test -p florin-tests --test api -- openapi`.
//!
//! `support::HttpResponse` checks every response of every test against its description.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};
use support::{CONTRACT, Checkout, HttpResponse, World, eventually};

/// A method that no route has.
const NO_METHOD: &str = "PROPFIND";

#[tokio::test(flavor = "multi_thread")]
async fn every_route_is_described_and_every_description_has_a_route() {
    let world = World::start().await;
    let mut routed = BTreeSet::new();
    for path in florin_proxy::paths() {
        // The braces around a parameter are no part of an address.
        let path_of_one = path.replace(['{', '}'], "");
        let address = format!("{}{path_of_one}", world.proxy_url());
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
    let whole = world.get("/openapi.json").await.with(200);
    assert_eq!(whole.header("access-control-allow-origin"), Some("*"));
    assert_eq!(whole.body, florin_proxy::openapi(&world.proxy_url()));
    assert_eq!(whole.body["openapi"], "3.1.1");
    let get = async |name: &str, value: &str| {
        let url = format!("{}/openapi.json", world.proxy_url());
        world
            .http()
            .get(url)
            .header(name, value)
            .send()
            .await
            .unwrap()
    };
    let gzip = get("accept-encoding", "gzip").await;
    assert_eq!(gzip.headers()["content-encoding"], "gzip");
    let length = gzip.bytes().await.unwrap().len();
    assert!(length < whole.text.len() / 4, "{length}");
    let same = get("if-none-match", whole.header("etag").unwrap()).await;
    assert_eq!(same.status(), 304);
    world.end().await;
}

#[test]
fn every_example_of_a_body_matches_its_schema_and_an_undescribed_member_does_not() {
    let mut examples = 0;
    for (what, schema, mut example) in bodies() {
        let fits = CONTRACT.validator(&schema).validate(&example);
        assert!(fits.is_ok(), "{what}: {fits:?}");
        examples += 1;
        if schema["additionalProperties"] == true {
            continue; // deliberately open, as for callbacks
        }
        // A schema that accepts everything describes nothing.
        example["colour"] = json!("blue");
        let schemas = &CONTRACT.document()["components"]["schemas"];
        let open = json!({ "components": { "schemas": schemas }, "allOf": [schema] });
        let open = jsonschema::validator_for(&open).unwrap();
        assert!(!open.is_valid(&example), "{what} accepts everything");
    }
    assert!(examples >= 4, "{examples}");
}

#[test]
fn every_operation_has_a_summary_and_a_unique_name_and_every_post_accepts_a_key() {
    let mut names = BTreeSet::new();
    for (path, item) in members(&CONTRACT.document()["paths"]) {
        for (method, operation) in members(item) {
            let name = text(&operation["operationId"]);
            assert!(names.insert(name), "{name} twice");
            assert!(!text(&operation["summary"]).is_empty(), "{name}");
            assert!(!text(&operation["tags"][0]).is_empty(), "{name}");
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let mut has_key = false;
            for parameter in parameters {
                assert!(parameter["description"].is_string(), "{name}: {parameter}");
                has_key |= parameter["name"] == "Idempotency-Key";
            }
            // The gateway's callbacks are hints, and an offer is read: both may be repeated without a key.
            let is_read = ["/v1/checkout/offer", "/pay"].contains(&path);
            let changes_nothing = path.starts_with("/callbacks/") || is_read;
            let takes_key = method == "post" && !changes_nothing;
            assert_eq!(has_key, takes_key, "{method} {path}");
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

/// A refusal has the example: `proxy/src/http/error/field.rs`.
#[test]
fn every_text_of_a_request_has_an_example() {
    fn check(what: &str, schema: &'static Value) {
        if let Some(reference) = schema["$ref"].as_str() {
            return check(what, CONTRACT.document().pointer(&reference[1..]).unwrap());
        }
        let choices = ["anyOf", "oneOf"].map(|key| schema[key].as_array());
        let choices = choices.into_iter().flatten().flatten();
        choices.for_each(|choice| check(what, choice));
        for (name, member) in members(&schema["properties"]) {
            check(&format!("{what}.{name}"), member);
        }
        check_item(what, &schema["items"]);
        let kind = &schema["type"];
        let is_text = kind == "string" || kind[0] == "string";
        let mut words = ["const", "enum", "oneOf"].into_iter();
        let is_word = words.any(|key| schema.get(key).is_some());
        let has_example = schema["examples"].is_array();
        assert!(!is_text || is_word || has_example, "{what}: {schema}");
    }
    fn check_item(what: &str, schema: &'static Value) {
        if !schema.is_null() {
            check(&format!("{what}[0]"), schema);
        }
    }
    let paths = members(&CONTRACT.document()["paths"]);
    // The gateway is answered 200 whatever it says.
    let paths = paths.filter(|(path, _)| !path.starts_with("/callbacks/"));
    for (what, operation) in paths.flat_map(|(_, item)| members(item)) {
        let content = &operation["requestBody"]["content"]["application/json"];
        check(what, &content["schema"]);
    }
}

fn bodies() -> impl Iterator<Item = (&'static str, Value, Value)> {
    let paths = members(&CONTRACT.document()["paths"]);
    let operations = paths.flat_map(|(_, item)| members(item));
    operations.filter_map(|(_, operation)| {
        let content = operation.get("requestBody")?["content"].get("application/json")?;
        let name = operation["operationId"].as_str()?;
        Some((name, content["schema"].clone(), content["example"].clone()))
    })
}

fn each(value: &'static Value, visit: &mut impl FnMut(&'static Value)) {
    visit(value);
    match value {
        Value::Object(members) => members.values().for_each(|member| each(member, visit)),
        Value::Array(items) => items.iter().for_each(|item| each(item, visit)),
        _ => {}
    }
}

/// Accept a change with `INSTA_UPDATE=always cargo test -p florin-tests --test api -- openapi`.
#[test]
fn the_contract_changes_only_together_with_its_snapshot() {
    let document = florin_proxy::openapi("https://pay.shop.example");
    insta::assert_snapshot!("contract", outline(&document));
}

/// Lists every operation with what is sent and returned, every webhook, and every schema with its members.
fn outline(document: &Value) -> String {
    let mut lines = Vec::new();
    for section in ["paths", "webhooks"] {
        for (path, item) in members(&document[section]) {
            for (method, operation) in members(item) {
                lines.push(format!("{} {path}", method.to_uppercase()));
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    let (place, name) = (text(&parameter["in"]), text(&parameter["name"]));
                    let optional = optional(parameter["required"] == true);
                    let kind = kind(&parameter["schema"]);
                    lines.push(format!("  {place} {name}{optional}: {kind}"));
                }
                for (_, content) in members(&operation["requestBody"]["content"]) {
                    lines.push(format!("  body: {}", kind(&content["schema"])));
                }
                for (status, response) in members(&operation["responses"]) {
                    let content = members(&response["content"]).map(|(content_type, content)| {
                        let schema = &content["schema"];
                        let code = &schema["properties"]["error"]["properties"]["code"];
                        if code.is_null() {
                            format!("{content_type} {}", kind(schema))
                        } else {
                            kind(code)
                        }
                    });
                    let content: Vec<_> = content.collect();
                    lines.push(format!("  {status}: {}", content.join(", ")));
                }
            }
        }
    }
    for (name, schema) in members(&document["components"]["schemas"]) {
        lines.push(name.to_owned());
        list_members("  ", schema, &mut lines);
    }
    lines.join("\n")
}

fn list_members(indent: &str, schema: &Value, lines: &mut Vec<String>) {
    if schema.get("properties").is_none() {
        lines.push(format!("{indent}{}", kind(schema)));
    }
    for (name, member) in members(&schema["properties"]) {
        let required = schema["required"].as_array().into_iter().flatten();
        let optional = optional(required.into_iter().any(|known| known == name));
        if member.get("properties").is_some() {
            lines.push(format!("{indent}{name}{optional}:"));
            list_members(&format!("{indent}  "), member, lines);
        } else {
            lines.push(format!("{indent}{name}{optional}: {}", kind(member)));
        }
    }
}

fn kind(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        return reference.rsplit('/').next().unwrap_or_default().to_owned();
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    let mut keys = ["enum", "oneOf", "anyOf"].into_iter();
    let alternatives = keys.find_map(|key| schema[key].as_array());
    if let Some(alternatives) = alternatives {
        let alternatives = alternatives.iter().map(|value| match value {
            Value::Object(_) => kind(value),
            value => value.to_string(),
        });
        return alternatives.collect::<Vec<_>>().join(" | ");
    }
    let detail = ["format", "pattern", "minimum", "maximum", "maxLength"];
    let detail = detail
        .iter()
        .filter_map(|key| Some(format!(" {key}={}", schema.get(*key)?)));
    let detail: String = detail.collect();
    match &schema["type"] {
        Value::String(name) if name == "array" => format!("list of {}", kind(&schema["items"])),
        Value::String(name) => format!("{name}{detail}"),
        Value::Array(names) => {
            let names: Vec<_> = names.iter().map(text).collect();
            format!("{}{detail}", names.join(" | "))
        }
        _ => "any".to_owned(),
    }
}

fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, member)| (name.as_str(), member))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn optional(is_required: bool) -> &'static str {
    if is_required { "" } else { "?" }
}

/// Members whose values differ from run to run, or with the sandbox's rates.
const CHANGING: [&str; 18] = [
    "address",
    "amount_in_crypto",
    "as_of",
    "id",
    "invoice_id",
    "qr_string",
    "rate_in_local_currency",
    "received_in_crypto",
    "received_in_local_currency",
    "received_in_usd",
    "reference",
    "remaining_in_crypto",
    "remaining_in_local_currency",
    "return_url",
    "sequence",
    "timestamp",
    "transaction_hash",
    "version",
];

/// The same with `(string)`, `(number)` and so on in place of what changes.
fn redacted(value: &Value, name: &str) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter();
            let redact = |(name, value): (&String, &Value)| (name.clone(), redacted(value, name));
            Value::Object(members.map(redact).collect())
        }
        Value::Array(items) => items.iter().map(|item| redacted(item, name)).collect(),
        Value::Null => Value::Null,
        Value::String(_) if is_changing(name) => "(string)".into(),
        Value::Number(_) if is_changing(name) => "(number)".into(),
        fixed => fixed.clone(),
    }
}

fn is_changing(name: &str) -> bool {
    CHANGING.contains(&name)
        || name.ends_with("_at")
        || name.ends_with("_seconds")
        || name.ends_with("_seconds_ago")
}

fn add(text: &mut String, title: &str, value: &Value) {
    let json = serde_json::to_string_pretty(&redacted(value, "")).unwrap();
    writeln!(text, "{title}\n{json}\n").unwrap();
}

/// An order that is paid in two parts. `each` is called in each status.
async fn paid_in_two_parts(world: &World, mut each: impl AsyncFnMut(&str, &Checkout)) -> Checkout {
    let checkout = world.customer().open("ebook").await;
    each("open", &checkout).await;
    let view = checkout.choose("BTC").await;
    each("awaiting_payment", &checkout).await;
    let address = view["attempt"]["address"].as_str().unwrap();
    let invoice = world.sandbox().invoice_of(address).await;
    for (payment, status) in [("half", "underpaid"), ("rest", "paid")] {
        world.sandbox().pay_invoice(&invoice, payment).await;
        world.sandbox().mine(3).await;
        checkout.wait_for(status).await;
        each(status, &checkout).await;
    }
    checkout
}

#[tokio::test]
async fn what_a_browser_and_a_store_read_of_an_order_and_an_endpoint_receives() {
    let world = World::start().await;
    let mut text = String::new();
    let checkout = paid_in_two_parts(&world, async |status, checkout| {
        let path = format!("GET /v1/checkout, {status}");
        add(&mut text, &path, &checkout.view().await);
        let path = format!("GET /v1/orders/{{id}}, {status}");
        add(
            &mut text,
            &path,
            &world.store().order(&checkout.order).await,
        );
    })
    .await;
    insta::assert_snapshot!("orders", text);
    let delivered = eventually("the last event", async || {
        let accepted = world.webhooks.accepted(&checkout.order);
        let is_last = accepted.last()?.kind == "order.paid";
        is_last.then_some(accepted)
    })
    .await;
    let mut text = String::new();
    for kind in [
        "order.created",
        "order.attempt_opened",
        "order.underpaid",
        "order.paid",
    ] {
        let delivery = delivered.iter().find(|delivery| delivery.kind == kind);
        add(&mut text, "POST, a webhook", &delivery.unwrap().body);
    }
    insta::assert_snapshot!("webhooks", text);
    let paid = &delivered.last().unwrap().body;
    let page = include_str!("../../docs/reference/webhooks.md");
    let (_, rest) = page.split_once("```json\n").unwrap();
    let (documented, _) = rest.split_once("```").unwrap();
    let documented = serde_json::from_str(documented).unwrap();
    assert_eq!(redacted(&documented, ""), redacted(paid, ""));
    world.end().await;
}
