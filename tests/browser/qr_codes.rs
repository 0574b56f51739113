//! An independent decoder reads from each QR code what the proxy sent, in light and dark colours.

use support::{Browser, BrowserOptions, World};

use crate::steps::token_of;

async fn check_codes(options: BrowserOptions, codes: &[&str]) {
    let world = World::start().await;
    let browser = Browser::open_with(options).await;
    for (number, code) in codes.iter().enumerate() {
        let page = format!(
            "{}/pay?store=demo&n={number}#store=demo&product=ebook&quantity=1&n={number}",
            world.proxy_url()
        );
        browser.goto(&page).await;
        // Every asset needs a new order, because the page keeps its own.
        browser.evaluate("sessionStorage.clear()", &[]).await;
        browser.reload().await;
        browser.press(&format!("asset-{code}")).await;
        if code.starts_with("USDT") {
            browser.press("network-confirm").await;
        }
        browser.wait_for("status-awaiting_payment").await;
        let token = token_of(&browser).await;
        let view = world.shopper().with_token(&token, "").view().await;
        let attempt = &view["attempt"];
        assert_eq!(attempt["crypto_code"], *code);
        assert_eq!(browser.scan("qr").await, attempt["qr_string"], "{code}");
        assert_eq!(browser.text("address").await, attempt["address"], "{code}");
        assert_eq!(
            browser.text("amount").await,
            attempt["amount_in_crypto"],
            "{code}"
        );
    }
    browser.end().await;
    world.end().await;
}

const DARK: BrowserOptions = BrowserOptions {
    size: (1280, 1000),
    dark: true,
};

#[tokio::test]
async fn codes_of_bitcoin_like_chains_are_readable_in_dark_colours() {
    check_codes(DARK, &["BTC", "LTC", "DOGE", "BCH"]).await;
}

#[tokio::test]
async fn codes_of_other_chains_are_readable_in_dark_colours() {
    check_codes(DARK, &["ETH", "BNB", "TRX", "USDTTRC20", "USDTERC20"]).await;
}

#[tokio::test]
async fn a_code_is_readable_on_a_small_phone() {
    let phone = BrowserOptions {
        size: (320, 640),
        dark: false,
    };
    check_codes(phone, &["USDTERC20", "BTC"]).await;
}

#[tokio::test]
async fn in_dark_colours_the_page_is_dark_and_its_codes_are_not() {
    let world = World::start().await;
    let browser = Browser::open_with(DARK).await;
    let page = world.checkout_page();
    browser.goto(&page).await;
    browser.press("asset-BTC").await;
    browser.wait_for("qr").await;
    let colour = "const at = arguments[1] === 'qr' ? document.querySelector('florin-checkout').shadowRoot.querySelector('.qr') : document.querySelector('florin-checkout').shadowRoot.querySelector('.florin'); return getComputedStyle(at).backgroundColor";
    let of = async |what: &str| browser.evaluate(colour, &["".into(), what.into()]).await;
    assert_eq!(of("qr").await, "rgb(255, 255, 255)");
    assert_ne!(of("page").await, "rgb(255, 255, 255)");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn codes_of_two_networks_of_one_asset_differ() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let page = world.checkout_page();
    browser.goto(&page).await;
    let (tron, ethereum) = (
        browser.text("asset-USDTTRC20").await,
        browser.text("asset-USDTERC20").await,
    );
    assert!(
        tron.contains("USDT · Tron") && !tron.contains("Ethereum"),
        "{tron}"
    );
    assert!(
        ethereum.contains("USDT · Ethereum") && !ethereum.contains("Tron"),
        "{ethereum}"
    );
    browser.press("asset-USDTTRC20").await;
    browser.press("network-confirm").await;
    let screen = browser.text("status-awaiting_payment").await;
    assert!(
        screen.contains("Tron") && !screen.contains("Ethereum"),
        "{screen}"
    );
    browser.end().await;
    world.end().await;
}
