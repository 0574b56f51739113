//! The operator's API on the admin listener, and from a terminal by `florin-proxy orders`, `deliveries` and `webhooks`.

use reqwest::Method;
use serde_json::{Value, json};
use support::{OperatorApi, Reply, World, eventually, rows, secrets, write_private};

use crate::helpers::{delivered_events, paid_event_count};
use crate::metrics::Scrape;
use crate::operators_pages::underpaid;
use crate::program::{assert_ended, free_port, run_for};

fn ada(world: &World) -> OperatorApi {
    world.operator(secrets::OPERATOR_TOKEN)
}

/// What a decision changes is in `crates/orders/src/decide/tests.rs`.
#[tokio::test]
async fn an_operator_decides_once_with_a_reason_about_an_open_question() {
    let world = World::start().await;
    let (ada, checkout) = (ada(&world), underpaid(&world).await);
    let waiting = ada.get("/api/orders?attention=true").await.with(200);
    assert_eq!(waiting.text_at("/orders/0/id"), checkout.order);
    assert_eq!(waiting.text_at("/orders/0/attention/0/cause"), "underpaid");
    let needing = "florin_orders_needing_person{cause=\"underpaid\"}";
    assert_eq!(Scrape::of(&world).await.value(needing), 1);
    let path = format!("/api/orders/{}/decision", checkout.order);
    let version = ada.order(&checkout.order).await["version"].clone();
    let body = |decision: &str, reason: &str| json!({ "decision": decision, "reason": reason, "version": version });
    for (decision, reason, field) in [("resolve", " ", "reason"), ("pay", "x", "decision")] {
        let refused = ada.post(&path, &body(decision, reason)).await;
        refused.with(400).naming(field);
    }
    for (query, field) in [("status=unknown", "status"), ("limit=101", "limit")] {
        let refused = ada.get(&format!("/api/orders?{query}")).await;
        refused.with(400).naming(field);
    }
    assert_eq!(ada.get("/api/audit").await.body["entries"], json!([]));
    let decided = ada.decide(&checkout.order, "accept_as_paid").await;
    let order = decided.with(200).body["order"].clone();
    assert_eq!(order["status"], "paid");
    assert_eq!(order["decision"]["outcome"], "accepted");
    // A second operator whose page still shows the order as it was; and one who knows.
    let late = ada.post(&path, &body("accept_as_paid", "me too")).await;
    let again = ada.decide(&checkout.order, "accept_as_paid").await;
    for (refused, code) in [(late, "order_changed"), (again, "decision_refused")] {
        assert_eq!(refused.with(409).text_at("/error/code"), code);
    }
    let events = delivered_events(&world, &checkout.order).await;
    let last = &events[events.len() - 2..];
    assert_eq!(last, ["order.underpaid", "order.paid"]);
    let paid = world.webhooks.accepted(&checkout.order).pop().unwrap();
    let sent = &paid.body["data"]["order"];
    assert_eq!(sent["decision"]["outcome"], "accepted");
    for (store, status) in [("demo", 200), ("other", 409), ("stranger", 404)] {
        let path = format!("/api/webhooks/{store}/default/test");
        ada.post(&path, &json!({})).await.with(status);
    }
    world.end().await;
}

#[tokio::test]
async fn the_api_needs_an_operators_token_and_the_role_for_a_change() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let order = &checkout.order;
    let event = world.store().events_of(order).await[0]["id"].clone();
    let event = event.as_str().unwrap();
    let stranger = OperatorApi {
        token: None,
        ..ada(&world)
    };
    let store = world.operator(secrets::STORE_KEY);
    let at_the_public_listener = OperatorApi {
        base: world.proxy_url(),
        ..ada(&world)
    };
    let reader = world.operator(secrets::READER_TOKEN);
    for (is_change, path) in [
        (false, "/api/orders".to_owned()),
        (false, format!("/api/orders/{order}")),
        (false, "/api/deliveries?store=demo".to_owned()),
        (false, "/api/audit".to_owned()),
        (false, "/api/settlements?store=demo".to_owned()),
        (true, format!("/api/orders/{order}/decision")),
        (true, format!("/api/orders/{order}/refunds")),
        (true, format!("/api/deliveries/{event}/redeliver")),
        (true, "/api/webhooks/demo/default/test".to_owned()),
    ] {
        let body = json!({ "decision": "resolve", "reason": "no", "version": 1 });
        let (method, body) = if is_change {
            (Method::POST, Some(&body))
        } else {
            (Method::GET, None)
        };
        for (caller, status) in [
            (&stranger, 401),
            (&store, 401),
            (&at_the_public_listener, 404),
            (&reader, if is_change { 403 } else { 200 }),
        ] {
            let response = caller.send(method.clone(), &path, body).await;
            assert_eq!(response.status, status, "{path}: {}", response.text);
        }
        let response = reader.send(method, &path, body).await;
        assert_eq!(response.header("cache-control"), Some("no-store"));
    }
    world.end().await;
}

