//! The sandbox's page: scenarios, signature hints, faults, time and links; received markup never runs.

use std::time::Duration;

use florin_gateway::{Nonce, sign};
use secrecy::SecretString;
use serde_json::{Value, json};
use support::{Browser, BrowserOptions, Checkout, World, eventually, secrets, within};
use thirtyfour::Key;

async fn page(world: &World, options: BrowserOptions) -> Browser {
    let browser = Browser::open_with(options).await;
    browser
        .goto(&format!("{}/sandbox", world.sandbox_url()))
        .await;
    browser.wait_for("scenario-paid").await;
    browser.press("slowly").await;
    browser
}

/// Opens an order and selects its invoice on the page; returns the invoice's id as well.
async fn order(world: &World, browser: &Browser) -> (Checkout, String) {
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("BTC").await;
    let id = world.sandbox().invoice_of(&checkout.address().await).await;
    browser.press(&format!("invoice-{id}")).await;
    browser.wait_for(&format!("sentence-{id}")).await;
    (checkout, id)
}

async fn wait_for_value(browser: &Browser, name: &str, text: &str) {
    let what = format!("{name} says {text:?}");
    eventually(&what, async || {
        browser.text(name).await.contains(text).then_some(())
    })
    .await;
}

#[tokio::test]
async fn each_scenario_of_payments_reaches_its_state_in_the_proxy() {
    let world = World::start().await;
    let browser = page(&world, BrowserOptions::default()).await;
    for (scenario, status, shown) in [
        ("paid", "paid", "COMPLETED"),
        ("paid-less", "underpaid", "COMPLETED"),
        ("paid-more", "overpaid", "COMPLETED"),
        ("paid-twice", "overpaid", "COMPLETED"),
        ("paid-in-parts", "paid", "COMPLETED"),
        ("topped-up", "paid", "COMPLETED"),
        ("late", "paid", "COMPLETED"),
        ("wrong-chain", "awaiting_payment", "CHECKING"),
        ("seen", "checking", "CHECKING"),
        ("stuck", "checking", "CHECKING"),
        ("unstuck", "paid", "COMPLETED"),
        ("replaced", "awaiting_payment", "CHECKING"),
        ("runs-out", "failed", "FAILED"),
        ("failed", "failed", "FAILED"),
        ("callback-lost", "paid", "COMPLETED"),
        ("callback-twice", "paid", "COMPLETED"),
        ("callback-early", "checking", "CHECKING"),
        ("callback-lies", "failed", "FAILED"),
    ] {
        let (checkout, id) = order(&world, &browser).await;
        browser.press(&format!("scenario-{scenario}")).await;
        wait_for_value(&browser, &format!("status-{id}"), shown).await;
        checkout.wait_for(status).await;
    }
    assert_eq!(browser.console_warnings().await, [""; 0]);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_wrong_signature_is_shown_beside_the_right_one() {
    let world = World::start().await;
    let browser = page(&world, BrowserOptions::default()).await;
    let second = world.clock.now().as_second();
    let (secret, nonce) = (
        SecretString::from(secrets::API_SECRET),
        Nonce::from_second(second),
    );
    let call = world
        .http()
        .get(format!("{}/api/prices", world.sandbox_url()))
        .header("apikey", secrets::API_KEY)
        .header("nonce", second.to_string())
        .header(
            "signature",
            sign(&secret, nonce, "/api/prices", None).as_str(),
        )
        .header("content-type", "application/json");
    assert_eq!(call.send().await.unwrap().status(), 401);
    browser.press("log-refused").await;
    let calls = world.sandbox().calls().await;
    browser.press(&format!("call-{}", calls[0]["number"])).await;
    wait_for_value(&browser, "hint", "You signed the path with /api").await;
    let proof = browser.text("proof").await;
    let (signed, expected) = (
        format!("You signed/api/{second}/api/prices"),
        format!("Expected/api/{second}/prices"),
    );
    assert!(proof.contains(&signed), "{proof}");
    assert!(proof.contains(&expected), "{proof}");
    assert!(
        proof.contains(sign(&secret, nonce, "/prices", None).as_str()),
        "{proof}"
    );
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_link_runs_its_scenario_only_after_a_click() {
    let world = World::start().await;
    let browser = page(&world, BrowserOptions::default()).await;
    let link = |scenario: &str| {
        let location = format!("location.hash = 'scenario=' + encodeURIComponent({scenario:?})");
        format!("{location}; return null")
    };
    browser.evaluate(&link("taken-back"), &[]).await;
    browser.wait_for("link-play").await;
    assert_eq!(browser.text("link-title").await, "Completed, taken back");
    browser.press("link-cancel").await;
    hidden(&browser, "link-play").await;
    assert_eq!(world.sandbox().invoices().await, [Value::Null; 0]);

    let scenario = json!({
        "title": "Half of a coffee, then a lost block",
        "open": {"crypto_code": "LTC", "amount": "3.50"},
        "steps": [
            {"path": "invoices/{invoice}/pay", "body": {"amount": "half"}},
            {"path": "mine", "body": {"blocks": 2, "chain": "{chain}"}},
        ],
    });
    browser.evaluate(&link(&scenario.to_string()), &[]).await;
    wait_for_value(&browser, "link-steps", "invoices/{invoice}/pay").await;
    browser.press("link-play").await;
    let played = eventually("the scenario is played", async || {
        let invoices = world.sandbox().invoices().await;
        let played = invoices.first()?.clone();
        (played["status"] == "PROCESSING").then_some(played)
    })
    .await;
    assert_eq!(
        (
            &played["crypto_code"],
            &played["amount_in_local_currency"],
            &played["covered"]
        ),
        (&json!("LTC"), &json!("3.50"), &json!("part"))
    );
    let address = browser.evaluate("return location.hash", &[]).await;
    assert_eq!(address, "", "loading the page again plays nothing again");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn actions_on_the_page_become_a_link_that_repeats_them() {
    let world = World::start().await;
    let browser = page(&world, BrowserOptions::default()).await;
    browser.type_keys("n").await;
    let first = eventually("an invoice is open", async || {
        world.sandbox().invoices().await.first().cloned()
    })
    .await;
    let id = first["id"].as_str().unwrap();
    browser.press(&format!("mine-{id}")).await;
    browser.press(&format!("expire-{id}")).await;
    wait_for_value(&browser, &format!("status-{id}"), "FAILED").await;
    browser.press("share-button").await;
    browser.wait_for("share-link").await;
    let link = browser
        .evaluate(
            "return document.querySelector('[data-testid=share-link]').value",
            &[],
        )
        .await;
    let hash = link.as_str().unwrap().split_once('#').unwrap().1;
    browser
        .evaluate(&format!("location.hash = {hash:?}; return null"), &[])
        .await;
    browser.press("link-play").await;
    eventually("a second invoice runs out", async || {
        let invoices = world.sandbox().invoices().await;
        (invoices.len() == 2 && invoices[0]["status"] == "FAILED").then_some(())
    })
    .await;
    browser.end().await;
    world.end().await;
}

/// Markup that sets `window.ran` when it runs.
const MARKUP: &str = "<img src=x onerror=\"window.ran=1\"><script>window.ran=1</script>";

#[tokio::test]
async fn received_markup_is_shown_and_never_run() {
    let world = World::start().await;
    let browser = page(&world, BrowserOptions::default()).await;
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
    let session = &world.sandbox().sessions().await[0]["id"];
    let session = session.as_str().unwrap().to_owned();
    let encoded = MARKUP.replace('<', "%3C").replace('>', "%3E");
    let encoded = encoded.replace('"', "%22").replace(' ', "%20");
    let asked = world
        .http()
        .get(format!("{sandbox}/api/invoice?id={encoded}"))
        .header("apikey", secrets::API_KEY)
        .header("nonce", MARKUP);
    assert_eq!(asked.send().await.unwrap().status(), 401);
    for call in world.sandbox().calls().await {
        browser.press(&format!("call-{}", call["number"])).await;
    }
    browser.press(&format!("invoice-{session}")).await;
    browser.wait_for(&format!("close-{session}")).await;
    wait_for_value(&browser, "log", "onerror").await;
    browser.press(&format!("close-{session}")).await;
    wait_for_value(&browser, &format!("status-{session}"), "CANCELLED").await;
    let title = json!({"title": MARKUP, "steps": [{"path": MARKUP}]}).to_string();
    let link = format!("location.hash = 'scenario=' + encodeURIComponent({title:?}); return null");
    browser.evaluate(&link, &[]).await;
    browser.wait_for("link-play").await;
    assert_eq!(browser.text("link-title").await, MARKUP);
    assert!(browser.text("link-steps").await.contains(MARKUP));
    browser.press("link-play").await;
    wait_for_value(&browser, "toast", "is no path").await;
    let made = "return [window.ran ?? null, document.querySelectorAll('main img, main script, dialog img, dialog script').length]";
    assert_eq!(browser.evaluate(made, &[]).await, json!([null, 0]));
    let complaints = browser.console_warnings().await;
    let refused = |line: &String| line.contains("Content Security Policy");
    assert!(!complaints.iter().any(refused), "{complaints:?}");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_fault_is_armed_counted_down_and_disarmed() {
    let world = World::start().await;
    let browser = page(&world, BrowserOptions::default()).await;
    browser
        .evaluate(
            "const kind = document.querySelector('[data-testid=fault-kind]');
             kind.value = [...kind.options].find((option) => option.text === '503 Unavailable').value;
             document.querySelector('[data-testid=fault-many]').value = '2';
             return null",
            &[],
        )
        .await;
    browser.press("arm").await;
    wait_for_value(&browser, "fault-1", "503 Unavailable").await;
    wait_for_value(&browser, "fault-1", "2 left").await;
    let asked = world
        .http()
        .get(format!("{}/api/prices", world.sandbox_url()));
    assert_eq!(asked.send().await.unwrap().status(), 503);
    wait_for_value(&browser, "fault-1", "1 left").await;
    browser.press("disarm-1").await;
    browser.wait_until_gone("fault-1").await;
    let asked = world
        .http()
        .get(format!("{}/api/prices", world.sandbox_url()));
    assert_eq!(asked.send().await.unwrap().status(), 401);
    browser.press("callback-lost").await;
    wait_for_value(&browser, "fault-2", "Callback lost").await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn everything_is_usable_by_keyboard() {
    let world = World::start().await;
    let browser = page(&world, BrowserOptions::default()).await;
    for count in [1, 2] {
        browser.type_keys("n").await;
        eventually("another invoice is open", async || {
            (world.sandbox().invoices().await.len() == count).then_some(())
        })
        .await;
    }
    let ids = world.sandbox().invoices().await;
    let id = |place: usize| ids[place]["id"].as_str().unwrap();
    browser.wait_for(&format!("sentence-{}", id(0))).await;
    browser.type_keys("j").await;
    browser.wait_for(&format!("sentence-{}", id(1))).await;
    browser.type_keys("p").await;
    wait_for_value(&browser, &format!("status-{}", id(1)), "COMPLETED").await;
    browser.type_keys("k").await;
    browser.type_keys("l").await;
    wait_for_value(&browser, &format!("sentence-{}", id(0)), "is missing").await;
    browser.type_keys("f").await;
    wait_for_value(&browser, "ahead", "stands still").await;
    browser.type_keys("?").await;
    browser.wait_for("keys").await;
    browser.type_keys(Key::Escape).await;
    hidden(&browser, "keys").await;
    browser.type_keys("/").await;
    browser.type_keys("payment").await;
    eventually("the log shows only payments", async || {
        let shown = "return [...document.querySelectorAll('#log > li:not([hidden]) .mark')].map((mark) => mark.textContent)";
        let shown = browser.evaluate(shown, &[]).await;
        (shown == json!(["payment", "payment"])).then_some(())
    })
    .await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn nothing_overflows_at_any_width() {
    let world = World::start().await;
    for (width, height) in [(500, 844), (768, 1024), (1280, 900), (1920, 1080)] {
        let browser = page(
            &world,
            BrowserOptions {
                size: (width, height),
                dark: width == 768,
            },
        )
        .await;
        browser.type_keys("n").await;
        for tab in ["tab-log", "tab-controls", "tab-invoices"] {
            if browser.is_visible(tab).await {
                browser.press(tab).await;
            }
            let beyond = "const all = [...document.querySelectorAll('main *')];
                return all.filter((node) => node.checkVisibility() && !node.closest('.group .chips') && node.getBoundingClientRect().right > innerWidth + 1).map((node) => node.outerHTML.slice(0, 80))";
            assert_eq!(
                browser.evaluate(beyond, &[]).await,
                json!([]),
                "{width} {tab}"
            );
        }
        browser.end().await;
    }
    world.end().await;
}

async fn hidden(browser: &Browser, name: &str) {
    let gone = within(Duration::from_secs(10), async || {
        (!browser.is_visible(name).await).then_some(())
    })
    .await;
    assert_eq!(gone, Some(()), "{name} is still shown");
}

#[tokio::test]
async fn each_scenario_of_wrong_responses_and_lost_blocks_reaches_its_state_in_the_proxy() {
    let world = World::start().await;
    world.expect_error("the gateway changed an invoice's address");
    world.expect_error("a payment is held");
    let browser = page(&world, BrowserOptions::default()).await;
    for (scenario, status, shown) in [
        ("reorg", "checking", "CHECKING"),
        ("other-address", "blocked", "CHECKING"),
        ("unknown-status", "awaiting_payment", "CHECKING"),
        ("stuck-to-the-end", "failed", "FAILED"),
    ] {
        let (checkout, id) = order(&world, &browser).await;
        browser.press(&format!("scenario-{scenario}")).await;
        wait_for_value(&browser, &format!("status-{id}"), shown).await;
        checkout.wait_for(status).await;
    }
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_reorganisation_after_the_credit_is_seen_in_the_proxy() {
    let world = World::start().await;
    world.expect_error("the gateway takes back a payment that was credited");
    let browser = page(&world, BrowserOptions::default()).await;
    let (checkout, id) = order(&world, &browser).await;
    browser.press("scenario-paid").await;
    checkout.wait_for("paid").await;
    for _ in 0..3 {
        browser.press(&format!("reorg-{id}")).await;
    }
    wait_for_value(&browser, &format!("status-{id}"), "CHECKING").await;
    // A settled attempt is polled after ten minutes.
    world.skip(Duration::from_mins(11));
    eventually("the proxy has seen it", async || {
        (checkout.view().await["reverted"] == true).then_some(())
    })
    .await;
    checkout.wait_for("paid").await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn cancelling_a_hosted_checkout_cancels_it_in_the_proxy() {
    let world = World::start().await;
    let browser = page(&world, BrowserOptions::default()).await;
    let order = json!({"amount": "20.00", "currency": "USD", "reference": "hosted-1", "flow": "hosted", "customer_email": "customer@shop.example"});
    let opened = world.store().open(&order).await.with(201);
    let (token, id) = (opened.text_at("/client_token"), opened.text_at("/order/id"));
    let checkout = world.shopper().with_token(&token, &id);
    checkout.wait_for("awaiting_payment").await;
    let session = &world.sandbox().sessions().await[0]["id"];
    browser
        .press(&format!("invoice-{}", session.as_str().unwrap()))
        .await;
    browser.press("scenario-cancelled").await;
    checkout.wait_for("cancelled").await;
    assert_eq!(world.sandbox().sessions().await.len(), 1);
    browser.end().await;
    world.end().await;
}
