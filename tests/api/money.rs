//! Money that is owed and money that was taken: refunds and settlements, by the store's key, on the operator's page and from a
//! terminal.

use serde_json::json;
use support::{World, secrets};

use crate::helpers::delivered_events;
use crate::idempotency::is_replayed;
use crate::operators::ada_runs;
use crate::operators_pages::{ada, hidden};

#[tokio::test]
async fn a_refund_is_recorded_by_the_store_on_the_page_and_from_a_terminal() {
    let world = World::start().await;
    let checkout = world.customer().open_with("mug", "BTC").await;
    world.sandbox().settle(&checkout, "double").await;
    checkout.wait_for("overpaid").await;
    let order = checkout.order;
    let path = format!("/v1/orders/{order}/refunds");
    for (amount, transaction, field) in [
        ("0", "cafe1", "amount_in_crypto"),
        ("9", "cafe1", "amount_in_crypto"),
        ("0.00001", "a b", "transaction"),
    ] {
        let body = json!({ "amount_in_crypto": amount, "transaction": transaction });
        let refused = world.store().post(&path, &body).await;
        refused.refused(400, "invalid_request").naming(field);
    }
    let body = json!({ "amount_in_crypto": "0.00001" });
    let foreign = world.other_store().post(&path, &body).await;
    foreign.refused(404, "not_found");
    let store = world.store().with_idempotency_key("first-refund");
    for is_again in [false, true] {
        let refunded = store.post(&path, &body).await.with(200);
        assert_eq!(is_replayed(&refunded), is_again);
        // It was owed: the store keeps the whole price.
        assert_eq!(refunded.body["refunds"][0]["amount"], "0.00");
    }
    let owed = async || {
        let known = world.operator(secrets::OPERATOR_TOKEN).order(&order).await;
        known["owed"][0]["amount_in_crypto"]
            .as_str()
            .map(str::to_owned)
    };
    let left = owed().await.unwrap();
    let mut pages = ada(&world).await;
    let page = pages.get(&format!("/orders/{order}")).await.with(200);
    let sentence = format!("Owed to the customer: <strong>{left} BTC</strong>");
    assert!(page.text.contains(&sentence), "{sentence} in {}", page.text);
    let (csrf, version) = (hidden(&page, "csrf"), hidden(&page, "version"));
    let form = [
        ("csrf", &*csrf),
        ("version", &version),
        ("asset", "BTC"),
        ("amount", "0.00002"),
    ];
    // A second press of the button, then an old page.
    for (transaction, expected) in [(" cafe2 ", 303), ("0xCAFE2", 303), ("cafe3", 409)] {
        let path = format!("/orders/{order}/refunds");
        let form = [&form[..], &[("transaction", transaction)]].concat();
        pages.post(&path, &form).await.with(expected);
    }
    let left = owed().await.unwrap();
    let words = ["orders", "refund", &order, "--amount", &left];
    let printed = ada_runs(&world, &words).await;
    assert!(
        printed.contains(&format!("  {left}  BTC  0.00")),
        "{printed}"
    );
    assert_eq!(owed().await, None);
    let page = pages.get(&format!("/orders/{order}")).await.with(200).text;
    for text in [
        "<strong>Refunded</strong> <span>0.00002 BTC</span> <code>cafe2</code>",
        "Operator ada: refund",
        "Staff server: refund",
    ] {
        assert!(page.contains(text), "{text} in {page}");
    }
    let events = delivered_events(&world, &order).await;
    assert_eq!(events[events.len() - 3..], ["order.refunded"; 3]);
    world.end().await;
}

#[tokio::test]
async fn settlements_have_totals_net_of_refunds_for_the_store_an_operator_and_a_table() {
    let zone = "time_zone = \"Pacific/Auckland\"";
    let world = World::with(|config| config.store = zone.to_owned()).await;
    let checkout = world.customer().open_with("mug", "USDTTRC20").await;
    world.sandbox().settle(&checkout, "exact").await;
    checkout.wait_for("paid").await;
    let order = &checkout.order;
    let path = format!("/v1/orders/{order}/refunds");
    let body = json!({ "amount_in_crypto": "1.5" });
    world.store().post(&path, &body).await.with(200);
    let page = world
        .store()
        .get("/v1/settlements?limit=1")
        .await
        .with(200)
        .body;
    assert_eq!(page["time_zone"], "Pacific/Auckland");
    let total = &page["totals"][0];
    let found = ["name", "network", "refunded"].map(|name| total[name].as_str().unwrap());
    assert_eq!(found, ["USDT", "Tron", "1.5"], "{page}");
    assert_eq!(page["currencies"][0]["received"], "12.50");
    let next = format!("/v1/settlements?after={}", page["next"].as_str().unwrap());
    let rest = world.store().get(&next).await.with(200).body;
    let line = &rest["lines"][0];
    assert_eq!(
        (&line["kind"], &line["amount_in_crypto"]),
        (&json!("refund"), &json!("-1.5"))
    );
    let refused = world.store().get("/v1/settlements?month=13").await;
    refused.refused(400, "invalid_request").naming("month");
    let csv = world
        .store()
        .get("/v1/settlements?format=csv")
        .await
        .with(200);
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8"));
    let lines: Vec<&str> = csv.text.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(
        lines[2].contains(",USDT,Tron,-1.5,") && lines[1].contains("+13:00,"),
        "{lines:?}"
    );
    let printed = ada_runs(&world, &["settlements", "--store", "demo"]).await;
    assert!(printed.contains("  USDT  Tron  1  "), "{printed}");
    let printed = ada_runs(&world, &["settlements", "--store", "demo", "--csv"]).await;
    assert!(printed.lines().eq(lines), "{printed}");
    let page = ada(&world)
        .await
        .get("/settlements?store=demo")
        .await
        .with(200)
        .text;
    for text in ["Days of Pacific/Auckland", "+13:00</td>"] {
        assert!(page.contains(text), "{page}");
    }
    world.end().await;
}
