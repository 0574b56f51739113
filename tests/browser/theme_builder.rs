//! The theme builder in a real browser.

use serde_json::json;
use support::{Browser, Site, World, eventually};

use crate::themes::{console_messages, style, world_of};

/// Sets a control of the theme builder with the events of an input.
const SET: &str = r#"
    const control = document.querySelector(`[data-testid="${arguments[0]}"]`);
    control.value = arguments[1];
    for (const type of ['input', 'change']) control.dispatchEvent(new Event(type, { bubbles: true }));
"#;

#[tokio::test]
async fn the_theme_builders_snippet_gives_the_shown_theme() {
    let site = Site::open().await;
    let world = world_of(&site, "auto", "").await;
    let browser = Browser::open().await;
    browser
        .goto(&format!("{}/theme-builder", world.shop_url()))
        .await;
    browser.wait_for("asset-BTC").await;
    for (control, value) in [
        ("token-accent", "#7a1f5c"),
        ("token-radius", "5"),
        ("token-density", "0.8"),
    ] {
        browser.evaluate(SET, &[json!(control), json!(value)]).await;
    }
    browser
        .evaluate(
            "document.querySelector('[data-testid=theme-paper]').click()",
            &[],
        )
        .await;
    eventually("the builder's checkout has the theme", async || {
        let ground = style(&browser, ".florin", "backgroundColor").await;
        (ground == "rgb(253, 250, 243)").then_some(())
    })
    .await;
    let looks = async || {
        browser.press("asset-BTC").await;
        browser.wait_for("status-awaiting_payment").await;
        let mut looks = Vec::new();
        for (selector, property) in [
            (".primary", "backgroundColor"),
            (".primary", "color"),
            (".primary", "borderRadius"),
            (".primary", "fontFamily"),
            (".florin", "backgroundColor"),
            (".screen", "rowGap"),
        ] {
            looks.push(style(&browser, selector, property).await);
        }
        looks
    };
    let contrast = browser.text("contrast-accent").await;
    let html = browser.text("snippet-html").await;
    let toml = browser.text("snippet-toml").await;
    let in_the_builder = looks().await;
    assert_eq!(in_the_builder[0], "rgb(122, 31, 92)");
    assert!(contrast.contains('✓'), "{contrast}");
    assert_eq!(console_messages(&browser).await, [""; 0]);

    site.serve("", &html);
    browser.goto(site.url()).await;
    browser.enter_checkout().await;
    assert_eq!(looks().await, in_the_builder, "{html}");
    browser.leave_checkout().await;

    let written = toml.lines().skip(1).collect::<Vec<_>>().join(", ");
    let (preset, tokens) = written.split_once(", ").unwrap();
    assert_eq!(preset, "preset = \"paper\"");
    let other = world_of(&site, "paper", tokens).await;
    browser.goto(&other.checkout_page()).await;
    assert_eq!(looks().await, in_the_builder, "{toml}");
    browser.end().await;
    other.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_colour_with_too_little_contrast_is_marked_in_the_theme_builder() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser
        .goto(&format!("{}/theme-builder#theme=light", world.shop_url()))
        .await;
    browser.wait_for("asset-BTC").await;
    browser
        .evaluate(SET, &[json!("token-text-muted"), json!("#999999")])
        .await;
    eventually("the contrast of quiet text is marked", async || {
        (browser.text("contrast-text-muted").await == "2.8 too low").then_some(())
    })
    .await;
    browser.end().await;
    world.end().await;
}
