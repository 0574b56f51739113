//! A purchase in each of the circumstances that real merchants have.

use serde_json::json;
use support::{Circumstance, World, pay_in_full};

/// From POST /v1/orders to the webhook; or a refusal that names the currency, in the log and to the store.
async fn buy(circumstance: Circumstance) {
    let Circumstance { currency, sent, .. } = circumstance;
    let world = World::start_with(circumstance.config()).await;
    let what = format!("{circumstance:?}");
    let alarm = "no order of the store can be paid: the gateway's account prices orders in";
    if circumstance.priced.is_none() {
        world.expect_error(alarm);
    }
    let sandbox = world.sandbox();
    sandbox.set_clock(circumstance.clock_ahead).await;
    let order = json!({ "amount": sent, "currency": currency, "reference": "cart-1" });
    let opened = world.store().open(&order).await;
    let Some(priced) = circumstance.priced else {
        let refused = opened.refused(422, "currency_unavailable");
        let message = refused.naming("currency").text_at("/error/message");
        let (account, _) = circumstance.account;
        assert!(message.contains(&format!("{account} and USD")), "{message}");
        support::eventually("the log names it", async || {
            world.logged(alarm).then_some(())
        })
        .await;
        world.end().await;
        return;
    };
    let opened = opened.with(201);
    let id = opened.text_at("/order/id");
    assert_eq!(opened.text_at("/order/amount"), priced, "{what}");
    let token = opened.text_at("/client_token");
    let checkout = world.customer().with_token(&token, &id);
    checkout.choose("LTC").await;
    pay_in_full(&world, &checkout).await;
    let events = world.store().events_of(&id).await;
    let paid = events.iter().find(|event| event["type"] == "order.paid");
    let order = &paid.unwrap_or_else(|| panic!("{what}: {events:?}"))["data"]["order"];
    assert_eq!(
        (&order["amount"], &order["currency"]),
        (&json!(priced), &json!(currency)),
        "{what}"
    );
    world.end().await;
}

#[tokio::test]
async fn an_order_is_paid_or_refused_by_name_in_each_circumstance() {
    for circumstance in Circumstance::all() {
        buy(circumstance).await;
    }
}