const TOKEN: &str = "FLORIN_OPERATOR_TOKEN";

/// Runs a command as the operator who may write; it must succeed.
pub(crate) async fn ada_runs(world: &World, words: &[&str]) -> String {
    let ended = run_for(world, words, &[(TOKEN, secrets::OPERATOR_TOKEN)]).await;
    assert_eq!(ended.code, Some(0), "{words:?}: {}", ended.printed);
    ended.printed
}

async fn ada_json(world: &World, words: &[&str]) -> Value {
    let printed = ada_runs(world, &[words, &["--json"]].concat()).await;
    serde_json::from_str(&printed).unwrap()
}

/// Runs a command as the operator who may write; it must fail. Returns the sentence.
async fn ada_fails(world: &World, words: &[&str]) -> String {
    let ended = run_for(world, words, &[(TOKEN, secrets::OPERATOR_TOKEN)]).await;
    assert_eq!(ended.code, Some(1), "{words:?}: {}", ended.printed);
    ended.printed
}

#[tokio::test]
async fn an_order_is_found_shown_and_resolved_an_event_sent_again_and_an_endpoint_tested() {
    let world = World::start().await;
    let checkout = underpaid(&world).await;
    let id = checkout.order.as_str();
    // `proxy/src/config/source/tests.rs` has where the token may come from.
    let file = world.file("ada.token");
    write_private(&file, secrets::OPERATOR_TOKEN);
    let file = file.display().to_string();
    let listed = run_for(&world, &["orders", "list", "--token-file", &file], &[]).await;
    assert_ended(&listed, 0, &[id]);
    let waiting = ada_runs(&world, &["orders", "list", "--attention"]).await;
    let first = waiting.lines().next().unwrap();
    assert!(first.starts_with(id), "{waiting}");
    assert!(first.ends_with("  Underpaid"), "{waiting}");
    let found = ada_json(&world, &["orders", "list", "--search", id]).await;
    assert_eq!(found["orders"][0]["id"], id);
    let newest = world.customer().open("mug").await.order;
    let page = ada_json(&world, &["orders", "list", "--limit", "1"]).await;
    assert_eq!(page["orders"][0]["id"], newest);
    let next = ["orders", "list", "--after", page["next"].as_str().unwrap()];
    let rest = ada_json(&world, &next).await;
    assert_eq!(rest["orders"][0]["id"], id);
    let json = ada_json(&world, &["orders", "show", id]).await;
    let version = json["order"]["version"].to_string();
    let address = json["attempts"][0]["invoice"]["address"].as_str().unwrap();
    let shows = async |parts: &[&str]| {
        let shown = ada_runs(&world, &["orders", "show", id]).await;
        for part in parts {
            assert!(shown.contains(part), "{part} in {shown}");
        }
    };
    let resolve = format!("orders resolve {id} --decision accept_as_paid --seen {version}");
    shows(&[
        "\n  status                   underpaid\n",
        &format!("  invoice address          {address}\n"),
        "  delivered  order.underpaid\n",
        &format!("  florin-proxy {resolve} --reason …\n"),
    ])
    .await;
    let words: Vec<&str> = resolve.split(' ').collect();
    let words = [&words[..], &["--reason", "agreed by phone"]].concat();
    let decided = ada_runs(&world, &words).await;
    let sentence = format!("{id} is paid, version ");
    assert!(decided.starts_with(&sentence), "{decided}");
    // A second operator, who saw the order as it was.
    let refused = ada_fails(&world, &words).await;
    let sentence = "florin-proxy: the order has changed: it has version ";
    assert!(refused.starts_with(sentence), "{refused}");
    shows(&["  ada  accept_as_paid  underpaid  paid  agreed by phone\n"]).await;
    assert_eq!(paid_event_count(&world, id).await, 1);

    world.wait_for_deliveries().await;
    let list = ["deliveries", "list", "--store", "demo", "--limit", "1"];
    let listed = ada_runs(&world, &list).await;
    let (delivery, _) = listed.split_once("  ").unwrap();
    let more = format!("More: --after {delivery}\n");
    assert!(listed.contains("  order.paid  204  "), "{listed}");
    assert!(listed.ends_with(&more), "{listed}");
    let before = world.webhooks.accepted(id).len();
    let sent = ada_runs(&world, &["deliveries", "redeliver", delivery]).await;
    let sentence = " (order.paid) is sent again.\n";
    assert!(sent.ends_with(sentence), "{sent}");
    eventually("the event is delivered again", async || {
        (world.webhooks.accepted(id).len() > before).then_some(())
    })
    .await;
    let tested = ada_runs(&world, &["webhooks", "test", "demo"]).await;
    let sentence = "The endpoint accepts the test event: answered 2";
    assert!(tested.starts_with(sentence), "{tested}");
    world.webhooks.reply_with(Reply::Status(500));
    let refused = ada_fails(&world, &["webhooks", "test", "demo", "--json"]).await;
    let json: Value = serde_json::from_str(refused.lines().next().unwrap()).unwrap();
    let found = (&json["accepted"], &json["http_status"]);
    assert_eq!(found, (&json!(false), &json!(500)));
    world.webhooks.reply_with(Reply::Accept);
    world.end().await;
}

