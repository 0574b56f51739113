//! The whole way of a payment by a wallet, with the keyboard and a screen reader alone.

use serde_json::json;
use support::{Browser, BrowserOptions, Engine, StoreSite};
use thirtyfour::Key;

use crate::helpers::{announced, only_order, wait_for_value};
use crate::wallets::{WALLET, asked, wait_for_state, wait_until_sent, world_with_chain};

/// Records the announcements in `announced`: in every engine, whichever of two programs has drawn the live region.
const RECORD: &str = "window.announced = [];
    let last = '';
    setInterval(() => {
        const region = document.querySelector('florin-checkout')?.shadowRoot?.querySelector('.unseen[role=status]');
        const text = region?.textContent.trim() ?? '';
        if (text && text !== last) announced.push(text);
        last = text;
    }, 5);";

/// The text of the focused element.
const FOCUSED: &str = "let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return at?.textContent.trim()";

async fn wait_for_focus(browser: &Browser, text: &str) {
    browser
        .wait_for_result(&format!("the focus is on {text}"), FOCUSED, &json!(text))
        .await;
}

async fn the_keyboard_pays_by_a_wallet(engine: Engine) {
    let site = StoreSite::open().await;
    let (chain, world) = world_with_chain(vec![site.url().to_owned()]).await;
    let proxy = world.proxy_url();
    // The wallet's owner takes a while, for which the page shows what to do.
    let wait =
        "testWallet.before.eth_requestAccounts = new Promise((done) => (window.connect = done));";
    site.set_script("wallet.js", Some(&format!("{}\n{wait}", chain.wallet())));
    site.set_script("record.js", Some(RECORD));
    site.serve(
        "",
        &format!(
            "<script src=\"/wallet.js\"></script><script src=\"{proxy}/florin.js\" async></script>
             <main><h1>A shop</h1>
             <florin-checkout store=\"demo\" product=\"mug\" display=\"inline\"></florin-checkout></main>
             <script src=\"/record.js\"></script>"
        ),
    );
    let browser = Browser::open_engine(engine, BrowserOptions::default()).await;
    browser.goto(site.url()).await;
    browser.wait_for("asset-USDTERC20").await;
    browser.tab_to("asset-USDTERC20").await;
    browser.type_keys(Key::Enter).await;
    wait_for_focus(&browser, "Check the network").await;
    browser.tab_to("network-confirm").await;
    browser.type_keys(Key::Enter).await;
    wait_for_focus(&browser, "Send USDT on Ethereum").await;
    chain.call("evm_setAutomine", json!([false])).await;
    browser.wait_for(WALLET).await;
    browser.tab_to(WALLET).await;
    // A hurried customer: each key alone is a press.
    browser.type_keys(Key::Enter + Key::Space).await;
    browser.type_keys(Key::Enter).await;
    wait_for_state(&browser, "confirm").await;
    // The button says that it waits, and keeps the focus.
    let waits = "inside.activeElement === inside.querySelector('.wallet-button') && inside.activeElement.ariaDisabled";
    wait_for_value(&browser, "the button waits", waits, &json!("true")).await;
    browser.evaluate("connect()", &[]).await;
    wait_until_sent(&browser).await;
    chain.mine(1).await;
    wait_for_focus(&browser, "Payment found").await;
    chain.mine(2).await;
    wait_for_focus(&browser, "Paid").await;
    assert_eq!(asked(&browser, "eth_requestAccounts").await, 1);
    assert_eq!(asked(&browser, "eth_sendTransaction").await, 1);
    assert_eq!(chain.sent().await, 1);
    let view = only_order(&world, &browser).await.view().await;
    assert_eq!(view["status"], "paid");
    let texts = announced(&browser).await;
    for step in [
        "Continue in Test Wallet",
        "Your wallet has sent the payment",
    ] {
        let times = texts.iter().filter(|text| text.contains(step)).count();
        assert_eq!(times, 1, "{step}: {texts:?}");
    }
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn the_keyboard_pays_by_a_wallet_in_chromium() {
    the_keyboard_pays_by_a_wallet(Engine::Chromium).await;
}

#[tokio::test]
async fn the_keyboard_pays_by_a_wallet_in_firefox() {
    the_keyboard_pays_by_a_wallet(Engine::Firefox).await;
}

#[tokio::test]
async fn the_keyboard_pays_by_a_wallet_in_webkit() {
    the_keyboard_pays_by_a_wallet(Engine::WebKit).await;
}
