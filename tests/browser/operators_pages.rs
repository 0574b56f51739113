//! The operator's pages: no finding of axe-core on any of them, in both colour schemes and from a phone to a desktop, and a decision
//! by keyboard. They have no script, and their policy admits none.

use serde_json::json;
use support::{Browser, BrowserOptions, World, eventually, secrets};

use crate::axe::{axe_findings, page_findings};
use crate::helpers::end;

const PAGES: [&str; 7] = [
    "/",
    "/orders",
    "/settlements",
    "/stores",
    "/gateway",
    "/audit",
    "/configuration",
];

pub(crate) fn options(width: u32, dark: bool) -> BrowserOptions {
    BrowserOptions {
        size: (width, 800),
        dark,
        ..BrowserOptions::default()
    }
}

/// Opens orders of which one is underpaid, one needs review and one is paid. Returns the id of the first.
pub(crate) async fn with_orders(world: &World) -> String {
    world.expect_error("a payment needs review");
    let underpaid = world.customer().open("ebook").await;
    underpaid.choose("BTC").await;
    world.sandbox().pay(&underpaid, "half").await;
    let unclear = world.customer().open("ebook").await;
    unclear.choose("BTC").await;
    let paid = world.customer().open("ebook").await;
    paid.choose("BTC").await;
    world.sandbox().pay(&paid, "exact").await;
    world.sandbox().mine(3).await;
    underpaid.wait_for("underpaid").await;
    paid.wait_for("paid").await;
    let invoice = world.sandbox().invoice_of(&unclear.address().await).await;
    let other_price = json!({ "invoice_crypto_amount": "0.1" });
    world
        .sandbox()
        .override_invoice(&invoice, &other_price)
        .await;
    let ada = world.operator(secrets::OPERATOR_TOKEN);
    eventually("two orders wait for a person", async || {
        let waiting = ada.get("/api/orders?attention=true").await;
        (waiting.body["orders"].as_array()?.len() == 2).then_some(())
    })
    .await;
    underpaid.order
}

/// Signs in by keyboard: the name has the focus.
async fn sign_in(browser: &Browser, world: &World) {
    browser.goto(&format!("{}/login", world.admin_url())).await;
    assert_eq!(axe_findings(browser).await, "", "the sign-in");
    browser
        .type_keys(format!("ada\u{e004}{}\u{e007}", secrets::OPERATOR_PASSWORD))
        .await;
    wait_for_heading(browser, "Needs a person").await;
}

pub(crate) async fn wait_for_heading(browser: &Browser, text: &str) {
    eventually(&format!("the page {text}"), async || {
        let heading = "return document.querySelector('h1')?.textContent";
        (browser.evaluate(heading).await == text).then_some(())
    })
    .await;
}

#[tokio::test]
async fn axe_finds_nothing_on_any_page_of_the_operator() {
    let world = World::start().await;
    let order = with_orders(&world).await;
    let browser = Browser::open_with(BrowserOptions::default()).await;
    sign_in(&browser, &world).await;
    let mut found = Vec::new();
    for (width, dark) in [
        (360, false),
        (360, true),
        (768, false),
        (1270, false),
        (1270, true),
    ] {
        browser.emulate(options(width, dark)).await;
        for page in PAGES.iter().copied().chain([&*format!("/orders/{order}")]) {
            browser.goto(&format!("{}{page}", world.admin_url())).await;
            let name = format!("{page} at {width}, dark {dark}");
            found.extend(page_findings(&browser, &name).await);
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    end(world, browser).await;
}

/// Accepts an order by keyboard on its page, which has no script.
pub(crate) async fn accept_by_keyboard(browser: &Browser, page: &str) {
    browser.goto(page).await;
    let scripts = "return document.scripts.length";
    assert_eq!(browser.evaluate(scripts).await, 0);
    let focus = "document.querySelector('textarea').focus()";
    browser.evaluate(focus).await;
    // The text, Tab to the first button, Enter.
    let keys = "the rest came by bank\u{e004}\u{e007}";
    browser.type_keys(keys).await;
    eventually("the order is paid", async || {
        let badge = "return document.querySelector('main .badge')?.textContent";
        (browser.evaluate(badge).await == "paid").then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_operator_decides_by_keyboard_on_a_page_without_scripts() {
    let world = World::start().await;
    let order = with_orders(&world).await;
    let browser = Browser::open_with(BrowserOptions::default()).await;
    sign_in(&browser, &world).await;
    let page = format!("{}/orders/{order}", world.admin_url());
    accept_by_keyboard(&browser, &page).await;
    let ada = world.operator(secrets::OPERATOR_TOKEN);
    assert_eq!(ada.order(&order).await["decision"]["outcome"], "accepted");
    end(world, browser).await;
}
