//! QR codes and wallet links, which the proxy writes for the amount due, whatever the gateway wrote; and the transaction that a
//! wallet names.

use florin_money::{Amount, Asset};
use florin_widget::format::links::is_wallet;
use serde_json::{Value, json};
use support::World;

use crate::idempotency::database;

/// The sandbox's test token of Tether.
const ON_SEPOLIA: &str = "0xaA8E23Fb1079EA71e0a56F48a2aA51851D8433D0";
const ON_NILE: &str = "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf";

const WARNINGS: [&str; 4] = [
    "only_this_asset",
    "confirmations",
    "network_fee",
    "late_price",
];

/// Converts a decimal number to units of 10^-`decimals`, without leading zeros.
fn units(amount: &str, decimals: usize) -> String {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, ""));
    let digits = format!("{whole}{fraction:0<decimals$}");
    digits.trim_start_matches('0').to_owned()
}

/// Returns the expected link for an amount due.
fn expected(code: &str, address: &str, due: &str) -> String {
    let coins = match due.trim_end_matches('0') {
        digits if due.contains('.') => digits.trim_end_matches('.'),
        _ => due,
    };
    let wei = units(due, 18);
    match code {
        "BTC" => format!("bitcoin:{address}?amount={coins}"),
        "LTC" => format!("litecoin:{address}?amount={coins}"),
        "DOGE" => format!("dogecoin:{address}?amount={coins}"),
        "BCH" => format!("{address}?amount={coins}"),
        "ETH" => format!("ethereum:{address}@11155111?value={wei}"),
        "BNB" => format!("ethereum:{address}@97?value={wei}"),
        "USDTERC20" => {
            let units = units(due, 6);
            format!("ethereum:{ON_SEPOLIA}@11155111/transfer?address={address}&uint256={units}")
        }
        "USDTTRC20" => {
            let point = if coins.contains('.') { "" } else { ".0" };
            format!("tron:{address}?token={ON_NILE}&amount={coins}{point}")
        }
        // A `tron:` link without a token would spend TRX of the main network.
        "TRX" => address.to_owned(),
        _ => panic!("{code}: which link is expected?"),
    }
}

#[track_caller]
fn assert_requests_amount_due(code: &str, view: &Value) {
    let attempt = &view["attempt"];
    let text = |member: &str| attempt[member].as_str().unwrap().to_owned();
    let link = expected(code, &text("address"), &text("remaining_in_crypto"));
    assert_eq!(text("qr_string"), link, "{attempt}");
    // The page shows a button for the link, unless it is the address alone.
    let is_address = link == text("address");
    assert_eq!(is_wallet(&link, &text("address")), !is_address, "{code}");
}

#[tokio::test]
async fn the_link_of_every_asset_requests_the_amount_due() {
    let world = World::start().await;
    for code in Asset::ALL.map(Asset::crypto_code) {
        let code = code.as_str();
        let checkout = world.customer().open("ebook").await;
        let view = checkout.choose(code).await;
        let whole = view["attempt"]["qr_string"].clone();
        let warnings = view["attempt"]["warnings"].as_array().unwrap();
        let kinds: Vec<_> = warnings.iter().map(|warning| &warning["kind"]).collect();
        assert_eq!(kinds, WARNINGS, "{code}");
        assert_eq!(warnings[1]["number"], 3, "{code}");
        assert_eq!(warnings[3]["number"], 15, "{code}");
        assert_eq!(
            view["attempt"]["remaining_in_crypto"],
            view["attempt"]["amount_in_crypto"]
        );
        assert_requests_amount_due(code, &view);

        world.sandbox().settle(&checkout, "half").await;
        let view = checkout.wait_for("underpaid").await;
        assert_requests_amount_due(code, &view);
        let [asked, received, remaining] = ["amount", "received", "remaining"].map(|amount| {
            let member = &view["attempt"][format!("{amount}_in_crypto")];
            Amount::parse(member.as_str().unwrap()).unwrap()
        });
        assert_eq!(asked.checked_sub(received).unwrap(), remaining, "{code}");
        if code != "TRX" {
            assert_ne!(view["attempt"]["qr_string"], whole, "{code}");
        }

        world.sandbox().settle(&checkout, "rest").await;
        let view = checkout.wait_for("paid").await;
        assert_eq!(view["attempt"]["qr_string"], view["attempt"]["address"]);
    }
    world.end().await;
}

