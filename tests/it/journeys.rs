//! Steps that many journeys share.

use serde_json::{Value, json};
use tests::{Browser, Checkout, Site, Wishes, World};

use crate::shop_page::{HAS_BUTTON, says};

/// A page of another site than the proxy's, by its address, and a world whose store lets it in: the checkout's frame is a
/// stranger's there, and gets a stranger's storage.
pub(crate) async fn another_site() -> (Site, World, String) {
    let site = Site::open().await;
    let url = site.url().replace("127.0.0.1", "localhost");
    let wishes = Wishes {
        origins: vec![url.clone()],
        ..Wishes::default()
    };
    (site, World::start_with(wishes).await, url)
}

/// The invoice that is shown is paid and confirmed, and the order is paid.
pub(crate) async fn pays_in_full(world: &World, checkout: &Checkout) {
    world.chain().pays(checkout, "exact").await;
    world.chain().mines(3).await;
    checkout.sees("paid").await;
}

/// What happened, in order: `order.created`, …
pub(crate) fn types(events: &[Value]) -> Vec<&str> {
    let types = events.iter().map(|event| event["type"].as_str().unwrap());
    types.collect()
}

/// The numbers of the events.
pub(crate) fn sequences(events: &[Value]) -> Vec<u64> {
    let numbers = events
        .iter()
        .map(|event| event["data"]["sequence"].as_u64());
    numbers.map(Option::unwrap).collect()
}

/// What the store was told of an order, all of it and in order: read back, and as it was delivered.
pub(crate) async fn told(world: &World, order: &str) -> Vec<String> {
    world.everything_is_told().await;
    let events = world.store().events_of(order).await;
    let numbers: Vec<u64> = (1..).take(events.len()).collect();
    assert_eq!(sequences(&events), numbers);
    assert_eq!(world.ear.kinds(order), types(&events));
    types(&events).into_iter().map(str::to_owned).collect()
}

/// How often the store was told, in all its events, that an order is paid.
pub(crate) async fn times_paid(world: &World, order: &str) -> usize {
    let events = world.store().events_of(order).await;
    let types = types(&events);
    types
        .into_iter()
        .filter(|kind| *kind == "order.paid")
        .count()
}

/// The client token that the page keeps for its order.
pub(crate) async fn token_of(browser: &Browser) -> String {
    let find =
        "return Object.entries(sessionStorage).find(([key]) => key.startsWith('florin'))?.[1]";
    let token = browser.runs(find, &[]).await;
    token.as_str().expect("the page keeps a token").to_owned()
}

/// The only order of the store, as its customer's page has it.
pub(crate) async fn the_order(world: &World, browser: &Browser) -> Checkout {
    let orders = world.store().gets("/v1/orders").await.with(200).body;
    let orders = orders["orders"].as_array().unwrap();
    assert_eq!(orders.len(), 1, "one order, whatever the page went through");
    let id = orders[0]["id"].as_str().unwrap();
    world.shopper().with_token(&token_of(browser).await, id)
}

/// In the demo shop, to the choice of assets for the e-book, which is shown in a dialog.
pub(crate) async fn takes_the_ebook(world: &World, browser: &Browser) {
    browser.goes_to(&world.shop_url()).await;
    opens_the_ebook(browser).await;
}

/// Opens the e-book's dialog in the demo shop, once the loader has made its button.
pub(crate) async fn opens_the_ebook(browser: &Browser) {
    says(browser, "the button is there", HAS_BUTTON, &json!(true)).await;
    browser.presses("pay-ebook").await;
    browser.enters_the_checkout().await;
}

/// The customer chooses an asset, its network too where there are several, and is shown where to send it: the order.
pub(crate) async fn chooses(world: &World, browser: &Browser, crypto_code: &str) -> Checkout {
    browser.presses(&format!("asset-{crypto_code}")).await;
    if crypto_code.starts_with("USDT") {
        browser.presses("network-confirm").await;
    }
    browser.sees("status-awaiting_payment").await;
    the_order(world, browser).await
}

/// The next `order` of the stream.
pub(crate) async fn next_order(stream: &mut reqwest::Response, heard: &mut String) -> Value {
    next_or_end(stream, heard)
        .await
        .expect("the stream goes on")
}

/// The same; `None` at its end.
pub(crate) async fn next_or_end(
    stream: &mut reqwest::Response,
    heard: &mut String,
) -> Option<Value> {
    loop {
        if let Some((event, rest)) = heard.split_once("\n\n") {
            let data = event.lines().find_map(|line| line.strip_prefix("data: "));
            let view = data.map(|data| serde_json::from_str(data).unwrap());
            assert!(data.is_none() || event.contains("event: order"), "{event}");
            let rest = rest.to_owned();
            *heard = rest;
            match view {
                Some(view) => return Some(view),
                None => continue,
            }
        }
        let bound = std::time::Duration::from_secs(20);
        let chunk = tokio::time::timeout(bound, stream.chunk()).await;
        let chunk = chunk
            .expect("the stream says something within 20 s")
            .unwrap()?;
        heard.push_str(std::str::from_utf8(&chunk).unwrap());
    }
}
