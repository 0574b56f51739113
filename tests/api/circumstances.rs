//! A purchase in each of the circumstances that real merchants have: each row with the report it comes from.

use serde_json::json;
use support::{World, eventually, pay_in_full};

/// Currency, amount sent, amount priced (`none` if the gateway's account cannot price it), the account's currency, what a
/// dollar costs in it, seconds by which the gateway's clock is ahead, source.
const ROWS: &str = "\
USD 19.90 19.90 USD 1 0 payment-service.md
JPY 705.00 705 JPY 151.7 0 woocommerce/woocommerce-gateway-amazon-pay#148: JPY, sent with two decimals
KRW 13500 13500 KRW 1391.55 0 Paymenter/Paymenter#1258: KRW, a hundred times too much
BHD 35.20 35.200 BHD 0.376 0 woocommerce/woocommerce-gateway-stripe#2720: BHD, a tenth of the price
CLF 1.0005 1.0005 CLF 0.0243 0 ISO 4217, list one: a unit of account with four decimals
EUR 18 18.00 EUR 0.9143 0 payment-service.md: local_currency_code; a store in the account's currency
USD 19.90 19.90 EUR 0.9143 0 payment-service.md: local_currency_code; a store in dollars
VND 250000 none EUR 0.9143 0 blockonomics/woocommerce-plugin#329: a currency without a price
USD 19.90 19.90 USD 1 5 goincrypto/cryptocom-exchange#11: the machine's clock was 5 s off
USD 19.90 19.90 USD 1 -3600 gateio/WebSocket-API#2: the machine's clock was never set";

/// From POST /v1/orders to the webhook; or a refusal that names the currency, in the log and to the store.
async fn buy(row: &'static str) {
    let words: Vec<&str> = row.splitn(7, ' ').collect();
    let [currency, sent, priced, account, per_dollar, clock_ahead, _] = words[..] else {
        panic!("a row has seven parts: {row}");
    };
    let world = World::with(|config| {
        config.currency = currency;
        config.account = (account, per_dollar);
        // With the hosted flow another currency would be a warning.
        config.checkout_url = Some(String::new());
    })
    .await;
    world
        .sandbox()
        .set_clock(clock_ahead.parse().unwrap())
        .await;
    let order = json!({ "amount": sent, "currency": currency, "reference": "cart-1" });
    let opened = world.store().open(&order).await;
    if priced == "none" {
        let alarm = "no order of the store can be paid: the gateway's account prices orders in";
        world.expect_error(alarm);
        let refused = opened.refused(422, "currency_unavailable");
        let message = refused.naming("currency").text_at("/error/message");
        assert!(message.contains(&format!("{account} and USD")), "{message}");
        eventually("the log names it", async || {
            world.logged(alarm).then_some(())
        })
        .await;
        world.end().await;
        return;
    }
    let opened = opened.with(201);
    let checkout = world.customer().checkout_of(&opened);
    assert_eq!(opened.text_at("/order/amount"), priced, "{row}");
    checkout.choose("LTC").await;
    pay_in_full(&world, &checkout).await;
    let events = world.store().events_of(&checkout.order).await;
    let paid = events.iter().find(|event| event["type"] == "order.paid");
    let order = &paid.unwrap_or_else(|| panic!("{row}: {events:?}"))["data"]["order"];
    let found = (&order["amount"], &order["currency"]);
    assert_eq!(found, (&json!(priced), &json!(currency)), "{row}");
    world.end().await;
}

#[tokio::test]
async fn an_order_is_paid_or_refused_by_name_in_each_circumstance() {
    for row in ROWS.lines() {
        buy(row).await;
    }
}
