//! Themes: tokens that a shop sets are applied, others are not; every text of every theme is readable, and colours that hide
//! a text are named; and the theme builder.

use std::time::Duration;

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, StoreSite, World, pause};

use crate::gallery::Gallery;
use crate::helpers::{end, read_inside, wait_for_warning};

const THEMES: [&str; 7] = [
    "auto", "light", "dark", "contrast", "paper", "midnight", "sorbet",
];

const DARK: BrowserOptions = BrowserOptions {
    size: (1280, 1000),
    dark: true,
    motion: false,
    ratio: 1.0,
};

/// Serves a shop page with this style of the element, which shows the mug of the demo store with `attributes`, and opens it.
async fn show(shop: &(StoreSite, World, Browser), style: &str, attributes: &str) {
    let (site, world, browser) = shop;
    let proxy = world.proxy_url();
    site.serve(
        "",
        &format!(
            "<style>{style}</style><script src=\"{proxy}/florin.js\" async></script>\
             <florin-checkout store=\"demo\" product=\"mug\" {attributes}></florin-checkout>"
        ),
    );
    browser.leave_checkout().await;
    browser.goto(site.url()).await;
    if !attributes.contains("inline") {
        browser.enter_checkout().await;
    }
}

async fn world_of(site: &StoreSite, theme: &str, theme_tokens: &str) -> World {
    World::with(|config| {
        config.origins = vec![site.url().to_owned()];
        config.store = format!("theme = {{ preset = \"{theme}\"{theme_tokens} }}");
    })
    .await
}

async fn shop(theme: &str, theme_tokens: &str) -> (StoreSite, World, Browser) {
    let site = StoreSite::open().await;
    let world = world_of(&site, theme, theme_tokens).await;
    (site, world, Browser::open().await)
}

async fn style(browser: &Browser, selector: &str, property: &str) -> Value {
    let read = "return getComputedStyle(document.querySelector('florin-checkout').shadowRoot.querySelector(arguments[0]))[arguments[1]]";
    let arguments = [json!(selector), json!(property)];
    browser.evaluate_with(read, &arguments).await
}

async fn console_messages(browser: &Browser) -> Vec<String> {
    let mut complaints = browser.console_warnings().await;
    complaints.retain(|one| one.contains("florin:"));
    complaints
}