/// The operator, the code of the exit, the words of the command, and a part of the sentence.
const REFUSALS: &str = r#"
reader   | 1 | webhooks test demo | rita has the role read: this needs role = "write"
stranger | 1 | orders list | no operator with this token: compare it with `token` of [[operator]]
writer   | 1 | orders show ord_1 | there is no such order
writer   | 1 | orders show ../audit | there is no such order
writer   | 1 | deliveries redeliver evt_unknown | there is no such event or delivery
writer   | 1 | webhooks test other | the store other has no webhook
writer   | 2 | orders list --after ord_1 | after:
writer   | 2 | orders list --status gone | awaiting_payment
writer   | 2 | orders list --limit 101 | 101
writer   | 2 | orders resolve ord_1 --decision resolve --reason x | --seen <VERSION>
writer   | 1 | orders refund ord_1 --amount 1 | there is no such order
writer   | 2 | orders list --token canary | unexpected argument '--token'
writer   | 1 | orders list --at SANDBOX | is another program at this address
writer   | 1 | orders list --at NOTHING | no proxy answers at NOTHING, its admin_listen: is it running
"#;

#[tokio::test]
async fn each_refusal_is_a_sentence() {
    let mut world = World::start().await;
    let sandbox = world.sandbox_url().replace("http://", "");
    let nothing = free_port().to_string();
    let table = REFUSALS.replace("SANDBOX", &sandbox);
    let table = table.replace("NOTHING", &nothing);
    for [who, code, words, sentence] in rows(&table) {
        let token = match who {
            "writer" => secrets::OPERATOR_TOKEN,
            "reader" => secrets::READER_TOKEN,
            _ => "0123456789abcdef0123456789abcdef",
        };
        let words: Vec<&str> = words.split(' ').collect();
        let ended = run_for(&world, &words, &[(TOKEN, token)]).await;
        let printed = ended.printed;
        assert_eq!(ended.code, code.parse().ok(), "{words:?}: {printed}");
        assert!(printed.contains(sentence), "{sentence} in {printed}");
        assert!(!printed.contains("canary-"), "{printed}");
    }
    world.stop_proxy().await;
    let none = ada_fails(&world, &["orders", "list"]).await;
    let address = world.admin_url().replace("http://", "");
    let sentence = format!("no proxy answers at {address}");
    assert!(none.contains(&sentence), "{none}");
    world.start_proxy().await;
    world.end().await;
}
