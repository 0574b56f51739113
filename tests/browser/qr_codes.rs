//! QR codes: a decoder that shares no code with ours reads from each what the proxy sends, in light and dark colours, small and
//! enlarged.

use serde_json::json;
use support::{Browser, BrowserOptions};
use thirtyfour::Key;

use crate::gallery::{Gallery, wide};
use crate::helpers::{read_inside, wait_for_value};

/// Waits until the focus is on this element: its `data-testid`, else its class.
async fn wait_for_class_in_focus(browser: &Browser, name: &str) {
    let focus = "inside.activeElement?.dataset.testid || inside.activeElement?.className || null";
    wait_for_value(browser, name, focus, json!(name)).await;
}

#[tokio::test]
async fn a_press_enlarges_the_code_and_a_press_or_escape_closes_it() {
    let gallery = Gallery::open_with(BrowserOptions {
        dark: true,
        ..BrowserOptions::default()
    })
    .await;
    let browser = &gallery.browser;
    gallery.show("awaiting_payment", "").await;
    browser.press("qr").await;
    let code = Gallery::attempt("awaiting_payment", "qr_string");
    assert_eq!(browser.scan("qr-large").await, code);
    let dialog = "
        const dialog = inside.querySelector('dialog');
        // Without the scroll bar, which nothing covers.
        const { width } = document.documentElement.getBoundingClientRect();
        const corners = [[1, 1], [width - 2, innerHeight - 2]];
        const isOver = ([x, y]) => dialog.contains(dialog.getRootNode().elementFromPoint(x, y));
        return [dialog.matches(':modal'), getComputedStyle(dialog).backgroundColor, corners.map(isOver)]";
    let shown = read_inside(browser, dialog).await;
    assert_eq!(shown, json!([true, "rgb(255, 255, 255)", [true, true]]));
    wait_for_class_in_focus(browser, "qr-close").await;
    browser.type_keys(Key::Escape).await;
    browser.wait_until_gone("qr-large").await;
    wait_for_class_in_focus(browser, "enlarge").await;

    browser.type_keys(Key::Enter).await;
    browser.wait_for("qr-large").await;
    browser.type_keys(Key::Enter).await;
    browser.wait_until_gone("qr-large").await;
    wait_for_class_in_focus(browser, "enlarge").await;

    // The code of the bare address is enlarged as it is.
    browser.press("qr-address-only").await;
    browser.press("qr-bare").await;
    let address = Gallery::attempt("awaiting_payment", "address");
    assert_eq!(browser.scan("qr-large").await, address);
    browser.press("qr-large").await;
    browser.wait_until_gone("qr-large").await;
    gallery.end().await;
}

#[tokio::test]
async fn a_qr_code_of_the_bare_address_can_be_chosen() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    let ether = |member| Gallery::attempt("paying_ether", member);
    gallery.show("paying_ether", "").await;
    browser.press("qr-address-only").await;
    let hint = "Enter the amount yourself";
    browser.wait_for_text("status-awaiting_payment", hint).await;
    assert_eq!(browser.scan("qr-bare").await, ether("address"));
    assert!(!browser.is_visible("qr").await);
    let labels = "return [...inside.querySelectorAll('.code .qr svg')].map(svg => svg.getAttribute('aria-label'))";
    let labels = read_inside(browser, labels).await;
    assert_eq!(labels[1], "QR code of the ETH address on Ethereum");
    let label = labels[0].as_str().unwrap();
    for part in [&*ether("amount_in_crypto"), "ETH", "Ethereum"] {
        assert!(label.contains(part), "{label}");
    }
    browser.press("qr-with-amount").await;
    browser.wait_for("qr").await;
    assert!(!browser.is_visible("qr-bare").await);
    gallery.end().await;
}

#[tokio::test]
async fn codes_are_readable_in_dark_colours_and_on_a_small_phone() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    let dark = BrowserOptions {
        dark: true,
        ..BrowserOptions::default()
    };
    for options in [dark, wide(320)] {
        browser.emulate(options).await;
        for state in [
            "awaiting_payment",
            "paying_tether",
            "paying_ether",
            "paying_cash",
            "paying_wallet_token",
        ] {
            gallery.show(state, "").await;
            let expected = |member| Gallery::attempt(state, member);
            assert_eq!(browser.scan("qr").await, expected("qr_string"), "{state}");
            assert_eq!(browser.text("address").await, expected("address"));
        }
        let colours = "return ['.qr', '.florin'].map((at) => getComputedStyle(inside.querySelector(at)).backgroundColor)";
        let colours = read_inside(browser, colours).await;
        let white = json!("rgb(255, 255, 255)");
        assert_eq!(colours[0], white, "a code is dark on white");
        let is_dark = colours[1] != white;
        assert_eq!(is_dark, options.dark, "the page: {colours}");
    }
    gallery.end().await;
}
