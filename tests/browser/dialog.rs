//! `display="modal"` in a real browser: a button, and a dialog that keeps its invoice.

use serde_json::{Value, json};
use support::Browser;
use thirtyfour::Key;

use crate::helpers::{
    HAS_BUTTON, IS_OPEN, end, open_dialog, orders, page_with, shop_page, wait_for_value,
};

/// An element on a page that scrolls.
pub(crate) const MODAL: &str = "<p>Above</p><florin-checkout store=\"demo\" product=\"ebook\" display=\"modal\">Pay <b>now</b>\
     </florin-checkout><p style=\"height: 3000px\">Below</p>";

#[tokio::test]
async fn a_link_or_script_around_the_element_takes_no_press_of_it() {
    let card = |display: &str| {
        format!(
            "<a href=\"/elsewhere\"><div onclick=\"window.taken = true\">\
                 <florin-checkout store=\"demo\" product=\"ebook\" display=\"{display}\">Pay <b data-testid=\"word\">now</b>\
                 </florin-checkout></div></a>"
        )
    };
    let (site, world, browser) = shop_page(&card("modal")).await;
    wait_for_value(&browser, "the button", HAS_BUTTON, true).await;
    browser.press("word").await;
    wait_for_value(&browser, "the dialog is open", IS_OPEN, true).await;
    browser.click_at(4, 500).await;
    wait_for_value(&browser, "a press beside it closes", IS_OPEN, false).await;
    let taken = "[location.pathname, window.taken ?? false]";
    wait_for_value(&browser, "the page stays", taken, json!(["/", false])).await;
    let script = format!(
        "<script src=\"{}/florin.js\" async></script>",
        world.proxy_url()
    );
    site.serve("", &[&script, &*card("redirect")].concat());
    browser.goto(site.url()).await;
    wait_for_value(&browser, "the link", HAS_BUTTON, true).await;
    browser.press("word").await;
    let path = "return location.pathname";
    browser
        .wait_for_result("the checkout's page", path, "/pay")
        .await;
    end(world, browser).await;
}

#[tokio::test]
async fn a_dialog_sends_no_request_before_it_opens_and_keeps_its_invoice_when_closed() {
    let (_site, world, browser) = shop_page(MODAL).await;
    let listen = "window.closings = 0; addEventListener('florin-close', () => window.closings++)";
    browser.evaluate(listen).await;
    let words = "element.textContent";
    wait_for_value(&browser, "the shop's own words", words, "Pay now").await;
    let frames = "inside?.querySelectorAll('iframe').length";
    wait_for_value(&browser, "no frame yet", frames, 0).await;
    assert_eq!(orders(&world).await, [] as [Value; 0]);
    open_dialog(&browser).await;
    let locked = "getComputedStyle(document.documentElement).overflow";
    wait_for_value(&browser, "the page behind stands still", locked, "hidden").await;
    browser.enter_checkout().await;
    browser.press("asset-BTC").await;
    let address = browser.text("address").await;

    // The key is pressed inside the frame and handled outside.
    browser.type_keys(Key::Escape).await;
    browser.leave_checkout().await;
    wait_for_value(&browser, "Escape closes", IS_OPEN, false).await;
    let focused = "inside.activeElement.getAttribute('part')";
    let what = "the focus is back on the button";
    wait_for_value(&browser, what, focused, "button").await;
    wait_for_value(&browser, "the page scrolls again", locked, "visible").await;

    // The frame is kept and shows the same invoice.
    open_dialog(&browser).await;
    browser.enter_checkout().await;
    assert_eq!(browser.text("address").await, address);
    browser.leave_checkout().await;
    browser.click_at(4, 500).await;
    wait_for_value(&browser, "a click beside it closes", IS_OPEN, false).await;
    let open = "document.querySelector('florin-checkout').open()";
    browser.evaluate(open).await;
    wait_for_value(&browser, "open() opens", IS_OPEN, true).await;
    let press = "document.querySelector('florin-checkout').shadowRoot.querySelector('[aria-label=Close]').click()";
    browser.evaluate(press).await;
    wait_for_value(&browser, "the button closes", IS_OPEN, false).await;
    browser.evaluate(open).await;
    let close = "document.querySelector('florin-checkout').close()";
    browser.evaluate(close).await;
    wait_for_value(&browser, "close() closes", IS_OPEN, false).await;
    let closings = "window.closings";
    wait_for_value(&browser, "an event for each", closings, 4).await;
    assert_eq!(orders(&world).await.len(), 1);
    assert_eq!(browser.console_warnings().await, [""; 0]);

    // Removed while it is open, it locks nothing.
    open_dialog(&browser).await;
    let remove = "document.querySelector('florin-checkout').remove()";
    browser.evaluate(remove).await;
    wait_for_value(&browser, "the page scrolls", locked, "visible").await;
    end(world, browser).await;
}

#[tokio::test]
async fn a_dialog_fills_a_phone_and_leaves_a_margin_on_a_desktop() {
    let (site, world) = page_with(MODAL).await;
    let browser = Browser::open().await;
    for (width, height, expected) in [
        (320, 600, [0, 52, 320, 600]),
        (1270, 740, [24, 76, 1246, 716]),
    ] {
        browser.set_viewport(width, height).await;
        browser.goto(site.url()).await;
        open_dialog(&browser).await;
        let place = "(({ left, top, right, bottom }) => [left, top, right, bottom])(inside.querySelector('iframe').getBoundingClientRect())";
        let what = format!("the place at {width}");
        wait_for_value(&browser, &what, place, json!(expected)).await;
        browser.enter_checkout().await;
        browser.wait_for("status-open").await;
        let fits = "return document.documentElement.scrollWidth <= innerWidth";
        assert_eq!(browser.evaluate(fits).await, true, "{width}");
        browser.leave_checkout().await;
    }
    end(world, browser).await;
}
