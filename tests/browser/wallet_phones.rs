//! Wallets on phones: links that open an app with the payment in it, a wallet's own browser, and the rest of a part payment.

use serde_json::json;
use support::Browser;
use thirtyfour::Key;

use crate::gallery::{Gallery, wide};
use crate::helpers::{
    checkout_page, choose_asset, end, read_inside, wait_for_focus, wait_for_value,
};
use crate::wallets::{WALLET, confirm, ether};

/// Names, upper edges and widths of what a phone offers, in the order of the document.
const OFFERED: &str = "
    const all = [...inside.querySelectorAll('.instructions :is(a, button, [data-testid=address])')];
    return all.filter((at) => at.checkVisibility({ visibilityProperty: true })).map((at) => {
        const { top, width } = at.getBoundingClientRect();
        return [at.dataset.testid || at.id, top, width];
    });";

async fn link(browser: &Browser, name: &str) -> String {
    let shown = browser.wait_for(name).await;
    shown.attr("href").await.unwrap().unwrap()
}

/// The link of an app that pays what this code holds.
fn app_link(code: &str) -> String {
    let payment = code.replace("ethereum:", "");
    format!("https://link.metamask.io/send/{payment}")
}

#[tokio::test]
async fn a_phone_has_its_own_handler_first_then_apps_then_code_and_address() {
    let (world, browser) = checkout_page(&[]).await;
    browser.emulate_touch().await;
    browser.reload().await;
    let checkout = choose_asset(&world, &browser, "ETH").await;
    let whole = checkout.view().await["attempt"]["qr_string"].clone();
    let app = link(&browser, "wallet-app-MetaMask").await;
    assert_eq!(app, app_link(whole.as_str().unwrap()));
    // Its link names no test network.
    assert!(!browser.is_visible("wallet-app-Trust Wallet").await);
    for width in [320, 390, 768] {
        browser.set_viewport(width, 844).await;
        let offered = read_inside(&browser, OFFERED).await;
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
            let app = number("wallet-app-MetaMask", 1);
            assert!(app < number(other, 1), "{other}");
        }
        for name in &order[..2] {
            assert!(number(name, 2) > 200.0, "{name}: {offered:?}");
        }
    }
    browser.tab_to("wallet-link").await;
    browser.type_keys(Key::Tab).await;
    wait_for_focus(&browser, "wallet-app-MetaMask").await;
    // No program of this machine opens the link.
    browser.press("wallet-link").await;
    browser.wait_for("wallet-none").await;
    // One that opens late.
    let leave = "Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));";
    browser.evaluate(leave).await;
    assert!(!browser.is_visible("wallet-none").await);
    end(world, browser).await;
}

#[tokio::test]
async fn the_rest_of_a_part_payment_has_a_link_an_app_and_a_code() {
    let (world, browser) = checkout_page(&[]).await;
    browser.emulate_touch().await;
    browser.reload().await;
    let checkout = choose_asset(&world, &browser, "ETH").await;
    let whole = checkout.view().await["attempt"]["qr_string"].clone();
    world.sandbox().pay(&checkout, "half").await;
    world.sandbox().mine(3).await;
    browser.wait_for("status-underpaid").await;
    let rest = checkout.view().await["attempt"]["qr_string"].clone();
    assert_ne!(rest, whole);
    assert_eq!(browser.scan("qr").await, rest);
    let rest = rest.as_str().unwrap();
    assert_eq!(link(&browser, "wallet-link").await, rest);
    let app = link(&browser, "wallet-app-MetaMask").await;
    assert_eq!(app, app_link(rest));
    end(world, browser).await;
}

#[tokio::test]
async fn a_wallets_own_browser_offers_that_wallet_first_and_no_app() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    browser.emulate(wide(390)).await;
    browser.emulate_touch().await;
    gallery.show("paying_wallet_phone", "").await;
    assert!(!browser.is_visible("wallet-app-MetaMask").await);
    let first = "(() => {
        const top = (selector) => inside.querySelector(selector).getBoundingClientRect().top;
        return ['[data-testid=address]', '[data-testid=qr]', 'a.wallet'].every((other) => top('.wallet-button') < top(other));
    })()";
    wait_for_value(browser, "the wallet is first", first, true).await;
    gallery.end().await;
}

/// The second account of every anvil.
const ANOTHER_ACCOUNT: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

#[tokio::test]
async fn a_wallet_of_the_browser_pays_the_rest_and_no_more() {
    let (_site, chain, world, browser, checkout) = ether("").await;
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
    end(world, browser).await;
}
