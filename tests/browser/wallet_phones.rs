//! Wallets on phones: links that open an app with the payment in it, a wallet's own browser, and the rest of a part payment.

use serde_json::json;
use support::{Browser, World};

use crate::helpers::choose_asset;
use crate::wallets::{WALLET, confirm, shop_with_wallet};

#[tokio::test]
async fn a_phone_is_offered_the_apps_of_its_wallets_and_reads_what_to_do_without_one() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.emulate_touch().await;
    browser.goto(&world.checkout_page()).await;
    let checkout = choose_asset(&world, &browser, "ETH").await;
    let app = browser.wait_for("wallet-app-MetaMask").await;
    let uri = checkout.view().await["attempt"]["qr_string"].clone();
    let payment = uri.as_str().unwrap().replace("ethereum:", "");
    let link = app.attr("href").await.unwrap().unwrap();
    assert_eq!(link, format!("https://link.metamask.io/send/{payment}"));
    // Its link names no test network.
    assert!(!browser.is_visible("wallet-app-Trust Wallet").await);
    // No program of this machine opens the link.
    browser.press("wallet-link").await;
    browser.wait_for("wallet-none").await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_wallets_own_browser_offers_that_wallet_first_and_no_app() {
    let (site, chain, world) = shop_with_wallet("").await;
    let browser = Browser::open().await;
    browser.emulate_touch().await;
    browser.set_viewport(390, 844).await;
    browser.goto(site.url()).await;
    choose_asset(&world, &browser, "ETH").await;
    browser.wait_for(WALLET).await;
    assert!(!browser.is_visible("wallet-app-MetaMask").await);
    let first = "
        const inside = document.querySelector('florin-checkout').shadowRoot;
        const top = (selector) => inside.querySelector(selector).getBoundingClientRect().top;
        return ['[data-testid=address]', '[data-testid=qr]', 'a.wallet'].every((other) => top('.wallet-button') < top(other));";
    assert_eq!(browser.evaluate(first, &[]).await, true);
    browser.press(WALLET).await;
    confirm(&chain, &browser).await;
    assert_eq!(chain.sent().await, 1);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn the_rest_of_a_part_payment_has_a_link_an_app_and_a_code() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.emulate_touch().await;
    browser.goto(&world.checkout_page()).await;
    let checkout = choose_asset(&world, &browser, "ETH").await;
    let whole = checkout.view().await["attempt"]["qr_string"].clone();
    world.sandbox().pay(&checkout, "half").await;
    world.sandbox().mine(3).await;
    browser.wait_for("status-underpaid").await;
    let rest = checkout.view().await["attempt"]["qr_string"].clone();
    assert_ne!(rest, whole);
    assert_eq!(browser.scan("qr").await, rest);
    let link = async |name: &str| {
        let shown = browser.wait_for(name).await;
        shown.attr("href").await.unwrap().unwrap()
    };
    assert_eq!(link("wallet-link").await, rest);
    let payment = rest.as_str().unwrap().replace("ethereum:", "");
    assert_eq!(
        link("wallet-app-MetaMask").await,
        format!("https://link.metamask.io/send/{payment}")
    );
    browser.end().await;
    world.end().await;
}

/// The second account of every anvil.
const ANOTHER_ACCOUNT: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

#[tokio::test]
async fn a_wallet_of_the_browser_pays_the_rest_and_no_more() {
    let (site, chain, world) = shop_with_wallet("").await;
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    let checkout = choose_asset(&world, &browser, "ETH").await;
    let amount = async || {
        let view = checkout.view().await;
        let value = view["attempt"]["evm_transaction"]["value"]
            .as_str()?
            .to_owned();
        u128::from_str_radix(value.trim_start_matches("0x"), 16).ok()
    };
    let whole = amount().await.expect("a transaction");
    let third = whole / 3;
    let part = json!([{
        "from": ANOTHER_ACCOUNT,
        "to": checkout.address().await,
        "value": format!("{third:#x}"),
    }]);
    chain.call("eth_sendTransaction", part).await;
    chain.mine(3).await;
    browser.wait_for("status-underpaid").await;
    let rest = amount().await.expect("a transaction of the rest");
    assert!(rest < whole, "{rest} of {whole}");
    browser.press(WALLET).await;
    confirm(&chain, &browser).await;
    assert_eq!(chain.sent().await, 1);
    let attempt = checkout.view().await["attempt"].take();
    assert_eq!(attempt["received_in_crypto"], attempt["amount_in_crypto"]);
    browser.end().await;
    world.end().await;
}
