//! Whom a purchase talks to: the shop's own page and the proxy, and nobody else.

use std::collections::BTreeSet;

use support::{Browser, Engine, Look};

use crate::steps::{another_site, chooses};

/// The origins that are asked for while somebody buys in this display; the shop's page has `extra` in it.
async fn asked_while_buying(display: &str, extra: &str) -> (BTreeSet<String>, [String; 2]) {
    // Not the proxy's host, so that the log tells apart what either page asks for.
    let (site, world, shop) = another_site().await;
    let proxy = world.proxy_url();
    site.serve(
        "",
        &format!(
            "<script src=\"{proxy}/florin.js\" async></script>{extra}
             <florin-checkout store=\"demo\" product=\"mug\" display=\"{display}\"></florin-checkout>"
        ),
    );
    let browser = Browser::open_alone(Engine::Chromium, Look::default()).await;
    browser.goto(&shop).await;
    if display == "frame" {
        browser.enter_checkout().await;
    }
    let checkout = chooses(&world, &browser, "BTC").await;
    browser.press("i-have-paid").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    browser.wait_for("status-paid").await;
    browser.wait_for("print-receipt").await;
    let asked = browser.end_and_list_requests("localhost").await;
    let is_asked = |begin: &str| asked.iter().any(|line| line.starts_with(begin));
    for begin in [
        format!("GET {proxy}/florin.js"),
        format!("GET {proxy}/assets/widget_bg"),
        format!("POST {proxy}/v1/checkout"),
        format!("GET {proxy}/v1/checkout/events"),
    ] {
        assert!(is_asked(&begin), "{begin} is missing in {asked:#?}");
    }
    world.end().await;
    let origins = asked.iter().map(|line| origin(line).to_owned());
    (origins.collect(), [shop, proxy])
}

/// `http://host:port` of `METHOD http://host:port/path`.
fn origin(line: &str) -> &str {
    let url = line.split_once(' ').map_or(line, |(_, url)| url);
    let host = url
        .split_once("//")
        .map_or(0, |(scheme, _)| scheme.len() + 2);
    let end = url[host..].find('/').map_or(url.len(), |end| host + end);
    &url[..end]
}

#[tokio::test]
async fn a_purchase_in_a_frame_asks_the_proxy_alone() {
    let (asked, ours) = asked_while_buying("frame", "").await;
    assert_eq!(asked, BTreeSet::from(ours));
}

#[tokio::test]
async fn a_purchase_inline_asks_the_proxy_alone() {
    let (asked, ours) = asked_while_buying("inline", "").await;
    assert_eq!(asked, BTreeSet::from(ours));
}

/// What the two above would notice: an image from elsewhere, which no server even answers for, and a mere look-up.
#[tokio::test]
async fn the_log_would_name_a_stranger() {
    let strangers = "<img src=\"http://tracker.invalid/pixel.png\" alt=\"\">\
                     <link rel=\"preconnect\" href=\"http://fonts.invalid\">";
    let (asked, [shop, proxy]) = asked_while_buying("frame", strangers).await;
    let strangers = ["http://fonts.invalid", "http://tracker.invalid"].map(str::to_owned);
    let named = BTreeSet::from(strangers);
    let ours = BTreeSet::from([shop, proxy]);
    assert_eq!(
        asked.difference(&ours).cloned().collect::<BTreeSet<_>>(),
        named
    );
}
