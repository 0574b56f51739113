//! The pages of the operator and of a store's staff: no finding of axe-core on any of them, in both colour schemes and from a
//! phone to a desktop, entries that are low rows and open in place, and a decision by keyboard.
//!
//! And the sandbox's page as a developer uses it: scenarios and payments that the proxy sees, and faults.
//! `crates/sandbox/tests` has every scenario, and the policy of its pages.

use serde_json::json;
use support::{Browser, BrowserOptions, Checkout, World, eventually, secrets};

use crate::helpers::{axe_findings, end};

pub(crate) const PAGES: [&str; 7] = [
    "/",
    "/orders",
    "/settlements?store=demo",
    "/stores",
    "/gateway",
    "/audit",
    "/configuration",
];

/// Opens the entries. Returns how many rows were too high, and how many have their first action too far below.
const OPEN_ENTRIES: &str = "const rows = [...document.querySelectorAll('details.entry')];
    const height = (row) => row.getBoundingClientRect().height;
    const high = rows.filter((row) => height(row) > 72);
    const far = rows.filter((row) => {
        row.open = true;
        const action = row.querySelector('form > button, .buttons button').getBoundingClientRect();
        return action.bottom - row.getBoundingClientRect().top > 600;
    });
    return [high.length, far.length]";

fn options(width: u32, dark: bool) -> BrowserOptions {
    BrowserOptions {
        size: (width, 800),
        dark,
        ..BrowserOptions::default()
    }
}

