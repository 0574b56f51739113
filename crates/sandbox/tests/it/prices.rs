//! GET /prices

use florin_money::{Asset, Currency};
use florin_sandbox::Settings;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn the_nine_assets_of_the_specification_are_offered() {
    let world = World::start().await;
    let prices = world.merchant().prices().await;
    assert_eq!(prices.as_object().unwrap().len(), 9);
    for asset in Asset::ALL {
        let entry = &prices[asset.crypto_code().as_str()];
        for member in [
            "amount_in_local_currency",
            "amount_in_crypto",
            "amount_in_usd",
        ] {
            assert!(
                entry["rates"][member].is_string(),
                "{asset:?} {member}: {entry}"
            );
        }
        assert_eq!(entry["rates"]["local_currency_code"], "USD");
        assert!(entry["limits"]["min"].is_string() && entry["limits"]["max"].is_string());
        assert!(
            entry["conversion_id"]
                .as_str()
                .unwrap()
                .starts_with("conv_")
        );
    }
}

#[tokio::test]
async fn a_limit_that_does_not_exist_is_an_empty_string() {
    let world = World::start().await;
    let prices = world.merchant().prices().await;
    assert_eq!(prices["BNB"]["limits"], json!({"min": "", "max": "8"}));
    assert_eq!(prices["TRX"]["limits"], json!({"min": "5", "max": ""}));
}

#[tokio::test]
async fn an_unknown_asset_can_be_offered() {
    let world = World::start_with(Settings {
        unknown_asset: true,
        ..Settings::default()
    })
    .await;
    let order = world.merchant().order("USDTSOL", "20", "20.00").await;
    let invoice = world.merchant().post("/invoice", &order).ok().await;
    assert_eq!(invoice["deposit_crypto"], "USDTSOL");
}

#[tokio::test]
async fn prices_are_stated_in_the_local_currency_too() {
    let world = World::start_with(Settings {
        local_currency: Currency::parse("EUR").unwrap(),
        local_per_usd: "0.92".parse().unwrap(),
        ..Settings::default()
    })
    .await;
    let prices = world.merchant().prices().await;
    assert_eq!(
        prices["USDTTRC20"]["rates"],
        json!({
            "amount_in_local_currency": "0.92",
            "amount_in_crypto": "1",
            "amount_in_usd": "1.00",
            "local_currency_code": "EUR",
        })
    );
}

#[tokio::test]
async fn a_moved_price_is_offered_from_the_next_call_on() {
    let world = World::start().await;
    world
        .control("prices", r#"{"crypto_code":"BTC","usd":"70000"}"#)
        .await;
    let prices = world.merchant().prices().await;
    assert_eq!(prices["BTC"]["rates"]["amount_in_usd"], "70000.00");
}
