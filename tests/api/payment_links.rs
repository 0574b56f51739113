//! QR codes and wallet links: the proxy writes them for the amount due, whatever the gateway wrote.

use florin_money::Asset;
use florin_widget::format::links::is_wallet;
use serde_json::Value;
use support::World;

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
        if code != "TRX" {
            assert_ne!(view["attempt"]["qr_string"], whole, "{code}");
        }

        world.sandbox().settle(&checkout, "rest").await;
        let view = checkout.wait_for("paid").await;
        assert_eq!(view["attempt"]["qr_string"], view["attempt"]["address"]);
    }
    world.end().await;
}
