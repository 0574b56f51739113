//! Themes: tokens that a shop sets are applied, others are not; and the theme builder.

use std::cell::RefCell;
use std::time::Duration;

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, StoreSite, World, WorldConfig, eventually, within};

use crate::gallery::Gallery;
use crate::helpers::{end, read_inside};

/// The computed style of an element in the checkout.
const STYLE: &str = r"
    const root = document.querySelector('florin-checkout').shadowRoot;
    return getComputedStyle(root.querySelector(arguments[0]))[arguments[1]];
";

/// Every theme.
pub(crate) const THEMES: [&str; 7] = [
    "auto", "light", "dark", "contrast", "paper", "midnight", "sorbet",
];

/// A shop page with this style of the element, which shows the mug of the demo store with `attributes`.
pub(crate) fn page(proxy: &str, style: &str, attributes: &str) -> String {
    format!(
        "<style>florin-checkout {{ {style} }}</style><script src=\"{proxy}/florin.js\" async></script>\
         <florin-checkout store=\"demo\" product=\"mug\" {attributes}></florin-checkout>"
    )
}

pub(crate) async fn world_of(site: &StoreSite, theme: &str, theme_tokens: &str) -> World {
    World::start_with(WorldConfig {
        origins: vec![site.url().to_owned()],
        theme: theme.to_owned(),
        theme_tokens: theme_tokens.to_owned(),
        ..WorldConfig::default()
    })
    .await
}

pub(crate) async fn style(browser: &Browser, selector: &str, property: &str) -> Value {
    browser
        .evaluate_with(STYLE, &[json!(selector), json!(property)])
        .await
}

/// Returns the element's console messages.
pub(crate) async fn console_messages(browser: &Browser) -> Vec<String> {
    let mut complaints = browser.console_warnings().await;
    complaints.retain(|one| one.contains("florin:"));
    complaints
}

pub(crate) async fn has_warning(browser: &Browser, text: &str) -> bool {
    let complaints = RefCell::<Vec<String>>::default();
    let found = within(Duration::from_secs(20), async || {
        let warnings = browser.console_warnings().await;
        let mut complaints = complaints.borrow_mut();
        complaints.extend(warnings);
        let found = complaints.iter().any(|one| one.contains(text));
        found.then_some(())
    })
    .await;
    if found.is_none() {
        eprintln!("{text:?} is not in {complaints:#?}");
    }
    found.is_some()
}

