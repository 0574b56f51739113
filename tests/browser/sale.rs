//! The first sale as a customer lives it: a real browser, a real shop, a checkout in a frame.

use serde_json::Value;
use support::{Browser, Site, Wishes, World, eventually};

use crate::journeys::{chooses, takes_the_ebook, the_order};

fn attempt(view: &Value, member: &str) -> String {
    view["attempt"][member].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_customer_pays_in_the_frame_and_the_shop_says_paid() {
    let world = World::start().await;
    let browser = Browser::open().await;
    takes_the_ebook(&world, &browser).await;
    let checkout = chooses(&world, &browser, "BTC").await;
    let view = checkout.looks().await;
    let (address, amount) = (
        attempt(&view, "address"),
        attempt(&view, "amount_in_crypto"),
    );
    assert_eq!(browser.reads("address").await, address);
    assert_eq!(browser.reads("amount").await, amount);
    assert_eq!(browser.scans("qr").await, attempt(&view, "qr_string"));
    for (button, copied) in [("copy-address", &address), ("copy-amount", &amount)] {
        browser.presses(button).await;
        eventually(&format!("{copied} is in the clipboard"), async || {
            (browser.clipboard().await == *copied).then_some(())
        })
        .await;
    }
    browser.presses("warnings-more").await;
    let warnings = browser.reads("warnings").await;
    for warning in view["attempt"]["warnings"].as_array().unwrap() {
        let words = match warning["kind"].as_str().unwrap() {
            "only_this_asset" | "wrong_network" => "Send only BTC on Bitcoin to this address.",
            "confirmations" => "once the Bitcoin network has confirmed it.",
            "network_fee" => "Choose a network fee that isn’t too low",
            "expiry" | "late_price" => "this price may no longer apply.",
            kind => panic!("the sandbox has another warning: {kind}"),
        };
        assert!(warnings.contains(words), "{words} is not in {warnings}");
    }
    // Folded again, "I have paid" is in the visible part of the shop's dialog.
    browser.presses("warnings-more").await;
    let left = browser.reads("countdown").await;
    assert!(
        left.contains("14 minutes") || left.contains("15 minutes"),
        "{left}"
    );

    browser.presses("i-have-paid").await;
    browser.sees("status-checking").await;
    world.chain().pays(&checkout, "exact").await;
    world.chain().mines(1).await;
    browser.sees("status-processing").await;
    assert!(browser.reads("confirmations").await.contains("1 of 3"));
    world.chain().mines(2).await;
    browser.sees("status-paid").await;

    browser.leaves_the_checkout().await;
    // The dialog holds the page behind it still.
    let close = "document.querySelector('florin-checkout').close()";
    browser.runs(close, &[]).await;
    eventually("the shop's page says paid", async || {
        let row = browser.reads(&format!("order-{}", checkout.order)).await;
        (row.contains("Paid") && !row.contains("Not paid")).then_some(())
    })
    .await;
    assert_eq!(browser.complaints().await, [""; 0]);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_cart_whose_price_only_the_backend_knows_is_paid_in_a_frame() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser
        .goes_to(&format!("{}/cart?mug=1&sticker=2", world.shop_url()))
        .await;
    browser.presses("check-out").await;
    browser.enters_the_checkout().await;
    let checkout = chooses(&world, &browser, "ETH").await;
    let view = checkout.looks().await;
    assert_eq!(view["amount"], "15.50");
    assert_eq!(browser.scans("qr").await, attempt(&view, "qr_string"));
    assert_eq!(browser.reads("address").await, attempt(&view, "address"));
    world.chain().pays(&checkout, "exact").await;
    world.chain().mines(3).await;
    browser.sees("status-paid").await;
    world.shop_says_paid(&checkout.order).await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn inline_the_checkout_is_a_part_of_a_page_that_allows_it() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser
        .goes_to(&format!("{}/inline?product=mug", world.shop_url()))
        .await;
    browser.presses("asset-LTC").await;
    browser.sees("status-awaiting_payment").await;
    let frames = "return document.querySelector('florin-checkout').shadowRoot.querySelectorAll('iframe').length";
    assert_eq!(browser.runs(frames, &[]).await, 0);
    let checkout = the_order(&world, &browser).await;
    let view = checkout.looks().await;
    assert_eq!(browser.scans("qr").await, attempt(&view, "qr_string"));
    world.chain().pays(&checkout, "exact").await;
    world.chain().mines(3).await;
    browser.sees("status-paid").await;
    assert_eq!(browser.complaints().await, [""; 0]);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn inline_becomes_a_frame_where_the_page_does_not_allow_it() {
    let site = Site::open().await;
    let world = World::start_with(Wishes {
        origins: vec![site.url().to_owned()],
        ..Wishes::default()
    })
    .await;
    let proxy = world.proxy_url();
    // No 'wasm-unsafe-eval', and no connection to anywhere.
    site.shows(
        &format!("default-src 'none'; script-src {proxy}; frame-src {proxy}"),
        &format!(
            "<script src=\"{proxy}/florin.js\" async></script>\
             <florin-checkout store=\"demo\" product=\"mug\" display=\"inline\"></florin-checkout>"
        ),
    );
    let browser = Browser::open().await;
    browser.goes_to(site.url()).await;
    browser.enters_the_checkout().await;
    browser.presses("asset-LTC").await;
    browser.sees("status-awaiting_payment").await;
    let complaints = browser.complaints().await;
    let said = |text: &&String| text.contains("'wasm-unsafe-eval'") && text.contains("florin:");
    assert!(complaints.iter().any(|text| said(&text)), "{complaints:#?}");
    browser.end().await;
    world.end().await;
}
