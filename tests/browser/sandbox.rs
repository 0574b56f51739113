//! The sandbox's page as a developer uses it: scenarios and payments that the proxy sees, and faults; and nothing from the network
//! runs as markup. `crates/sandbox/tests` has every scenario.

use serde_json::json;
use support::{Browser, BrowserOptions, Checkout, World, secrets};

use crate::helpers::end;

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
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let id = world.sandbox().invoice_of(&checkout.address().await).await;
    browser.press(&format!("invoice-{id}")).await;
    browser.wait_for(&format!("sentence-{id}")).await;
    (checkout, id)
}

async fn shows(browser: &Browser, name: &str, text: &str) {
    browser.wait_for_text(name, text).await;
}

#[tokio::test]
async fn scenarios_and_payments_reach_the_proxy_and_nothing_runs_out_of_the_page() {
    let world = World::start().await;
    let browser = page(&world).await;
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
    for (width, height) in [(500, 844), (768, 1024), (1280, 900), (1920, 1080)] {
        let look = BrowserOptions {
            size: (width, height),
            dark: width == 768,
            ..BrowserOptions::default()
        };
        browser.emulate(look).await;
        let beyond = "const all = [...document.querySelectorAll('main *')];
            return all.filter((node) => node.checkVisibility() && node.getBoundingClientRect().right > innerWidth + 1).map((node) => node.outerHTML.slice(0, 80))";
        assert_eq!(browser.evaluate(beyond).await, json!([]), "{width}");
    }
    assert_eq!(browser.console_warnings().await, [""; 0]);
    end(world, browser).await;
}

/// Markup that would set a variable if it ever ran.
const MARKUP: &str = "<img src=x onerror=\"window.ran=1\"><script>window.ran=1</script>";

#[tokio::test]
async fn markup_from_the_network_is_shown_and_never_run() {
    let world = World::start().await;
    let browser = page(&world).await;
    let sandbox = world.sandbox_url();
    let body = json!({
        "client_email_id": format!("{MARKUP}@shop.example"),
        "client_preferred_fiat_currency": "USD",
        "amount": "20.00",
        "merchant_id": MARKUP,
        "merchant_website": "https://shop.example/\"><script>window.ran=1</script>",
        "invoice_callback_url": format!("{sandbox}/nowhere?{MARKUP}"),
    });
    let opened = world
        .http()
        .post(format!("{sandbox}/api/checkout"))
        .header("apikey", secrets::API_KEY)
        .header("user-agent", MARKUP)
        .json(&body);
    assert_eq!(opened.send().await.unwrap().status(), 200);
    let encoded = MARKUP.replace('<', "%3C").replace('>', "%3E");
    let encoded = encoded.replace('"', "%22").replace(' ', "%20");
    let asked = world
        .http()
        .get(format!("{sandbox}/api/invoice?id={encoded}"))
        .header("apikey", secrets::API_KEY)
        .header("nonce", MARKUP);
    assert_eq!(asked.send().await.unwrap().status(), 401);
    let session = &world.sandbox().sessions().await[0]["id"];
    let session = session.as_str().unwrap().to_owned();
    browser.press(&format!("invoice-{session}")).await;
    shows(&browser, "log", "onerror").await;
    let open = "for (const line of document.querySelectorAll('#log details')) line.open = true; return null";
    browser.evaluate(open).await;
    let made =
        "return [window.ran ?? null, document.querySelectorAll('main img, main script').length]";
    assert_eq!(browser.evaluate(made).await, json!([null, 0]));
    let complaints = browser.console_warnings().await;
    let is_blocked = |line: &String| line.contains("Content Security Policy");
    assert!(!complaints.iter().any(is_blocked), "{complaints:?}");
    end(world, browser).await;
}

#[tokio::test]
async fn a_fault_is_injected_counted_down_and_removed() {
    let world = World::start().await;
    let browser = page(&world).await;
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
    end(world, browser).await;
}