#[tokio::test]
async fn the_page_does_not_flash_light_before_a_dark_theme() {
    let (_site, world, browser) = shop("midnight", r##", accent = "#ffd400""##).await;
    let never = "const real = window.fetch; \
                 window.fetch = (at, ...rest) => `${at}`.includes('v1/') ? new Promise(() => {}) : real(at, ...rest);";
    browser.run_before_every_page(never).await;
    browser.goto(&world.checkout_page()).await;
    let painted = "const style = getComputedStyle(document.querySelector('florin-checkout').shadowRoot.querySelector('.florin'));
        return [style.backgroundColor, style.getPropertyValue('--accent')]";
    let expected = json!(["rgb(16, 19, 42)", "#ffd400"]);
    assert_eq!(
        browser.wait_until("the first paint", painted).await,
        expected
    );
    end(world, browser).await;
}

#[tokio::test]
async fn the_pages_theme_overrides_the_stores_in_a_frame_and_inline() {
    let tokens = r##", accent = "#1d4ed8", background = "#ffffff""##;
    let shop = shop("paper", tokens).await;
    let tokens = "florin-checkout { --florin-accent: #ffd400; --florin-radius: 3px }";
    // Inline, a shop's style sheet styles the parts.
    let part = "florin-checkout::part(primary) { scroll-margin-top: 7px }";
    for display in ["frame", "inline"] {
        let attributes = format!("theme=\"midnight\" display=\"{display}\"");
        show(&shop, &[tokens, part].concat(), &attributes).await;
        let browser = &shop.2;
        browser.press("asset-BTC").await;
        browser.wait_for("status-awaiting_payment").await;
        let margin = if display == "inline" { "7px" } else { "0px" };
        for (selector, property, expected) in [
            (".primary", "backgroundColor", "rgb(255, 212, 0)"),
            (".primary", "borderRadius", "3px"),
            (".primary", "scrollMarginTop", margin),
            // The store's background applies under the page's theme: it is light in both colour schemes, and so is everything.
            (".florin", "backgroundColor", "rgb(255, 255, 255)"),
            (".theme", "colorScheme", "light"),
        ] {
            let found = style(browser, selector, property).await;
            assert_eq!(found, expected, "{display}: {property} of {selector}");
        }
    }
    end(shop.1, shop.2).await;
}

#[tokio::test]
async fn an_invalid_token_value_does_not_reach_the_frame() {
    let shop = shop("auto", "").await;
    let tokens = "florin-checkout {
        --florin-background: url(https://elsewhere.example/x.png); --florin-text: var(--nothing, red);
        --florin-radius: url(x); --florin-font: a, url(x); --florin-text-muted: env(x, #555555);
        --florin-border: light-dark(#ccc, color-mix(in srgb, #fff 30%, #000)) }";
    show(&shop, tokens, "theme=\"light\"").await;
    let (_site, world, browser) = shop;
    browser.wait_for("asset-BTC").await;
    // Resolved in the shop's page: the frame receives only the value.
    let set = "const { style } = document.querySelector('florin-checkout');
        return [[...style].filter((name) => name.startsWith('--florin-')), style.getPropertyValue('--florin-text')]";
    let taken = ["--florin-text", "--florin-text-muted", "--florin-border"];
    assert_eq!(browser.evaluate(set).await, json!([taken, "red"]));
    wait_for_warning(&browser, "--florin-background cannot be").await;

    // Set directly, without the loader.
    let query = "store=demo&product=mug&--florin-text=var(--accent)&--florin-text-muted=%5c75rl(x)&--florin-accent=%230b6e52";
    browser.goto("about:blank").await;
    let page = format!("{}/pay?{query}", world.proxy_url());
    browser.goto(&page).await;
    browser.wait_for("asset-BTC").await;
    let set = "return document.querySelector('florin-checkout').style.cssText";
    let taken = browser.evaluate(set).await;
    let taken = taken.as_str().unwrap();
    assert!(taken.contains("#0b6e52"), "{taken}");
    assert!(!taken.contains("var(") && !taken.contains("rl("), "{taken}");
    end(world, browser).await;
}

#[tokio::test]
async fn every_theme_respects_the_systems_settings() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    gallery.show("awaiting_payment", "&theme=midnight").await;
    let is = async |selector, property| style(browser, selector, property).await;

    assert_eq!(is(".screen", "animationName").await, "none");
    let motion = ("prefers-reduced-motion", "no-preference");
    browser.emulate_media(motion.0, motion.1).await;
    assert_ne!(is(".screen", "animationName").await, "none");

    assert_ne!(is(".label", "color").await, is("h2", "color").await);
    browser.emulate_media("prefers-contrast", "more").await;
    assert_eq!(is(".label", "color").await, is("h2", "color").await);

    // In light colours a code with the page's colours would be black on white as well.
    let forced = [("forced-colors", "active")];
    browser.emulate_with(DARK, &forced).await;
    assert_eq!(is(".qr", "backgroundColor").await, "rgb(255, 255, 255)");
    assert_eq!(is(".qr path", "fill").await, "rgb(0, 0, 0)");
    let code = Gallery::attempt("awaiting_payment", "qr_string");
    assert_eq!(browser.scan("qr").await, code);
    assert_eq!(is(".primary", "borderTopStyle").await, "solid");
    let border = is(".primary", "borderTopColor").await;
    assert_ne!(border, is(".primary", "backgroundColor").await);
    gallery.end().await;
}

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
    let contrasts = browser.evaluate_with(CONTRASTS, &[json!(pairs)]).await;
    for pair in pairs {
        let contrast = contrasts[pair].as_f64();
        let is_enough = contrast.is_some_and(|contrast| contrast >= least);
        assert!(is_enough, "{what}, {pair}: {contrast:?}");
    }
}

#[tokio::test]
async fn every_theme_is_readable_in_light_and_dark_colours_and_operable_at_every_density() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    for options in [DARK, BrowserOptions::default()] {
        browser.emulate(options).await;
        for theme in THEMES {
            gallery.show("choosing", &format!("&theme={theme}")).await;
            let what = format!("{theme}, dark: {}", options.dark);
            let least = if theme == "contrast" { 7.0 } else { 4.5 };
            check_contrast(browser, &TEXTS, least, &what).await;
            // WCAG 2.2, 1.4.11: the border of a field.
            check_contrast(browser, &["edge/background"], 3.0, &what).await;
        }
    }
    assert_eq!(console_messages(browser).await, [""; 0]);
    // Density changes distances, and no size of a target.
    for (density, gap) in [
        ("0.75", "9px"),
        ("9", "18px"),
        ("0", "9px"),
        ("1.5", "18px"),
    ] {
        let token = format!("&--florin-density={density}");
        gallery.show("awaiting_payment", &token).await;
        let shown = "return getComputedStyle(document.querySelector('florin-checkout').shadowRoot.querySelector('.screen')).rowGap";
        browser.wait_for_result(density, shown, gap).await;
        let low = "return [...inside.querySelectorAll('button, .primary')].filter((it) => it.checkVisibility() && it.getBoundingClientRect().height < 44).map((it) => it.outerHTML)";
        let low = read_inside(browser, low).await;
        assert_eq!(low, json!([]), "every control is 44 px high");
    }
    gallery.end().await;
}

#[tokio::test]
async fn colours_with_too_little_contrast_are_named_and_the_accent_has_a_readable_text() {
    let shop = shop("auto", "").await;
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
    ] {
        let style = format!("florin-checkout {{ {style} }}");
        show(&shop, &style, &format!("display=\"{display}\"")).await;
        wait_for_warning(&shop.2, sentence).await;
    }
    let attributes = "theme=\"light\" display=\"inline\"";
    show(&shop, "florin-checkout { --florin-text: #000 }", attributes).await;
    let (_site, world, browser) = shop;
    browser.wait_for("asset-BTC").await;
    // Time for a message that must not appear: the check runs once, when everything is loaded.
    pause(Duration::from_secs(4)).await;
    assert_eq!(console_messages(&browser).await, [""; 0]);
    // Whatever the accent is, the text on it is readable.
    for accent in [
        "#ffd400", "#2d6eff", "#dc237d", "#777777", "#000000", "#ffffff",
    ] {
        let set = "document.querySelector('florin-checkout').style.setProperty('--florin-accent', arguments[0])";
        browser.evaluate_with(set, &[json!(accent)]).await;
        check_contrast(&browser, &["on-accent/accent"], 4.5, accent).await;
    }
    end(world, browser).await;
}