/// A transaction that a customer's wallet names: kept with the order, shown until the gateway has seen a payment, and no proof of
/// one.
const HASH: &str = "0xA1B2c3d4e5f60718293a4b5c6d7e8f90A1B2c3d4e5f60718293a4b5c6d7e8f90";

#[tokio::test]
async fn a_hint_moves_the_page_and_credits_nothing() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let view = checkout.choose("USDTERC20").await;
    let transaction = &view["attempt"]["evm_transaction"];
    assert_eq!(transaction["chain_id"], "0xaa36a7");
    assert_eq!(transaction["value"], "0x0");
    let receiver = view["attempt"]["address"].as_str().unwrap()[2..].to_lowercase();
    let data = transaction["data"].as_str().unwrap();
    assert_eq!(data[34..74], receiver);

    let paid = json!({ "transaction_hash": HASH });
    let view = checkout.post("/paid", &paid).await.with(200).body;
    assert_eq!(view["status"], "checking");
    let attempt = &view["attempt"];
    assert_eq!(attempt["marked_as_paid"], true);
    assert_eq!(attempt["transaction_hint"], HASH.to_lowercase());
    assert_eq!(attempt["transaction_hash"], Value::Null);
    assert_eq!(attempt["received_in_crypto"], "0");

    // Half of it: the transaction for the rest is another one, and the hint has served.
    world.sandbox().settle(&checkout, "half").await;
    let view = checkout.wait_for("underpaid").await;
    let rest = &view["attempt"]["evm_transaction"]["data"];
    assert!(rest.is_string() && rest != data);
    assert_eq!(view["attempt"]["transaction_hint"], Value::Null);
    world.sandbox().settle(&checkout, "rest").await;
    let view = checkout.wait_for("paid").await;
    assert_eq!(view["attempt"]["evm_transaction"], Value::Null);
    world.end().await;
}

#[tokio::test]
async fn a_hint_is_of_the_attempt_whose_address_it_names() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let send = async |hash: &str, address: &str| {
        let mut paid = json!({ "transaction_hash": hash });
        if !address.is_empty() {
            paid["address"] = json!(address);
        }
        checkout.post("/paid", &paid).await
    };
    checkout.choose("ETH").await;
    let before = checkout.address().await;
    let view = checkout.choose("USDTTRC20").await;
    let transaction = &view["attempt"]["tron_transaction"];
    assert_eq!(view["attempt"]["evm_transaction"], Value::Null);
    assert_eq!(transaction["chain_id"], "0xcd8690dc");
    assert_eq!(transaction["to"], "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf");
    assert_eq!(transaction["value"], "0x0");
    let too_long = format!("{HASH}0");
    for (hash, address, field) in [
        (&HASH[..65], "", "transaction_hash"),
        (&too_long, "", "transaction_hash"),
        (HASH, "a b", "address"),
    ] {
        let refused = send(hash, address).await;
        refused.refused(400, "invalid_request").naming(field);
    }
    let foreign = send(HASH, &"9".repeat(30)).await;
    foreign.refused(409, "nothing_to_pay");
    let view = send(&HASH[2..], &before).await.with(200).body;
    assert_eq!(view["status"], "awaiting_payment");
    assert_ne!(view["attempt"]["address"], json!(before));
    assert_eq!(view["attempt"]["marked_as_paid"], false);
    assert_eq!(view["attempt"]["transaction_hint"], Value::Null);
    // Kept as its chain writes it: with a prefix on Ethereum, without one on Tron.
    let hints = sqlx::query_scalar("SELECT transaction_hint FROM attempts");
    let hints: Vec<Option<String>> = hints.fetch_all(&mut database(&world).await).await.unwrap();
    assert!(hints.contains(&Some(HASH.to_lowercase())), "{hints:?}");
    let view = send(HASH, "").await.with(200).body;
    assert_eq!(view["status"], "checking");
    let bare = HASH[2..].to_lowercase();
    assert_eq!(view["attempt"]["transaction_hint"], bare);
    world.end().await;
}
