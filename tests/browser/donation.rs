//! Entering the amount of a donation in a real browser.

use serde_json::{Value, json};
use support::{Browser, World, eventually};
use thirtyfour::Key;

async fn open_donation(world: &World, browser: &Browser, locale: &str) {
    let page = format!(
        "{}/pay?store=demo#store=demo&donation=coffee&locale={locale}",
        world.proxy_url()
    );
    browser.goto(&page).await;
    browser.wait_for("status-giving").await;
}

async fn read_field(browser: &Browser, script: &str) -> Value {
    let inside = "const inside = document.querySelector('florin-checkout').shadowRoot;";
    browser.evaluate(&[inside, script].concat(), &[]).await
}

/// The field's state, its description, and the focus.
const FIELD: &str = "
    const field = inside.querySelector('#amount');
    return [field.ariaInvalid, field.getAttribute('aria-describedby').split(' ').map(id => inside.getElementById(id).textContent), inside.activeElement === field, inside.querySelector('.banners').textContent];";

#[tokio::test]
async fn an_input_error_is_shown_at_its_field() {
    let (world, browser) = (World::start().await, Browser::open().await);
    open_donation(&world, &browser, "en").await;
    let bounds = "Choose any amount between \u{2066}$2.00\u{2069} and \u{2066}$500.00\u{2069}.";
    let refused =
        "Please enter an amount between \u{2066}$2.00\u{2069} and \u{2066}$500.00\u{2069}.";
    assert_eq!(
        read_field(&browser, FIELD).await,
        json!([null, [bounds, ""], false, ""])
    );
    for typed in ["1.99", "", "501", "five"] {
        browser.fill("give-other", typed).await;
        browser.press("give-go").await;
        eventually(&format!("{typed:?} is rejected at the field"), async || {
            let announced = read_field(&browser, FIELD).await;
            (announced == json!(["true", [bounds, refused], true, ""])).then_some(())
        })
        .await;
        assert!(browser.is_visible("give-error").await);
    }
    let orders = world.store().get("/v1/orders").await.with(200).body;
    assert_eq!(orders["orders"], json!([]));
    browser.fill("give-other", "5,50").await;
    browser.type_keys(Key::Enter).await;
    browser.wait_for("status-open").await;
    let orders = world.store().get("/v1/orders").await.with(200).body;
    assert_eq!(orders["orders"][0]["amount"], "5.50");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn the_currency_sign_is_placed_as_in_the_language() {
    let (world, browser) = (World::start().await, Browser::open().await);
    let order = "const field = inside.querySelector('.money'); return [inside.querySelector('[data-testid=give-sign]').textContent, field.firstChild.tagName]";
    open_donation(&world, &browser, "en").await;
    assert_eq!(read_field(&browser, order).await, json!(["$", "LABEL"]));
    browser.goto("about:blank").await;
    open_donation(&world, &browser, "ar").await;
    let arabic = read_field(&browser, order).await;
    assert!(arabic[0].as_str().unwrap().contains('$'), "{arabic}");
    assert_eq!(arabic[1], "INPUT", "{arabic}");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn the_chosen_suggestion_is_shown_as_pressed() {
    let (world, browser) = (World::start().await, Browser::open().await);
    let slowly = "
        const fetched = window.fetch;
        window.fetch = async (request, options) => {
            if (options?.method === 'POST') await new Promise(done => window.goOn = done);
            return fetched(request, options);
        };";
    browser.run_before_every_page(slowly).await;
    open_donation(&world, &browser, "en").await;
    let pressed = "return [...inside.querySelectorAll('[aria-pressed]')].map(at => [at.dataset.testid, at.ariaPressed])";
    let before = json!([
        ["give-3.00", "false"],
        ["give-5.00", "false"],
        ["give-10.00", "false"]
    ]);
    assert_eq!(read_field(&browser, pressed).await, before);
    browser.tab_to("give-5.00").await;
    browser.type_keys(Key::Space).await;
    let after = json!([
        ["give-3.00", "false"],
        ["give-5.00", "true"],
        ["give-10.00", "false"]
    ]);
    eventually("it is pressed", async || {
        (read_field(&browser, pressed).await == after).then_some(())
    })
    .await;
    browser.evaluate("window.goOn()", &[]).await;
    browser.wait_for("status-open").await;
    browser.end().await;
    world.end().await;
}
