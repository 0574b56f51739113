//! Shop pages whose scripts have broken built-in functions.

use serde_json::{Value, json};
use support::Browser;

use crate::shop_page::{page_with, wait_for_value};

/// A built-in, and the script that breaks it before the loader runs.
const SABOTAGES: [(&str, &str); 4] = [
    (
        "Array.prototype.map",
        "= () => { throw new Error('out of order') }",
    ),
    ("Array.prototype.map", "= function () { return [] }"),
    ("Array.prototype.map", "= undefined"),
    // Nothing throws: without a check, the loader would find no source of an order.
    ("Array.prototype.filter", "= function () { return [] }"),
];

/// A script that runs first, only in the shop's page.
fn sabotage((part, breaks): (&str, &str)) -> String {
    format!("if (top === window) {{ {part} {breaks} }}")
}

/// The frame's page has sent its first message. The driver cannot find elements in a page whose lists are broken, but
/// it can run scripts.
const IS_INITIALISED: &str = "inside?.querySelector('.fl-place')?.className === 'fl-place'";

#[tokio::test]
async fn a_frame_works_in_a_broken_page() {
    for breaks in SABOTAGES {
        for display in ["frame", "modal", "redirect"] {
            let element = format!(
                "<florin-checkout store=\"demo\" product=\"ebook\" display=\"{display}\"></florin-checkout>"
            );
            let (site, world) = page_with(&element).await;
            let browser = Browser::open().await;
            browser.run_before_every_page(&sabotage(breaks)).await;
            browser.goto(site.url()).await;
            let there = if display == "frame" {
                IS_INITIALISED
            } else {
                "Boolean(inside?.querySelector('[part=button]'))"
            };
            wait_for_value(&browser, display, there, &json!(true)).await;
            browser.end().await;
            world.end().await;
        }
    }
}

#[tokio::test]
async fn inline_names_the_broken_built_in_and_falls_back_to_a_frame() {
    for breaks in SABOTAGES {
        let element = "<florin-checkout store=\"demo\" product=\"ebook\" display=\"inline\"></florin-checkout>";
        let (site, world) = page_with(element).await;
        let browser = Browser::open().await;
        browser.run_before_every_page(&sabotage(breaks)).await;
        browser.goto(site.url()).await;
        wait_for_value(&browser, "the frame", IS_INITIALISED, &json!(true)).await;
        let (part, _) = breaks;
        let named =
            format!("inside.querySelector('[part=doctor]')?.textContent.includes('{part}')");
        wait_for_value(&browser, part, &named, &json!(true)).await;
        let console = browser.console_warnings().await.join("\n");
        assert!(console.contains(part), "{console}");
        browser.end().await;
        world.end().await;
    }
}

#[tokio::test]
async fn no_height_is_reported_before_it_is_known() {
    for display in ["frame", "inline"] {
        let element = format!(
            "<script>window.heights = []; addEventListener('florin-resize', ({{ detail }}) => heights.push(detail.height))</script>
             <florin-checkout store=\"demo\" product=\"ebook\" display=\"{display}\"></florin-checkout>"
        );
        let (site, world) = page_with(&element).await;
        let browser = Browser::open().await;
        browser.goto(site.url()).await;
        wait_for_value(
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
