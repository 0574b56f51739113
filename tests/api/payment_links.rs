//! QR codes and wallet links: the proxy writes them for the amount due, whatever the gateway wrote.

use florin_money::Asset;
use florin_widget::format::links::is_wallet;
use serde_json::{Value, json};
use support::{Checkout, World, eventually};

/// The sandbox's test token of Tether.
const ON_SEPOLIA: &str = "0xaA8E23Fb1079EA71e0a56F48a2aA51851D8433D0";
const ON_NILE: &str = "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf";

/// Valid addresses of the test networks.
const BTC: &str = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx";
const BCH: &str = "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap";
const EVM: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const TRON: &str = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE";
const STRANGER: &str = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";

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
        assert_eq!(
            view["attempt"]["remaining_in_crypto"],
            view["attempt"]["amount_in_crypto"]
        );
        assert_requests_amount_due(code, &view);

        world.sandbox().pay(&checkout, "half").await;
        world.sandbox().mine(3).await;
        let view = checkout.wait_for("underpaid").await;
        assert_requests_amount_due(code, &view);
        if code != "TRX" {
            assert_ne!(view["attempt"]["qr_string"], whole, "{code}");
        }

        world.sandbox().pay(&checkout, "rest").await;
        world.sandbox().mine(3).await;
        let view = checkout.wait_for("paid").await;
        assert_eq!(view["attempt"]["qr_string"], view["attempt"]["address"]);
    }
    world.end().await;
}

/// Opens an order whose invoice carries this address and QR string.
async fn with_text(world: &World, code: &str, address: &str, text: &str) -> (Checkout, Value) {
    let checkout = world.customer().open("ebook").await;
    let overrides = json!({ "address": address, "qr_string": text });
    world.sandbox().override_next_invoice(overrides).await;
    let view = checkout.request_attempt(code).await.with(200).body;
    (checkout, view)
}

#[tokio::test]
async fn a_qr_string_with_other_content_blocks_the_attempt() {
    let world = World::start().await;
    world.expect_error("the gateway's invoice is not shown");
    let elsewhere = "https%3A%2F%2Felsewhere.example";
    for (code, address, text) in [
        ("BTC", BTC, format!("bitcoin:{BTC}?pj={elsewhere}")),
        ("BTC", BTC, format!("bitcoin:{BTC}?req-x=1")),
        ("BTC", BTC, format!("bitcoin:{BTC}?foo=1")),
        ("BTC", BTC, format!("bitcoin:{BTC}?label=a&label=a")),
        ("BTC", BTC, format!("bitcoin:{BTC}?amount=0.00000001")),
        ("BCH", BCH, format!("{BCH}?r={elsewhere}")),
        ("ETH", EVM, format!("ethereum:{EVM}@1")),
        ("ETH", EVM, format!("ethereum:{EVM}@137")),
        ("ETH", EVM, format!("ethereum:{STRANGER}@11155111")),
        ("ETH", EVM, format!("ethereum:{EVM}@11155111?gasPrice=1")),
        (
            "ETH",
            EVM,
            format!("ethereum:{EVM}?contractAddress={STRANGER}"),
        ),
        (
            "ETH",
            EVM,
            format!("ethereum:{STRANGER}/transfer?address={EVM}"),
        ),
        ("BNB", EVM, format!("ethereum:{EVM}")),
        ("BNB", EVM, format!("ethereum:{EVM}@56")),
        (
            "USDTERC20",
            EVM,
            format!("ethereum:{ON_SEPOLIA}@11155111/approve?address={EVM}&uint256=1"),
        ),
        (
            "USDTERC20",
            EVM,
            format!("ethereum:{ON_SEPOLIA}@11155111/transfer?address={STRANGER}"),
        ),
        ("USDTERC20", EVM, format!("ethereum:{EVM}@11155111?value=1")),
        (
            "USDTTRC20",
            TRON,
            format!("tron:{TRON}?contractAddress={ON_NILE}"),
        ),
        ("TRX", TRON, format!("tron:{TRON}?token={ON_NILE}")),
    ] {
        let (checkout, view) = with_text(&world, code, address, &text).await;
        assert_eq!(view["status"], "blocked", "{text}");
        assert_eq!(view["attempt"], Value::Null, "{text}");
        eventually("the blocked attempt is reported", async || {
            let kinds = world.webhooks.event_types(&checkout.order);
            kinds.contains(&"order.blocked".to_owned()).then_some(())
        })
        .await;
    }
    world.end().await;
}

#[tokio::test]
async fn a_qr_string_that_cannot_name_the_test_network_is_the_bare_address() {
    let world = World::start().await;
    for (code, address, text) in [
        ("ETH", EVM, EVM.to_owned()),
        ("ETH", EVM, format!("ethereum:{EVM}")),
        (
            "USDTERC20",
            EVM,
            format!("ethereum:{ON_SEPOLIA}/transfer?address={EVM}"),
        ),
        ("BNB", EVM, format!("smartchain:{EVM}")),
        ("USDTTRC20", TRON, format!("tron:{TRON}")),
        (
            "USDTTRC20",
            TRON,
            format!("tron:{TRON}?token=TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"),
        ),
    ] {
        let (_, view) = with_text(&world, code, address, &text).await;
        assert_eq!(view["status"], "awaiting_payment", "{text}");
        assert_eq!(view["attempt"]["qr_string"], address, "{text}");
    }
    // An address that names its network gets the whole link.
    let (_, view) = with_text(&world, "BTC", BTC, BTC).await;
    assert_requests_amount_due("BTC", &view);
    world.end().await;
}
