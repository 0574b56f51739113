//! A purchase sends requests only to the shop's page and the proxy.

use std::collections::BTreeSet;

use support::{Browser, BrowserOptions, Engine};

use crate::steps::{another_site, choose_asset};

/// Returns the requested origins of a purchase in this display; the shop's page contains `extra`.
async fn requests_of_purchase(display: &str, extra: &str) -> (BTreeSet<String>, [String; 2]) {
    // Another host than the proxy's, so that the log separates the requests of both pages.
    let (site, world, shop) = another_site().await;
    let proxy = world.proxy_url();
    site.serve(
        "",
        &format!(
            "<script src=\"{proxy}/florin.js\" async></script>{extra}
             <florin-checkout store=\"demo\" product=\"mug\" display=\"{display}\"></florin-checkout>"
        ),
    );
    let browser = Browser::open_alone(Engine::Chromium, BrowserOptions::default()).await;
    browser.goto(&shop).await;
    if display == "frame" {
        browser.enter_checkout().await;
    }
    let checkout = choose_asset(&world, &browser, "BTC").await;
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
async fn a_purchase_in_a_frame_sends_requests_only_to_the_proxy() {
    let (asked, ours) = requests_of_purchase("frame", "").await;
    assert_eq!(asked, BTreeSet::from(ours));
}

#[tokio::test]
async fn a_purchase_inline_sends_requests_only_to_the_proxy() {
    let (asked, ours) = requests_of_purchase("inline", "").await;
    assert_eq!(asked, BTreeSet::from(ours));
}

/// Proof that both tests can fail: an image of another host without a server, and a DNS look-up.
#[tokio::test]
async fn the_log_names_other_hosts() {
    let foreign = "<img src=\"http://tracker.invalid/pixel.png\" alt=\"\">\
                     <link rel=\"preconnect\" href=\"http://fonts.invalid\">";
    let (asked, [shop, proxy]) = requests_of_purchase("frame", foreign).await;
    let foreign = ["http://fonts.invalid", "http://tracker.invalid"].map(str::to_owned);
    let named = BTreeSet::from(foreign);
    let ours = BTreeSet::from([shop, proxy]);
    assert_eq!(
        asked.difference(&ours).cloned().collect::<BTreeSet<_>>(),
        named
    );
}