/// Sets a control of the theme builder with the events of an input.
const SET: &str = r#"
    const control = document.querySelector(`[data-testid="${arguments[0]}"]`);
    control.value = arguments[1];
    for (const type of ['input', 'change']) control.dispatchEvent(new Event(type, { bubbles: true }));
"#;

async fn looks(browser: &Browser) -> Vec<Value> {
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
        looks.push(style(browser, selector, property).await);
    }
    looks
}

#[tokio::test]
async fn the_theme_builders_snippet_gives_the_shown_theme() {
    let (site, world, browser) = shop("auto", "").await;
    let builder = format!("{}/theme-builder", world.shop_url());
    browser.goto(&builder).await;
    browser.wait_for("asset-BTC").await;
    for (control, value) in [
        ("token-accent", "#7a1f5c"),
        ("token-radius", "5"),
        ("token-density", "0.8"),
    ] {
        let arguments = [json!(control), json!(value)];
        browser.evaluate_with(SET, &arguments).await;
    }
    let paper = "document.querySelector('[data-testid=theme-paper]').click()";
    browser.evaluate(paper).await;
    let ground = "return getComputedStyle(document.querySelector('florin-checkout').shadowRoot.querySelector('.florin')).backgroundColor";
    let paper = "rgb(253, 250, 243)";
    browser
        .wait_for_result("the theme is shown", ground, paper)
        .await;
    let contrast = browser.text("contrast-accent").await;
    assert!(contrast.contains('✓'), "{contrast}");
    let html = browser.text("snippet-html").await;
    let toml = browser.text("snippet-toml").await;
    let in_the_builder = looks(&browser).await;
    assert_eq!(in_the_builder[0], "rgb(122, 31, 92)");
    assert_eq!(console_messages(&browser).await, [""; 0]);

    site.serve("", &html);
    browser.goto(site.url()).await;
    browser.enter_checkout().await;
    assert_eq!(looks(&browser).await, in_the_builder, "{html}");
    browser.leave_checkout().await;

    let written = toml.lines().skip(1).collect::<Vec<_>>().join(", ");
    let tokens = written.strip_prefix("preset = \"paper\"").unwrap();
    let other = world_of(&site, "paper", tokens).await;
    browser.goto(&other.checkout_page()).await;
    assert_eq!(looks(&browser).await, in_the_builder, "{toml}");
    // Around the checkout too.
    let around = "return getComputedStyle(document.documentElement).backgroundColor";
    assert_eq!(browser.evaluate(around).await, paper);
    other.end().await;
    end(world, browser).await;
}
