//! A shop's page with elements of a test's own, and what is seen from outside of them.

use serde_json::{Value, json};
use support::{Browser, Site, World, WorldConfig, eventually};
use thirtyfour::Key;

/// Whether the dialog is open, as [`says`] reads it.
pub(crate) const IS_OPEN: &str = "inside?.querySelector('dialog')?.open";

/// Whether the loader has made the element's button, as [`says`] reads it.
pub(crate) const HAS_BUTTON: &str = "Boolean(inside?.querySelector('[part=button]'))";

/// A shop's page with the loader and these elements.
pub(crate) async fn page_with(elements: &str) -> (Site, World) {
    let site = Site::open().await;
    let world = World::start_with(WorldConfig {
        origins: vec![site.url().to_owned()],
        ..WorldConfig::default()
    })
    .await;
    let script = format!(
        "<script src=\"{}/florin.js\" async></script>",
        world.proxy_url()
    );
    site.serve("", &[&script, elements].concat());
    (site, world)
}

/// The orders of the store.
pub(crate) async fn orders(world: &World) -> Vec<Value> {
    let orders = world.store().get("/v1/orders").await.with(200).body;
    orders["orders"].as_array().unwrap().clone()
}

/// Waits until a script on the page, where `element` and `inside` are the checkout and its shadow root, says this.
pub(crate) async fn says(browser: &Browser, what: &str, expression: &str, value: &Value) {
    let script = format!(
        "const element = document.querySelector('florin-checkout');
         const inside = element?.shadowRoot;
         return {expression}"
    );
    eventually(what, async || {
        (browser.evaluate(&script, &[]).await == *value).then_some(())
    })
    .await;
}

/// Presses the element's button by the keyboard.
pub(crate) async fn opens_the_dialog(browser: &Browser) {
    says(browser, "the button is there", HAS_BUTTON, &json!(true)).await;
    browser.evaluate("document.querySelector('florin-checkout').shadowRoot.querySelector('[part=button]').focus()", &[]).await;
    browser.type_keys(Key::Enter).await;
    says(browser, "the dialog is open", IS_OPEN, &json!(true)).await;
}
