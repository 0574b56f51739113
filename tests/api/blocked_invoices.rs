//! The gateway's invoice is wrong: no address of it is shown, no payment to it is credited, and the store is notified.

use std::time::Duration;

use serde_json::{Value, json};
use support::{World, eventually, pay_in_full};

use crate::helpers::{invoice_of, paid_event_count, wait_for_event};

/// A valid address of the test network that is not the invoice's.
const STRANGERS: &str = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx";
/// Another one of an EVM chain.
const EVM: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

/// Every check of a code has its own test in `crates/address`.
#[tokio::test]
async fn an_address_that_fails_a_check_is_never_shown() {
    let world = World::start().await;
    world.expect_error("the gateway's invoice is not shown");
    let address = |text: &str| json!({ "address": text });
    let code = |text: &str| json!({ "qr_string": text });
    let both = |text: &str, query: &str| {
        let scheme = if text == EVM { "ethereum" } else { "bitcoin" };
        json!({ "address": text, "qr_string": format!("{scheme}:{text}{query}") })
    };
    for (asset, change) in [
        // One wrong letter: the checksum does not match.
        ("BTC", address("tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsy")),
        // An address of another network.
        ("BTC", address("0x52908400098527886E0F7030069857D2E4169EE7")),
        // An address of the main network.
        ("BTC", address("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4")),
        ("BTC", address("")),
        // The QR string names another recipient, amount or chain, or more than a payment.
        ("BTC", code(STRANGERS)),
        ("BTC", both(STRANGERS, "?amount=1")),
        (
            "BTC",
            both(STRANGERS, "?pj=https%3A%2F%2Felsewhere.example"),
        ),
        ("ETH", both(EVM, "@1")),
        ("BTC", code("javascript:alert(1)")),
        ("BTC", code("")),
    ] {
        let checkout = world.customer().open("ebook").await;
        world.sandbox().override_next_invoice(change.clone()).await;
        let response = checkout.request_attempt(asset).await.with(200);
        let view = &response.body;
        assert_eq!(view["status"], "blocked", "{change}");
        assert_eq!(view["blocked_reason"], "invoice_rejected", "{change}");
        assert_eq!(view["attempt"], Value::Null, "{change}");
        for text in [response.text, checkout.get("").await.text] {
            for shown in ["tb1q", "bc1q", "0x5", "bitcoin:", "address", "qr_string"] {
                assert!(!text.contains(shown), "{change}: {text}");
            }
        }
        wait_for_event(&world, &checkout.order, "order.blocked").await;
        // A correct invoice can still be opened.
        checkout.choose("LTC").await;
    }
    world.end().await;
}

#[tokio::test]
async fn a_changed_address_blocks_the_attempt_even_if_it_returns() {
    let world = World::start_without_callbacks().await;
    world.expect_error("the gateway changed an invoice's address");
    world.expect_error("a payment needs review");
    let checkout = world.customer().open("ebook").await;
    let invoice = invoice_of(&world, &checkout.choose("BTC").await).await;
    world.sandbox().change_address(&checkout, STRANGERS).await;
    let view = checkout.wait_for("blocked").await;
    assert_eq!(view["attempt"], Value::Null);
    assert_eq!(view["blocked_reason"], "address_changed");
    assert!(!view.to_string().contains("tb1q"), "{view}");
    wait_for_event(&world, &checkout.order, "order.blocked").await;
    // The gateway is right again, and what the customer had sent completes.
    world.sandbox().override_invoice(&invoice, &json!({})).await;
    world.sandbox().settle_invoice(&invoice, "exact").await;
    world.wait_for_deliveries().await;
    world.skip(Duration::from_mins(2));
    eventually("the payment needs review", async || {
        world.logged("a payment needs review").then_some(())
    })
    .await;
    assert_eq!(checkout.view().await["status"], "blocked");
    assert_eq!(paid_event_count(&world, &checkout.order).await, 0);
    let refused = checkout.post("/paid", &json!({})).await;
    refused.refused(409, "nothing_to_pay");
    world.end().await;
}

#[tokio::test]
async fn an_invoice_id_of_another_order_blocks_the_attempt_at_once() {
    let world = World::start().await;
    world.expect_error("the gateway gave the invoice of another order");
    let first = world.customer().open("ebook").await;
    let invoice = invoice_of(&world, &first.choose("BTC").await).await;
    let second = world.customer().open("ebook").await;
    let overrides = json!({ "invoice_id": invoice });
    world.sandbox().override_next_invoice(overrides).await;
    let view = second.request_attempt("BTC").await.with(200).body;
    assert_eq!(view["status"], "blocked");
    assert_eq!(view["attempt"], Value::Null);
    assert!(world.logged(&first.order), "the log names both orders");
    // The attempt has ended: another one is possible at once.
    second.choose("LTC").await;
    pay_in_full(&world, &first).await;
    assert_eq!(second.view().await["status"], "awaiting_payment");
    assert_eq!(paid_event_count(&world, &second.order).await, 0);
    world.end().await;
}
