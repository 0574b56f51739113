//! Steps that many journeys share.

use serde_json::json;
use support::{Browser, Checkout, Site, World, WorldConfig};

use crate::shop_page::{HAS_BUTTON, says};

/// A page of another site than the proxy's, by its address, and a world whose store lets it in: the checkout's frame is a
/// stranger's there, and gets a stranger's storage.
pub(crate) async fn another_site() -> (Site, World, String) {
    let site = Site::open().await;
    let url = site.url().replace("127.0.0.1", "localhost");
    let config = WorldConfig {
        origins: vec![url.clone()],
        ..WorldConfig::default()
    };
    (site, World::start_with(config).await, url)
}

/// The client token that the page keeps for its order.
pub(crate) async fn token_of(browser: &Browser) -> String {
    let find =
        "return Object.entries(sessionStorage).find(([key]) => key.startsWith('florin'))?.[1]";
    let token = browser.evaluate(find, &[]).await;
    token.as_str().expect("the page keeps a token").to_owned()
}

/// The only order of the store, as its customer's page has it.
pub(crate) async fn the_order(world: &World, browser: &Browser) -> Checkout {
    let orders = world.store().get("/v1/orders").await.with(200).body;
    let orders = orders["orders"].as_array().unwrap();
    assert_eq!(orders.len(), 1, "one order, whatever the page went through");
    let id = orders[0]["id"].as_str().unwrap();
    world.shopper().with_token(&token_of(browser).await, id)
}

/// In the demo shop, to the choice of assets for the e-book, which is shown in a dialog.
pub(crate) async fn takes_the_ebook(world: &World, browser: &Browser) {
    browser.goto(&world.shop_url()).await;
    opens_the_ebook(browser).await;
}

/// Opens the e-book's dialog in the demo shop, once the loader has made its button.
pub(crate) async fn opens_the_ebook(browser: &Browser) {
    says(browser, "the button is there", HAS_BUTTON, &json!(true)).await;
    browser.press("pay-ebook").await;
    browser.enter_checkout().await;
}

/// The customer chooses an asset, its network too where there are several, and is shown where to send it: the order.
pub(crate) async fn chooses(world: &World, browser: &Browser, crypto_code: &str) -> Checkout {
    browser.press(&format!("asset-{crypto_code}")).await;
    if crypto_code.starts_with("USDT") {
        browser.press("network-confirm").await;
    }
    browser.wait_for("status-awaiting_payment").await;
    the_order(world, browser).await
}
