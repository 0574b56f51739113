//! Contrast: every text of every theme is readable, and a shop's colours that hide a text are named.

use std::time::Duration;

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, StoreSite, pause};

use crate::gallery::Gallery;
use crate::helpers::end;
use crate::themes::{THEMES, console_messages, has_warning, page, world_of};

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

const TEXTS: [&str; 18] = [
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

/// Checks that each of these pairs has at least this contrast on the page that is shown.
async fn check_contrast(browser: &Browser, pairs: &[&str], least: f64, what: &str) {
    let contrasts: Value = browser.evaluate_with(CONTRASTS, &[json!(pairs)]).await;
    for pair in pairs {
        let contrast = contrasts[pair].as_f64();
        assert!(
            contrast.is_some_and(|it| it >= least),
            "{what}, {pair}: {contrast:?}"
        );
    }
}

#[tokio::test]
async fn every_theme_is_readable_in_light_and_dark_colours() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    for dark in [false, true] {
        let options = BrowserOptions {
            dark,
            ..BrowserOptions::default()
        };
        browser.emulate(options).await;
        for theme in THEMES {
            gallery.show("choosing", &format!("&theme={theme}")).await;
            let what = format!("{theme}, dark: {dark}");
            let least = if theme == "contrast" { 7.0 } else { 4.5 };
            check_contrast(browser, &TEXTS, least, &what).await;
            // WCAG 2.2, 1.4.11: the border of a field.
            check_contrast(browser, &["edge/background"], 3.0, &what).await;
        }
    }
    assert_eq!(console_messages(browser).await, [""; 0]);
    gallery.end().await;
}

#[tokio::test]
async fn a_buttons_text_is_readable_on_any_accent() {
    let site = StoreSite::open().await;
    let world = world_of(&site, "auto", "").await;
    let browser = Browser::open().await;
    for accent in [
        "#ffd400", "#2d6eff", "#dc237d", "#777777", "#000000", "#ffffff",
    ] {
        let style = format!("--florin-accent: {accent}");
        site.serve("", &page(&world.proxy_url(), &style, "display=\"inline\""));
        browser.goto(site.url()).await;
        browser.wait_for("asset-BTC").await;
        check_contrast(&browser, &["on-accent/accent"], 4.5, accent).await;
    }
    end(world, browser).await;
}

#[tokio::test]
async fn colours_with_too_little_contrast_are_named_on_the_console() {
    let site = StoreSite::open().await;
    let world = world_of(&site, "auto", "").await;
    let browser = Browser::open().await;
    for (style, display, sentence) in [
        (
            "--florin-text-muted: #999",
            "frame",
            "--florin-text-muted (#999999) on --florin-background (#ffffff) has a contrast of 2.85 : 1 in the light scheme",
        ),
        (
            "--florin-text: #333",
            "inline",
            "--florin-text (#333333) on --florin-background (#161a18) has a contrast of 1.39 : 1 in the dark scheme",
        ),
        (
            "--florin-accent: #0b6e52; --florin-on-accent: #14201b",
            "inline",
            "--florin-on-accent (#14201b) on --florin-accent (#0b6e52)",
        ),
    ] {
        let attributes = format!("display=\"{display}\"");
        site.serve("", &page(&world.proxy_url(), style, &attributes));
        browser.goto(site.url()).await;
        if display == "frame" {
            browser.enter_checkout().await;
        }
        browser.wait_for("asset-BTC").await;
        assert!(has_warning(&browser, sentence).await, "{display}");
        browser.leave_checkout().await;
    }
    let attributes = "theme=\"light\" display=\"inline\"";
    let black = page(&world.proxy_url(), "--florin-text: #000", attributes);
    site.serve("", &black);
    browser.goto(site.url()).await;
    browser.wait_for("asset-BTC").await;
    // Time for a message that must not appear: the check runs once, when everything is loaded.
    pause(Duration::from_secs(4)).await;
    assert_eq!(console_messages(&browser).await, [""; 0]);
    end(world, browser).await;
}
