//! Contrast: every text of every theme is readable, and a shop's colours that hide a text are named.

use std::time::Duration;

use serde_json::json;
use support::{Browser, BrowserOptions, StoreSite, World, eventually, pause};

use crate::themes::{SET, THEMES, console_messages, has_warning, page, world_of};

/// The contrast of each text with its background, by `name/background`.
const CONTRASTS: &str = r"
    const place = document.querySelector('florin-checkout').shadowRoot.querySelector('.theme');
    const probe = place.appendChild(document.createElement('i'));
    const light = (name) => {
      probe.style.color = `color-mix(in srgb-linear, var(--${name}), var(--${name}))`;
      const [r, g, b] = getComputedStyle(probe).color.split(/[ )]/).slice(1, 4);
      return r * 0.2126 + g * 0.7152 + b * 0.0722 + 0.05;
    };
    const pairs = arguments[0].map((pair) => {
      const [a, b] = pair.split('/').map(light);
      return [pair, Math.max(a, b) / Math.min(a, b)];
    });
    probe.remove();
    return Object.fromEntries(pairs);
";

#[tokio::test]
async fn a_buttons_text_is_readable_on_any_accent() {
    let site = StoreSite::open().await;
    let world = world_of(&site, "auto", "").await;
    let browser = Browser::open().await;
    for accent in [
        "#ffd400", "#2d6eff", "#dc237d", "#777777", "#000000", "#ffffff",
    ] {
        site.serve(
            "",
            &page(
                &world.proxy_url(),
                &format!("--florin-accent: {accent}"),
                "",
            ),
        );
        browser.goto(site.url()).await;
        browser.enter_checkout().await;
        browser.wait_for("asset-BTC").await;
        let announced = browser
            .evaluate(CONTRASTS, &[json!(["on-accent/accent"])])
            .await;
        let contrast = &announced["on-accent/accent"];
        assert!(
            contrast.as_f64().is_some_and(|it| it >= 4.5),
            "{accent}: {contrast}"
        );
        browser.leave_checkout().await;
    }
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn colours_with_too_little_contrast_are_named_on_the_console() {
    let site = StoreSite::open().await;
    let world = world_of(&site, "auto", "").await;
    let browser = Browser::open().await;
    for (style_of_page, sentence) in [
        (
            "--florin-text-muted: #999",
            "--florin-text-muted (#999999) on --florin-background (#ffffff) has a contrast of 2.85 : 1 in the light scheme",
        ),
        (
            "--florin-text: #333",
            "--florin-text (#333333) on --florin-background (#161a18) has a contrast of 1.39 : 1 in the dark scheme",
        ),
        (
            "--florin-accent: #ffd400",
            "--florin-accent (#ffd400) on --florin-background (#ffffff)",
        ),
        (
            "--florin-accent: #0b6e52; --florin-on-accent: #14201b",
            "--florin-on-accent (#14201b) on --florin-accent (#0b6e52)",
        ),
    ] {
        for display in ["frame", "inline"] {
            site.serve(
                "",
                &page(
                    &world.proxy_url(),
                    style_of_page,
                    &format!("display={display}"),
                ),
            );
            browser.goto(site.url()).await;
            if display == "frame" {
                browser.enter_checkout().await;
            }
            browser.wait_for("asset-BTC").await;
            assert!(has_warning(&browser, sentence).await, "{display}");
            browser.leave_checkout().await;
        }
    }
    site.serve(
        "",
        &page(
            &world.proxy_url(),
            "--florin-text: #000",
            "theme=\"light\" display=\"inline\"",
        ),
    );
    browser.goto(site.url()).await;
    browser.wait_for("asset-BTC").await;
    // Time for a message that must not appear: the check runs once, when everything is loaded.
    pause(Duration::from_secs(4)).await;
    assert_eq!(console_messages(&browser).await, [""; 0]);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn every_theme_is_readable_in_light_and_dark_colours() {
    let site = StoreSite::open().await;
    let world = world_of(&site, "auto", "").await;
    let texts = [
        "text/background",
        "text/surface",
        "text/wash",
        "text/warning-wash",
        "text/danger-wash",
        "text-muted/background",
        "text-muted/surface",
        "text-muted/wash",
        "text-muted/warning-wash",
        "text-muted/danger-wash",
        "accent/background",
        "accent/surface",
        "accent/wash",
        "on-accent/accent",
        "warning/background",
        "warning/warning-wash",
        "danger/background",
        "danger/danger-wash",
    ];
    for dark in [false, true] {
        let options = BrowserOptions {
            dark,
            ..BrowserOptions::default()
        };
        let browser = Browser::open_with(options).await;
        for theme in THEMES {
            let attributes = format!("theme=\"{theme}\" display=\"inline\"");
            site.serve("", &page(&world.proxy_url(), "", &attributes));
            browser.goto(site.url()).await;
            browser.wait_for("asset-BTC").await;
            let least = if theme == "contrast" { 7.0 } else { 4.5 };
            let contrasts = browser.evaluate(CONTRASTS, &[json!(texts)]).await;
            for (pair, contrast) in contrasts.as_object().unwrap() {
                assert!(
                    contrast.as_f64().is_some_and(|it| it >= least),
                    "{theme}, dark: {dark}, {pair}: {contrast}"
                );
            }
            // WCAG 2.2, 1.4.11: the border of a field.
            let edge = browser
                .evaluate(CONTRASTS, &[json!(["edge/background"])])
                .await;
            assert!(
                edge["edge/background"].as_f64().is_some_and(|it| it >= 3.0),
                "{theme}: {edge}"
            );
            assert_eq!(console_messages(&browser).await, [""; 0]);
        }
        browser.end().await;
    }
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