#[tokio::test]
async fn the_page_does_not_flash_light_before_a_dark_theme() {
    let site = StoreSite::open().await;
    let world = world_of(&site, "midnight", r##"accent = "#ffd400""##).await;
    let browser = Browser::open().await;
    let never = "const real = window.fetch; \
                 window.fetch = (at, ...rest) => `${at}`.includes('v1/') ? new Promise(() => {}) : real(at, ...rest);";
    browser.run_before_every_page(never).await;
    browser.goto(&world.checkout_page()).await;
    eventually("the page is painted", async || {
        style(&browser, ".florin", "display")
            .await
            .is_string()
            .then_some(())
    })
    .await;
    assert_eq!(
        style(&browser, ".florin", "backgroundColor").await,
        "rgb(16, 19, 42)"
    );
    let accent = "return getComputedStyle(document.querySelector('florin-checkout').shadowRoot.querySelector('.florin')).getPropertyValue('--accent')";
    assert_eq!(browser.evaluate(accent).await, "#ffd400");
    end(world, browser).await;
}

#[tokio::test]
async fn the_pages_theme_overrides_the_stores_in_a_frame_and_inline() {
    let site = StoreSite::open().await;
    let world = world_of(
        &site,
        "paper",
        r##"accent = "#1d4ed8", background = "#ffffff""##,
    )
    .await;
    let browser = Browser::open().await;
    for display in ["frame", "inline"] {
        let style_of_page = "--florin-accent: #ffd400; --florin-radius: 3px";
        let attributes = format!("theme=\"midnight\" display=\"{display}\"");
        site.serve("", &page(&world.proxy_url(), style_of_page, &attributes));
        browser.goto(site.url()).await;
        if display == "frame" {
            browser.enter_checkout().await;
        }
        browser.press("asset-BTC").await;
        browser.wait_for("status-awaiting_payment").await;
        let is = async |selector, property| style(&browser, selector, property).await;
        assert_eq!(
            is(".primary", "backgroundColor").await,
            "rgb(255, 212, 0)",
            "{display}"
        );
        assert_eq!(is(".primary", "borderRadius").await, "3px", "{display}");
        // The store's background applies under the page's theme: it is light in both colour schemes, and so is
        // everything.
        assert_eq!(
            is(".florin", "backgroundColor").await,
            "rgb(255, 255, 255)",
            "{display}"
        );
        assert_eq!(is(".theme", "colorScheme").await, "light", "{display}");
        browser.leave_checkout().await;
    }
    end(world, browser).await;
}

#[tokio::test]
async fn an_invalid_token_value_does_not_reach_the_frame() {
    let site = StoreSite::open().await;
    let world = world_of(&site, "auto", "").await;
    let browser = Browser::open().await;
    let style_of_page = "--florin-background: url(https://elsewhere.example/x.png); \
                         --florin-text: var(--nothing, red); --florin-radius: url(x); \
                         --florin-font: a, url(x); --florin-border: light-dark(#ccc, color-mix(in srgb, #fff 30%, #000))";
    let escaped = "--florin-text-muted: env(x, #555555)";
    let style_of_page = format!("{style_of_page}; {escaped}");
    site.serve(
        "",
        &page(&world.proxy_url(), &style_of_page, "theme=\"light\""),
    );
    browser.goto(site.url()).await;
    browser.enter_checkout().await;
    browser.wait_for("asset-BTC").await;
    let set = "return [...document.querySelector('florin-checkout').style].filter((name) => name.startsWith('--florin-'))";
    let taken = browser.evaluate(set).await;
    assert_eq!(
        taken,
        json!(["--florin-text", "--florin-text-muted", "--florin-border"])
    );
    // Resolved in the shop's page: the frame receives only the value.
    let text =
        "return document.querySelector('florin-checkout').style.getPropertyValue('--florin-text')";
    assert_eq!(browser.evaluate(text).await, "red");
    assert!(has_warning(&browser, "--florin-background cannot be").await);

    // Set directly, without the loader.
    let announced = "#product=mug&--florin-text=var(--accent)&--florin-text-muted=%5c75rl(x)&--florin-accent=%230b6e52";
    browser.goto("about:blank").await;
    browser
        .goto(&format!("{}/pay?store=demo{announced}", world.proxy_url()))
        .await;
    browser.wait_for("asset-BTC").await;
    let set = "return document.querySelector('florin-checkout').style.cssText";
    let taken = browser.evaluate(set).await;
    assert!(taken.as_str().unwrap().contains("#0b6e52"), "{taken}");
    assert!(!taken.as_str().unwrap().contains("var("), "{taken}");
    assert!(!taken.as_str().unwrap().contains("rl("), "{taken}");
    end(world, browser).await;
}

#[tokio::test]
async fn every_theme_respects_the_systems_settings() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    gallery.show("awaiting_payment", "&theme=midnight").await;
    let is = async |selector, property| style(browser, selector, property).await;

    assert_eq!(is(".screen", "animationName").await, "none");
    browser
        .emulate_media("prefers-reduced-motion", "no-preference")
        .await;
    assert_ne!(is(".screen", "animationName").await, "none");

    assert_ne!(is(".label", "color").await, is("h2", "color").await);
    browser.emulate_media("prefers-contrast", "more").await;
    assert_eq!(is(".label", "color").await, is("h2", "color").await);

    browser.emulate_media("forced-colors", "active").await;
    assert_eq!(is(".qr", "backgroundColor").await, "rgb(255, 255, 255)");
    let code = Gallery::attempt("awaiting_payment", "qr_string");
    assert_eq!(browser.scan("qr").await, code);
    assert_eq!(is(".primary", "borderTopStyle").await, "solid");
    assert_ne!(
        is(".primary", "borderTopColor").await,
        is(".primary", "backgroundColor").await
    );
    gallery.end().await;
}

