//! Shops whose scripts have broken what browsers bring.

use serde_json::{Value, json};
use support::Browser;

use crate::shop_page::{page_with, says};

/// A part of the browser, and what breaks it before the loader runs.
const BREAKS: [(&str, &str); 4] = [
    (
        "Array.prototype.map",
        "= () => { throw new Error('out of order') }",
    ),
    ("Array.prototype.map", "= function () { return [] }"),
    ("Array.prototype.map", "= undefined"),
    // Nothing throws: without a look at it, the checkout would find no source of an order.
    ("Array.prototype.filter", "= function () { return [] }"),
];

/// In the shop's page alone, before anything else runs.
fn broken((part, breaks): (&str, &str)) -> String {
    format!("if (top === window) {{ {part} {breaks} }}")
}

/// The frame's page has answered. The driver finds no elements in a page whose lists are broken, but runs scripts.
const IS_ANSWERED: &str = "inside?.querySelector('.fl-place')?.className === 'fl-place'";

#[tokio::test]
async fn a_frame_does_not_need_what_the_page_has_broken() {
    for breaks in BREAKS {
        for display in ["frame", "modal", "redirect"] {
            let element = format!(
                "<florin-checkout store=\"demo\" product=\"ebook\" display=\"{display}\"></florin-checkout>"
            );
            let (site, world) = page_with(&element).await;
            let browser = Browser::open().await;
            browser.run_before_every_page(&broken(breaks)).await;
            browser.goto(site.url()).await;
            let there = if display == "frame" {
                IS_ANSWERED
            } else {
                "Boolean(inside?.querySelector('[part=button]'))"
            };
            says(&browser, display, there, &json!(true)).await;
            browser.end().await;
            world.end().await;
        }
    }
}

#[tokio::test]
async fn inline_names_what_the_page_has_broken_and_shows_a_frame() {
    for breaks in BREAKS {
        let element = "<florin-checkout store=\"demo\" product=\"ebook\" display=\"inline\"></florin-checkout>";
        let (site, world) = page_with(element).await;
        let browser = Browser::open().await;
        browser.run_before_every_page(&broken(breaks)).await;
        browser.goto(site.url()).await;
        says(&browser, "the frame", IS_ANSWERED, &json!(true)).await;
        let (part, _) = breaks;
        let named =
            format!("inside.querySelector('[part=doctor]')?.textContent.includes('{part}')");
        says(&browser, part, &named, &json!(true)).await;
        let console = browser.console_warnings().await.join("\n");
        assert!(console.contains(part), "{console}");
        browser.end().await;
        world.end().await;
    }
}

#[tokio::test]
async fn no_height_is_reported_before_there_is_one() {
    for display in ["frame", "inline"] {
        let element = format!(
            "<script>window.heights = []; addEventListener('florin-resize', ({{ detail }}) => heights.push(detail.height))</script>
             <florin-checkout store=\"demo\" product=\"ebook\" display=\"{display}\"></florin-checkout>"
        );
        let (site, world) = page_with(&element).await;
        let browser = Browser::open().await;
        browser.goto(site.url()).await;
        says(
            &browser,
            "a height",
            "window.heights.length > 0",
            &json!(true),
        )
        .await;
        let heights = browser.evaluate("return window.heights", &[]).await;
        let heights = heights.as_array().unwrap();
        let tall = |height: &Value| height.as_u64().is_some_and(|height| height > 100);
        assert!(heights.iter().all(tall), "{display}: {heights:?}");
        browser.end().await;
        world.end().await;
    }
}
