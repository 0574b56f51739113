//! QR codes: an independent decoder reads from each what the proxy sent, in light and dark colours, small and enlarged.

use serde_json::json;
use support::{Browser, BrowserOptions, World};
use thirtyfour::Key;

use crate::helpers::token_of;
use crate::payment_screen::{open_payment, text, wait_for_text};

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
        let view = world.customer().with_token(&token, "").view().await;
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
    motion: false,
    ratio: 1.0,
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
        ..BrowserOptions::default()
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

#[tokio::test]
async fn a_qr_code_of_the_bare_address_can_be_chosen() {
    let world = World::start().await;
    let (browser, _, attempt) = open_payment(&world, BrowserOptions::default(), "ETH").await;
    assert_eq!(browser.scan("qr").await, attempt["qr_string"]);
    browser.press("qr-address-only").await;
    wait_for_text(
        &browser,
        "status-awaiting_payment",
        "Enter the amount yourself",
    )
    .await;
    assert_eq!(browser.scan("qr-bare").await, attempt["address"]);
    assert!(!browser.is_visible("qr").await);
    let labels = r"
        const root = document.querySelector('florin-checkout').shadowRoot;
        return [...root.querySelectorAll('.code .qr svg')].map(svg => svg.getAttribute('aria-label'))";
    let labels = browser.evaluate(labels, &[]).await;
    assert_eq!(labels[1], "QR code of the ETH address on Ethereum");
    browser.press("qr-with-amount").await;
    assert_eq!(browser.scan("qr").await, attempt["qr_string"]);
    assert!(!browser.is_visible("qr-bare").await);
    let label = &labels[0];
    for part in [text(&attempt["amount_in_crypto"]), "ETH", "Ethereum"] {
        assert!(text(label).contains(part), "{label}");
    }
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_code_stays_black_on_white_in_forced_colours() {
    // In light colours a code with the page's colours would be black on white as well.
    let options = BrowserOptions {
        dark: true,
        ..BrowserOptions::default()
    };
    let world = World::start().await;
    let (browser, _, attempt) = open_payment(&world, options, "BTC").await;
    browser.emulate_media("forced-colors", "active").await;
    let colours = r"
        const code = document.querySelector('florin-checkout').shadowRoot.querySelector('.qr');
        const path = getComputedStyle(code.querySelector('path'));
        return [matchMedia('(forced-colors: active)').matches, getComputedStyle(code).backgroundColor, path.fill, path.shapeRendering]";
    assert_eq!(
        browser.evaluate(colours, &[]).await,
        json!([true, "rgb(255, 255, 255)", "rgb(0, 0, 0)", "crispedges"])
    );
    assert_eq!(browser.scan("qr").await, attempt["qr_string"]);
    browser.end().await;
    world.end().await;
}

/// The focus within the checkout: the element's `data-testid`, else its class.
const FOCUS: &str = "
    const at = document.querySelector('florin-checkout').shadowRoot.activeElement;
    return at?.dataset.testid || at?.className || null";

async fn wait_for_focus(browser: &Browser, name: &str) {
    browser
        .wait_for_result(&format!("{name} has the focus"), FOCUS, &json!(name))
        .await;
}

#[tokio::test]
async fn a_press_enlarges_the_code_and_a_press_or_escape_closes_it() {
    let world = World::start().await;
    let options = BrowserOptions {
        dark: true,
        ..BrowserOptions::default()
    };
    let (browser, _, attempt) = open_payment(&world, options, "BTC").await;
    browser.press("qr").await;
    assert_eq!(browser.scan("qr-large").await, attempt["qr_string"]);
    let dialog = "
        const dialog = document.querySelector('florin-checkout').shadowRoot.querySelector('dialog');
        // Without the scroll bar, which nothing covers.
        const { width } = document.documentElement.getBoundingClientRect();
        const corners = [[1, 1], [width - 2, innerHeight - 2]];
        const isOver = ([x, y]) => dialog.contains(dialog.getRootNode().elementFromPoint(x, y));
        return [dialog.matches(':modal'), getComputedStyle(dialog).backgroundColor, corners.map(isOver)]";
    let shown = browser.evaluate(dialog, &[]).await;
    assert_eq!(shown, json!([true, "rgb(255, 255, 255)", [true, true]]));
    wait_for_focus(&browser, "qr-close").await;
    browser.type_keys(Key::Escape).await;
    browser.wait_until_gone("qr-large").await;
    wait_for_focus(&browser, "enlarge").await;

    browser.type_keys(Key::Enter).await;
    browser.wait_for("qr-large").await;
    browser.type_keys(Key::Enter).await;
    browser.wait_until_gone("qr-large").await;
    wait_for_focus(&browser, "enlarge").await;

    // The code of the bare address is enlarged as it is.
    browser.press("qr-address-only").await;
    browser.press("qr-bare").await;
    assert_eq!(browser.scan("qr-large").await, attempt["address"]);
    browser.press("qr-large").await;
    browser.wait_until_gone("qr-large").await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn an_enlarged_code_closes_when_the_payment_is_found() {
    let world = World::start().await;
    let (browser, checkout, _) = open_payment(&world, BrowserOptions::default(), "BTC").await;
    browser.press("qr").await;
    browser.wait_for("qr-large").await;
    world.sandbox().pay(&checkout, "exact").await;
    browser.wait_for("status-processing").await;
    browser.wait_until_gone("qr-large").await;
    world.sandbox().mine(3).await;
    browser.press("print-receipt").await;
    browser.end().await;
    world.end().await;
}
