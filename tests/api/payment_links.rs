//! What the QR code and the link to a wallet hold: written by the proxy for what is due, whatever the gateway wrote.

use serde_json::{Value, json};
use support::{Checkout, World, eventually};

/// Test Tether, as the sandbox names it.
const ON_SEPOLIA: &str = "0xaA8E23Fb1079EA71e0a56F48a2aA51851D8433D0";
const ON_NILE: &str = "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf";

/// Valid addresses of the test networks.
const BTC: &str = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx";
const BCH: &str = "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap";
const EVM: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const TRON: &str = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE";
const STRANGER: &str = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";

/// A decimal number in units of 10^-`decimals`, without the zeros before it.
fn units(amount: &str, decimals: usize) -> String {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, ""));
    let digits = format!("{whole}{fraction:0<decimals$}");
    digits.trim_start_matches('0').to_owned()
}

/// What must be shown while `due` is asked for.
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
        // A `tron:` text without a token would spend TRX of the main network.
        "TRX" => address.to_owned(),
        _ => unreachable!("nine assets"),
    }
}

#[track_caller]
fn asks_for_what_is_due(code: &str, view: &Value) {
    let attempt = &view["attempt"];
    let text = |member: &str| attempt[member].as_str().unwrap().to_owned();
    let link = expected(code, &text("address"), &text("remaining_in_crypto"));
    assert_eq!(text("qr_string"), link, "{attempt}");
}

#[tokio::test]
async fn every_asset_is_asked_for_by_a_link_for_what_is_due_and_no_more() {
    let world = World::start().await;
    for code in [
        "BTC",
        "LTC",
        "DOGE",
        "BCH",
        "ETH",
        "BNB",
        "USDTERC20",
        "USDTTRC20",
        "TRX",
    ] {
        let checkout = world.shopper().open("ebook").await;
        let view = checkout.choose(code).await;
        let whole = view["attempt"]["qr_string"].clone();
        assert_eq!(
            view["attempt"]["remaining_in_crypto"],
            view["attempt"]["amount_in_crypto"]
        );
        asks_for_what_is_due(code, &view);

        world.sandbox().pay(&checkout, "half").await;
        world.sandbox().mine(3).await;
        let view = checkout.wait_for("underpaid").await;
        asks_for_what_is_due(code, &view);
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

/// An order whose next invoice carries this address and text.
async fn with_text(world: &World, code: &str, address: &str, text: &str) -> (Checkout, Value) {
    let checkout = world.shopper().open("ebook").await;
    let lie = json!({ "address": address, "qr_string": text });
    world.sandbox().override_next_invoice(lie).await;
    let view = checkout.request_attempt(code).await.with(200).body;
    (checkout, view)
}

#[tokio::test]
async fn a_text_that_names_more_or_something_else_blocks_the_attempt() {
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
        eventually("the block is told", async || {
            let kinds = world.webhooks.event_types(&checkout.order);
            kinds.contains(&"order.blocked".to_owned()).then_some(())
        })
        .await;
    }
    world.end().await;
}

#[tokio::test]
async fn a_text_that_cannot_name_the_test_network_is_written_as_the_address() {
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
    // What names its network by its address is written whole.
    let (_, view) = with_text(&world, "BTC", BTC, BTC).await;
    asks_for_what_is_due("BTC", &view);
    world.end().await;
}
