//! Wallets on phones: links that open an app with the payment in it, a wallet's own browser, and the rest of a part payment.

use serde_json::json;
use support::{Browser, World};
use thirtyfour::Key;

use crate::helpers::{choose_asset, wait_for_value};
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
    // One that opens late.
    let leave = "Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));";
    browser.evaluate(leave, &[]).await;
    assert!(!browser.is_visible("wallet-none").await);
    browser.end().await;
    world.end().await;
}

/// Names, upper edges and widths of what a phone offers, in the order of the document.
const OFFERED: &str = "
    const inside = document.querySelector('florin-checkout').shadowRoot;
    const all = [...inside.querySelectorAll('.instructions :is(a, button, [data-testid=address])')];
    return all.filter((at) => at.checkVisibility({ visibilityProperty: true })).map((at) => {
        const { top, width } = at.getBoundingClientRect();
        return [at.dataset.testid || at.id, top, width];
    });";

#[tokio::test]
async fn a_phone_has_its_own_handler_first_then_apps_then_code_and_address() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.emulate_touch().await;
    browser.goto(&world.checkout_page()).await;
    choose_asset(&world, &browser, "ETH").await;
    browser.wait_for("wallet-app-MetaMask").await;
    for width in [320, 390, 768] {
        browser.set_viewport(width, 844).await;
        let offered = browser.evaluate(OFFERED, &[]).await;
        let offered = offered.as_array().unwrap();
        let place = |name: &str| offered.iter().position(|one| one[0] == name).unwrap();
        let number = |name: &str, member: usize| offered[place(name)][member].as_f64().unwrap();
        let order = ["wallet-link", "wallet-app-MetaMask", "copy-address"];
        assert!(order.is_sorted_by_key(|name| place(name)), "{offered:?}");
        // Two of the first are beside each other where there is room.
        assert!(
            order.is_sorted_by_key(|name| number(name, 1)),
            "{offered:?}"
        );
        for other in ["address", "copy-amount", "copy-address"] {
            assert!(
                number("wallet-app-MetaMask", 1) < number(other, 1),
                "{other}"
            );
        }
        for name in &order[..2] {
            assert!(number(name, 2) > 200.0, "{name}: {offered:?}");
        }
    }
    browser.tab_to("wallet-link").await;
    browser.type_keys(Key::Tab).await;
    let focused = "inside.activeElement?.dataset.testid";
    let next = json!("wallet-app-MetaMask");
    wait_for_value(&browser, "the next is an app", focused, &next).await;
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