/// Looks at pages from a phone to a desktop, in both colour schemes.
async fn check_pages(browser: &Browser, base: &str, pages: &[&str]) {
    let mut found = Vec::new();
    for (width, dark) in [(390, false), (768, true), (1270, false), (1270, true)] {
        browser.emulate(options(width, dark)).await;
        for page in pages {
            browser.goto(&format!("{base}{page}")).await;
            let name = format!("{page} at {width}, dark {dark}");
            let too_wide = "return document.documentElement.scrollWidth > innerWidth";
            if browser.evaluate(too_wide).await == true {
                found.push(format!("{name}: wider than the window"));
            }
            if browser.evaluate(OPEN_ENTRIES).await != json!([0, 0]) {
                found.push(format!(
                    "{name}: an entry or what is above its action is too high"
                ));
            }
            let findings = axe_findings(browser).await;
            found.extend(findings.lines().map(|finding| format!("{name}: {finding}")));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Opens orders of which one is underpaid, one is overpaid, one needs review and one is paid. Returns the id of the first.
pub(crate) async fn with_orders(world: &World) -> String {
    world.expect_error("a payment needs review");
    let underpaid = world.customer().open_with("ebook", "BTC").await;
    world.sandbox().pay(&underpaid, "half").await;
    let overpaid = world.customer().open_with("mug", "USDTTRC20").await;
    world.sandbox().settle(&overpaid, "double").await;
    overpaid.wait_for("overpaid").await;
    let unclear = world.customer().open_with("ebook", "BTC").await;
    let paid = world.customer().open_with("ebook", "BTC").await;
    world.sandbox().settle(&paid, "exact").await;
    underpaid.wait_for("underpaid").await;
    paid.wait_for("paid").await;
    let invoice = world.sandbox().invoice_of(&unclear.address().await).await;
    let other_price = json!({ "invoice_crypto_amount": "0.1" });
    world
        .sandbox()
        .override_invoice(&invoice, &other_price)
        .await;
    let ada = world.operator(secrets::OPERATOR_TOKEN);
    eventually("three orders wait for a person", async || {
        let waiting = ada.get("/api/orders?attention=true").await;
        (waiting.body["orders"].as_array()?.len() == 3).then_some(())
    })
    .await;
    underpaid.order
}

/// Signs in by keyboard: the name has the focus.
pub(crate) async fn sign_in(browser: &Browser, world: &World) {
    browser.goto(&format!("{}/login", world.admin_url())).await;
    assert_eq!(axe_findings(browser).await, "", "the sign-in");
    browser
        .type_keys(format!("ada\u{e004}{}\u{e007}", secrets::OPERATOR_PASSWORD))
        .await;
    wait_for_heading(browser, "Needs attention").await;
}

/// The page in the navigation, else the heading.
async fn wait_for_heading(browser: &Browser, text: &str) {
    let heading = "return document.querySelector('[aria-current], h1')?.textContent";
    browser.wait_for_result("the page", heading, text).await;
}

#[tokio::test]
async fn axe_finds_nothing_on_pages_of_operators_and_staff_and_a_decision_needs_only_the_keyboard()
{
    let world = World::start().await;
    let order = with_orders(&world).await;
    let browser = Browser::open_with(BrowserOptions::default()).await;
    sign_in(&browser, &world).await;
    let shown = format!("/orders/{order}");
    let pages = [&PAGES[..], &[&*shown]].concat();
    check_pages(&browser, &world.admin_url(), &pages).await;
    check_pages_of_staff(&browser, &world, &order).await;
    accept_by_keyboard(&browser, &world, &order).await;
    end(world, browser).await;
}

/// Accepts an order by keyboard on its page, which shows times in the browser's zone.
async fn accept_by_keyboard(browser: &Browser, world: &World, order: &str) {
    let page = format!("{}/orders/{order}", world.admin_url());
    browser.goto(&page).await;
    let is_local = "return [...document.querySelectorAll('time')].every(
        (time) => time.title.endsWith('UTC') && !time.textContent.endsWith('UTC'))";
    assert_eq!(browser.evaluate(is_local).await, true);
    let copy = "navigator.clipboard.writeText = async (text) => { window.copied = text; };
        document.querySelector('.copy').click();
        return window.copied";
    assert_eq!(browser.evaluate(copy).await, order);
    let focus = "document.querySelector('textarea').focus()";
    browser.evaluate(focus).await;
    // The text, Tab to the first button, Enter.
    let keys = "the rest came by bank\u{e004}\u{e007}";
    browser.type_keys(keys).await;
    let badge = "return document.querySelector('main .badge')?.textContent";
    browser
        .wait_for_result("the order is paid", badge, "paid")
        .await;
    let ada = world.operator(secrets::OPERATOR_TOKEN);
    assert_eq!(ada.order(order).await["decision"]["outcome"], "accepted");
}

/// A link for a person who may decide.
async fn link(world: &World) -> String {
    let wanted = json!({ "person": "Zoë", "role": "write" });
    let made = world.store().post("/v1/staff_links", &wanted).await;
    made.with(201).text_at("/url")
}

/// Staff sees the operator's pages of one store: `tests/api/staff_pages.rs` has what they show.
async fn check_pages_of_staff(browser: &Browser, world: &World, order: &str) {
    // The link is followed from a page of another site, as in a shop's back office.
    let shop = world.shop_url().replace("127.0.0.1", "localhost");
    browser.goto(&shop).await;
    let go = "location.assign(arguments[0])";
    let to = json!(link(world).await);
    browser.evaluate_with(go, &[to]).await;
    wait_for_heading(browser, "Quiet Goods").await;
    // The button has the focus.
    browser.type_keys("\u{e007}".to_owned()).await;
    wait_for_heading(browser, "Needs attention").await;
    let order = format!("/staff/orders/{order}");
    let unopened = link(world).await.replace(&world.proxy_url(), "");
    let pages = ["/staff/", &*order, &*unopened, "/staff/open/0"];
    check_pages(browser, &world.proxy_url(), &pages).await;
    // The cookie is out of reach of scripts, and no page of the checkout gets it.
    let cookies = "return document.cookie";
    assert_eq!(browser.evaluate(cookies).await, "");
}

async fn page(world: &World) -> Browser {
    let browser = Browser::open_with(BrowserOptions::default()).await;
    browser
        .goto(&format!("{}/sandbox", world.sandbox_url()))
        .await;
    browser.wait_for("scenario-paid").await;
    browser.press("slowly").await;
    browser
}

/// An order whose invoice is selected on the page, with the invoice's id.
async fn order(world: &World, browser: &Browser) -> (Checkout, String) {
    let checkout = world.customer().open_with("ebook", "BTC").await;
    let id = world.sandbox().invoice_of(&checkout.address().await).await;
    browser.press(&format!("invoice-{id}")).await;
    browser.wait_for(&format!("sentence-{id}")).await;
    (checkout, id)
}

async fn shows(browser: &Browser, name: &str, text: &str) {
    browser.wait_for_text(name, text).await;
}

#[tokio::test]
async fn faults_are_counted_down_and_scenarios_and_payments_reach_the_proxy() {
    let world = World::start().await;
    let browser = page(&world).await;
    // Without an order, the proxy calls nothing meanwhile.
    let choose = "const kind = document.querySelector('[data-testid=fault-kind]');
        kind.value = [...kind.options].find((option) => option.text === '503').value;
        document.querySelector('[data-testid=fault-times]').value = '2';
        return null";
    browser.evaluate(choose).await;
    browser.press("inject").await;
    shows(&browser, "faults", "503 · any · 2 left").await;
    let prices = format!("{}/api/prices", world.sandbox_url());
    let call = world.http().get(&prices).send().await;
    assert_eq!(call.unwrap().status(), 503);
    shows(&browser, "faults", "503 · any · 1 left").await;
    browser.press("clear-faults").await;
    let is_hidden =
        "return !document.querySelector('[data-testid=clear-faults]')?.checkVisibility()";
    browser.wait_until("no fault is left", is_hidden).await;
    let call = world.http().get(&prices).send().await;
    assert_eq!(call.unwrap().status(), 401);

    for (scenario, status, shown) in [
        ("late", "paid", "COMPLETED"),
        ("failed", "failed", "FAILED"),
    ] {
        let (checkout, id) = order(&world, &browser).await;
        browser.press(&format!("scenario-{scenario}")).await;
        shows(&browser, &format!("status-{id}"), shown).await;
        checkout.wait_for(status).await;
    }
    // A wallet pays any amount, and mines its blocks.
    let (checkout, id) = order(&world, &browser).await;
    browser.fill(&format!("amount-{id}"), "0.00001").await;
    browser.press(&format!("pay-{id}")).await;
    shows(&browser, &format!("sentence-{id}"), "is missing").await;
    browser.press(&format!("pay-rest-{id}")).await;
    shows(&browser, &format!("sentence-{id}"), "paid exactly").await;
    for _ in 0..3 {
        browser.press(&format!("mine-{id}")).await;
    }
    shows(&browser, &format!("status-{id}"), "COMPLETED").await;
    checkout.wait_for("paid").await;
    assert_eq!(browser.console_warnings().await, [""; 0]);
    end(world, browser).await;
}
