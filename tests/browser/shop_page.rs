//! A shop page with given elements, and their state as the page sees it.

use serde_json::{Value, json};
use support::{Browser, Site, World, WorldConfig, eventually};
use thirtyfour::Key;

/// Expression: the dialog is open. Read by [`wait_for_value`].
pub(crate) const IS_OPEN: &str = "inside?.querySelector('dialog')?.open";

/// Expression: the element's button exists. Read by [`wait_for_value`].
pub(crate) const HAS_BUTTON: &str = "Boolean(inside?.querySelector('[part=button]'))";

/// Opens a shop page with the loader and these elements.
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

/// Returns the orders of the store.
pub(crate) async fn orders(world: &World) -> Vec<Value> {
    let orders = world.store().get("/v1/orders").await.with(200).body;
    orders["orders"].as_array().unwrap().clone()
}

/// Waits until an expression has this value; `element` and `inside` are the checkout and its shadow root.
pub(crate) async fn wait_for_value(browser: &Browser, what: &str, expression: &str, value: &Value) {
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
pub(crate) async fn open_dialog(browser: &Browser) {
    wait_for_value(browser, "the button is there", HAS_BUTTON, &json!(true)).await;
    browser.evaluate("document.querySelector('florin-checkout').shadowRoot.querySelector('[part=button]').focus()", &[]).await;
    browser.type_keys(Key::Enter).await;
    wait_for_value(browser, "the dialog is open", IS_OPEN, &json!(true)).await;
}
