//! Steps that many tests share.

use serde_json::json;
use support::{Browser, Checkout, Site, World, WorldConfig};

use crate::shop_page::{HAS_BUTTON, wait_for_value};

/// A page of another site than the proxy's with its URL, and a world whose store lists it: the checkout's frame is
/// third-party there, with partitioned storage.
pub(crate) async fn another_site() -> (Site, World, String) {
    let site = Site::open().await;
    let url = site.url().replace("127.0.0.1", "localhost");
    let config = WorldConfig {
        origins: vec![url.clone()],
        ..WorldConfig::default()
    };
    (site, World::start_with(config).await, url)
}

/// Returns the client token that the page keeps for its order.
pub(crate) async fn token_of(browser: &Browser) -> String {
    let find =
        "return Object.entries(sessionStorage).find(([key]) => key.startsWith('florin'))?.[1]";
    let token = browser.evaluate(find, &[]).await;
    token.as_str().expect("the page keeps a token").to_owned()
}

/// Returns the only order of the store, with the page's client token.
pub(crate) async fn only_order(world: &World, browser: &Browser) -> Checkout {
    let orders = world.store().get("/v1/orders").await.with(200).body;
    let orders = orders["orders"].as_array().unwrap();
    assert_eq!(orders.len(), 1, "one order, whatever the page went through");
    let id = orders[0]["id"].as_str().unwrap();
    world.shopper().with_token(&token_of(browser).await, id)
}

/// Opens the demo shop and the asset choice of the e-book, in a dialog.
pub(crate) async fn open_ebook_checkout(world: &World, browser: &Browser) {
    browser.goto(&world.shop_url()).await;
    open_ebook_dialog(browser).await;
}

/// Opens the e-book's dialog in the demo shop, once the loader has made its button.
pub(crate) async fn open_ebook_dialog(browser: &Browser) {
    wait_for_value(browser, "the button is there", HAS_BUTTON, &json!(true)).await;
    browser.press("pay-ebook").await;
    browser.enter_checkout().await;
}

/// Chooses an asset, and its network if there are several; returns the order.
pub(crate) async fn choose_asset(world: &World, browser: &Browser, crypto_code: &str) -> Checkout {
    browser.press(&format!("asset-{crypto_code}")).await;
    if crypto_code.starts_with("USDT") {
        browser.press("network-confirm").await;
    }
    browser.wait_for("status-awaiting_payment").await;
    only_order(world, browser).await
}

/// Passes the proxy's responses about the order through `change(order)`; the event stream is off.
pub(crate) fn change_responses(change: &str) -> String {
    format!(
        "(() => {{
        const fetched = window.fetch;
        const change = (order) => {{ {change} }};
        window.fetch = async (request, options) => {{
            const url = request.url ?? String(request);
            if (url.includes('/v1/checkout/events')) return new Response('', {{ status: 503 }});
            const answer = await fetched(request, options);
            if (!/\\/v1\\/checkout(\\/attempt)?$/.test(url) || !answer.ok) return answer;
            const body = await answer.json();
            const order = body.order ?? body;
            if (order.id) change(order);
            return new Response(JSON.stringify(body), {{ status: answer.status }});
        }};
        }})();"
    )
}