#[tokio::test]
async fn density_changes_distances_and_keeps_target_sizes() {
    let site = StoreSite::open().await;
    let world = world_of(&site, "light", "").await;
    let browser = Browser::open().await;
    for (density, gap) in [
        ("0.75", "9px"),
        ("1.5", "18px"),
        ("9", "18px"),
        ("0", "9px"),
    ] {
        let style_of_page = format!("--florin-density: {density}");
        site.serve(
            "",
            &page(&world.proxy_url(), &style_of_page, "display=\"inline\""),
        );
        browser.goto(site.url()).await;
        // The order is the same, and its asset is chosen already.
        if density == "0.75" {
            browser.press("asset-BTC").await;
        }
        browser.wait_for("status-awaiting_payment").await;
        assert_eq!(style(&browser, ".screen", "rowGap").await, gap, "{density}");
        let low = "const root = document.querySelector('florin-checkout').shadowRoot; \
                   return [...root.querySelectorAll('button, .primary')].filter((it) => it.checkVisibility() && it.getBoundingClientRect().height < 44).map((it) => it.outerHTML)";
        browser
            .wait_for_result("every control is 44 px high", low, json!([]))
            .await;
    }
    end(world, browser).await;
}

#[tokio::test]
async fn inline_a_shops_style_sheet_styles_the_parts() {
    let site = StoreSite::open().await;
    let world = world_of(&site, "light", "").await;
    let browser = Browser::open().await;
    let parts = ["checkout", "price", "heading", "address", "primary"];
    let rules =
        parts.map(|part| format!("florin-checkout::part({part}) {{ scroll-margin-top: 7px }}"));
    let body = format!(
        "<style>{}</style>{}",
        rules.concat(),
        page(&world.proxy_url(), "", "display=\"inline\"")
    );
    site.serve("", &body);
    browser.goto(site.url()).await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    let reached = "return [...inside.querySelectorAll('[part]')].filter((it) => getComputedStyle(it).scrollMarginTop === '7px').flatMap((it) => [...it.part])";
    let reached = read_inside(&browser, reached).await;
    for part in parts {
        let is_reached = reached.as_array().unwrap().contains(&json!(part));
        assert!(is_reached, "{part} is not in {reached}");
    }
    end(world, browser).await;
}

/// Sets a control of the theme builder with the events of an input.
const SET: &str = r#"
    const control = document.querySelector(`[data-testid="${arguments[0]}"]`);
    control.value = arguments[1];
    for (const type of ['input', 'change']) control.dispatchEvent(new Event(type, { bubbles: true }));
"#;

#[tokio::test]
async fn the_theme_builders_snippet_gives_the_shown_theme() {
    let site = StoreSite::open().await;
    let world = world_of(&site, "auto", "").await;
    let browser = Browser::open_with(BrowserOptions::default()).await;
    browser
        .goto(&format!("{}/theme-builder", world.shop_url()))
        .await;
    browser.wait_for("asset-BTC").await;
    for (control, value) in [
        ("token-accent", "#7a1f5c"),
        ("token-radius", "5"),
        ("token-density", "0.8"),
    ] {
        browser
            .evaluate_with(SET, &[json!(control), json!(value)])
            .await;
    }
    browser
        .evaluate("document.querySelector('[data-testid=theme-paper]').click()")
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
    // Around the checkout too.
    let around = "return getComputedStyle(document.documentElement).backgroundColor";
    assert_eq!(browser.evaluate(around).await, "rgb(253, 250, 243)");
    other.end().await;
    end(world, browser).await;
}
