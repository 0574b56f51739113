//! The checkout in the circumstances of real screens and pages: it is there, it has the width of its place, its height
//! stands still, nothing is cut off, and no style of the page changes how an address is read.

use serde_json::{Value, json};
use support::circumstances::{Circumstance, Kind, TABLE};
use support::{Browser, BrowserOptions, Engine, StoreSite, World};

use crate::helpers::open_dialog;

/// Screens, settings of systems, and zooms of browsers and styles.
const RATIOS: [f64; 12] = [
    0.67, 1.1, 1.25, 2.625, 0.75, 0.8, 0.9, 1.5, 1.75, 2.0, 3.0, 4.0,
];
const USUAL: usize = 4;
/// Those that Chromium is started with: the others are a style's zoom, which it computes in the same way.
const STARTED: [f64; 3] = [0.8, 1.0, 1.25];

const SCALES: [&str; 6] = [
    "body { zoom: 0.8 }",
    "body { zoom: 1.1 }",
    "html { zoom: 1.25 }",
    "florin-checkout { zoom: 0.9 }",
    "body { transform: scale(0.9) }",
    "florin-checkout { transform: scale(1.25) }",
];

const ELEMENTS: &str = "<florin-checkout store=\"demo\" product=\"ebook\"></florin-checkout>
    <florin-checkout store=\"demo\" product=\"mug\" display=\"inline\"></florin-checkout>";

/// A shop page in this circumstance, and the world that it is part of.
async fn shop(kind: Kind, elements: &str) -> (StoreSite, World) {
    let (site, world) = World::with_site().await;
    let (policy, body) = kind.page(&world.proxy_url(), elements);
    site.serve(&policy, &body);
    (site, world)
}

/// Statements: `parts()` are the frame or the screens of each element. The program replaces the first list.
const PARTS: &str = "
    const parts = () => [...document.querySelectorAll('florin-checkout')]
        .map((element) => element.shadowRoot?.querySelector('.fl-place:not(.fl-wait) iframe, .florin:not([aria-busy])'))
        .filter((part) => part?.style.height || part?.querySelector('[data-testid=status-open], [data-testid=status-awaiting_payment]'));";

/// Waits until so many elements show a checkout.
async fn wait_until_shown(browser: &Browser, count: usize) {
    let are_shown = [PARTS, "return parts().length === arguments[0];"].concat();
    browser
        .wait_until_with("the checkouts are shown", &are_shown, &[json!(count)])
        .await;
}

/// Width and height of each part, in tenths of a pixel, once they have stood still for half a second.
///
/// # Panics
/// They move for five seconds.
async fn sizes(browser: &Browser, what: &str) -> Vec<(i64, i64)> {
    const SAMPLE: &str = "
        const done = arguments[arguments.length - 1];
        const seen = [];
        const timer = setInterval(() => {
            const size = ({ width, height }) => [Math.round(width * 10), Math.round(height * 10)];
            seen.push(parts().map((part) => size(part.getBoundingClientRect())));
            const isStill = seen.slice(-6).every((sizes) => String(sizes) === String(seen.at(-1)));
            if (seen.length < 6 || (!isStill && seen.length < 50)) return;
            clearInterval(timer);
            done([isStill, seen.at(-1), seen.map(([[, height]]) => height)]);
        }, 100);";
    let found = browser.evaluate_async(&[PARTS, SAMPLE].concat()).await;
    assert_eq!(found[0], true, "{what}: the heights are {}", found[2]);
    serde_json::from_value(found[1].clone()).unwrap()
}

/// How far the page or frame scrolls, in pixels.
async fn scroll_range(browser: &Browser) -> Value {
    let scroll = "scrollTo(0, 9999); const range = scrollY; scrollTo(0, 0); return range";
    browser.evaluate(scroll).await
}

/// Checks that the frame shows all of the checkout, and little below it.
async fn check_frame_is_full(browser: &Browser, what: &str) {
    browser.enter_checkout().await;
    assert_eq!(scroll_range(browser).await, 0, "{what}: a part is cut off");
    let rest = "return innerHeight - document.querySelector('florin-checkout').offsetHeight";
    let rest = browser.evaluate(rest).await.as_f64().unwrap();
    // The program's list may be a line lower than the first one.
    assert!(rest <= 60.0, "{what}: {rest} px are empty");
    browser.leave_checkout().await;
}

/// A phone that is wide enough for a lot of content below 740 pixels.
const PHONE: BrowserOptions = BrowserOptions {
    size: (420, 900),
    dark: false,
    motion: false,
    ratio: 1.0,
};

/// A page with this style, in each circumstance of the engine.
async fn check_styles(world: &World, site: &StoreSite, browser: &Browser, styles: &[String]) {
    for style in styles {
        let page = [ELEMENTS, "<style>", style, "</style>"].concat();
        let (_, body) = Kind::Before("").page(&world.proxy_url(), &page);
        site.serve("", &body);
        browser.goto(site.url()).await;
        wait_until_shown(browser, 2).await;
        sizes(browser, style).await;
        check_frame_is_full(browser, style).await;
    }
}

/// Starts Chromium with each ratio, and shows the first `zooms` of the others in it.
async fn check_chromium(zooms: usize) {
    let (site, world) = shop(Kind::Before(""), ELEMENTS).await;
    for ratio in STARTED {
        let browser = Browser::open_with(BrowserOptions { ratio, ..PHONE }).await;
        let zooms = RATIOS[..zooms].iter();
        let zooms = zooms.map(|zoom| format!("html {{ zoom: {zoom} }}"));
        let styles = match ratio {
            1.0 => zooms.chain(SCALES.map(str::to_owned)).collect(),
            _ => vec![String::new(), SCALES[0].to_owned()],
        };
        check_styles(&world, &site, &browser, &styles).await;
        check_nothing_scrolls(&world, &site, &browser, ratio).await;
        browser.end().await;
    }
    world.end().await;
}

/// A dialog or window has a height: where the checkout fits into it, there is nothing to scroll.
async fn check_nothing_scrolls(world: &World, site: &StoreSite, browser: &Browser, ratio: f64) {
    browser.set_viewport(1280, 1000).await;
    let modal = ELEMENTS.replace("inline", "modal");
    let (_, modal) = modal.split_once('\n').unwrap();
    let (policy, body) = Kind::Before("").page(&world.proxy_url(), modal);
    site.serve(&policy, &body);
    browser.goto(site.url()).await;
    open_dialog(browser).await;
    browser.enter_checkout().await;
    browser.wait_for("asset-BTC").await;
    assert_eq!(scroll_range(browser).await, 0, "modal at {ratio}");
    browser.leave_checkout().await;
    browser.goto(&world.checkout_page()).await;
    browser.wait_for("asset-BTC").await;
    assert_eq!(scroll_range(browser).await, 0, "page at {ratio}");
}

#[tokio::test]
async fn heights_stand_still_at_usual_ratios_and_zooms() {
    check_chromium(USUAL).await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn heights_stand_still_at_every_ratio_and_zoom_in_chromium() {
    check_chromium(RATIOS.len()).await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn heights_stand_still_at_every_ratio_and_zoom_in_firefox_and_webkit() {
    let (site, world) = shop(Kind::Before(""), ELEMENTS).await;
    let scales = SCALES.map(str::to_owned);
    let browser = Browser::open_engine(Engine::Firefox, PHONE).await;
    browser.goto(site.url()).await;
    wait_until_shown(&browser, 2).await;
    for ratio in RATIOS {
        browser.set_ratio(ratio).await;
        let what = format!("ratio {ratio}");
        sizes(&browser, &what).await;
        check_frame_is_full(&browser, &what).await;
    }
    browser.set_ratio(1.0).await;
    check_styles(&world, &site, &browser, &scales).await;
    browser.end().await;
    // A window of GTK has a whole ratio.
    for ratio in [1.0, 2.0] {
        let options = BrowserOptions { ratio, ..PHONE };
        let browser = Browser::open_engine(Engine::WebKit, options).await;
        check_styles(&world, &site, &browser, &scales).await;
        browser.end().await;
    }
    world.end().await;
}

async fn check_every_circumstance(engine: Engine, is_checked: impl Fn(Kind) -> bool) {
    let (site, world) = shop(Kind::Before(""), ELEMENTS).await;
    let lines: Vec<_> = TABLE.iter().filter(|line| is_checked(line.2)).collect();
    let is_of_a_screen = |line: &&Circumstance| matches!(line.2, Kind::Ratio(_) | Kind::Dark);
    // Each screen needs a browser; one browser shows all pages.
    for lines in lines.chunk_by(|one, next| !is_of_a_screen(one) && !is_of_a_screen(next)) {
        let browser = Browser::open_engine(engine, lines[0].2.screen()).await;
        for (name, source, kind) in lines {
            let what = format!("{engine:?}, {name} ({source})");
            let (policy, body) = kind.page(&world.proxy_url(), ELEMENTS);
            site.serve(&policy, &body);
            browser.goto(site.url()).await;
            wait_until_shown(&browser, 2).await;
            for (width, height) in sizes(&browser, &what).await {
                // Two of them share a row or a line.
                let is_whole = width >= 6_000 && height >= 7_000;
                assert!(is_whole, "{what}: {width} × {height}");
            }
            check_frame_is_full(&browser, &what).await;
        }
        browser.end().await;
    }
    world.end().await;
}

#[tokio::test]
async fn every_circumstance_shows_a_checkout_that_stands_still() {
    check_every_circumstance(Engine::Chromium, |_| true).await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn a_checkout_is_as_wide_as_its_place_in_firefox_and_webkit() {
    for engine in [Engine::Firefox, Engine::WebKit] {
        check_every_circumstance(engine, |kind| matches!(kind, Kind::Place(_))).await;
    }
}

#[tokio::test]
async fn a_phone_that_is_turned_while_paying_has_no_empty_room_below() {
    let (site, world) = shop(Kind::Before(""), "").await;
    let browser = Browser::open_with(PHONE).await;
    for display in ["frame", "inline"] {
        let element = format!(
            "<meta name=\"viewport\" content=\"width=device-width\">
             <florin-checkout store=\"demo\" product=\"ebook\" asset=\"BTC\" display=\"{display}\"></florin-checkout>"
        );
        let (_, body) = Kind::Before("").page(&world.proxy_url(), &element);
        site.serve("", &body);
        browser.set_viewport(447, 900).await;
        browser.goto(site.url()).await;
        if display == "frame" {
            browser.enter_checkout().await;
        }
        browser.wait_for("status-awaiting_payment").await;
        browser.leave_checkout().await;
        let upright = sizes(&browser, display).await[0].1;
        browser.set_viewport(1250, 447).await;
        let turned = sizes(&browser, display).await[0].1;
        assert!(
            upright > 9_000 && turned < 7_600,
            "{display}: {upright}, then {turned}"
        );
    }
    browser.end().await;
    world.end().await;
}

/// Every inherited property that changes how a text looks or is read, as a page may set it.
const INHERITED: &str = "
    text-transform: uppercase; letter-spacing: .3em; word-spacing: 9px; text-indent: 40px; white-space: nowrap;
    word-break: break-all; line-break: anywhere; hyphens: auto; -webkit-text-fill-color: transparent;
    -webkit-text-stroke: 2px red; -webkit-text-security: disc; text-shadow: 2px 2px red; text-emphasis: dot red;
    font: italic small-caps 900 30px/3 cursive; font-feature-settings: 'swsh'; font-kerning: none; direction: rtl;
    text-align: right; text-align-last: center; tab-size: 1; quotes: none; list-style: square; caret-color: red;
    cursor: wait; color: red; fill: red; stroke: red; stroke-width: 9px; paint-order: stroke; overflow-wrap: normal;
    text-underline-offset: 9px; text-underline-position: under; border-collapse: collapse; font-size-adjust: 1;";

/// The computed styles of the address, the amount and the QR code, with all that is in them.
const STYLES: &str = "
    const inside = document.querySelector('florin-checkout').shadowRoot;
    const at = ['address', 'amount', 'qr'].flatMap((name) => {
        const found = inside.querySelector(`[data-testid=${name}]`);
        return [found, ...found.querySelectorAll('*')];
    });
    const styles = at.map((one) => [one.localName, getComputedStyle(one)].map((style) => typeof style === 'string'
        ? style : Object.fromEntries([...style].map((name) => [name, style.getPropertyValue(name)]))));";

async fn check_styles_of_the_page(engines: &[Engine]) {
    let element =
        "<florin-checkout store=\"demo\" product=\"ebook\" display=\"inline\"></florin-checkout>";
    let (site, world) = shop(Kind::Before(""), element).await;
    for engine in engines {
        let browser = Browser::open_engine(*engine, BrowserOptions::default()).await;
        browser.goto(site.url()).await;
        browser.press("asset-DOGE").await;
        browser.wait_for("address").await;
        let keep = [STYLES, "window.before = styles; return styles.length"].concat();
        let count = browser.evaluate(&keep).await;
        assert!(count.as_u64() > Some(10), "{engine:?}: {count}");
        let set = "document.body.style.cssText = arguments[0]";
        browser.evaluate_with(set, &[json!(INHERITED)]).await;
        let changed = [
            STYLES,
            "return styles.flatMap(([name, style], place) => Object.keys(style)
                .filter((key) => style[key] !== window.before[place][1][key] && !/^(width|height|(block|inline)-size)$|-origin$/.test(key))
                .map((key) => `${name} ${key}: ${window.before[place][1][key]}, then ${style[key]}`))",
        ];
        let changed = browser.evaluate(&changed.concat()).await;
        assert_eq!(changed, json!([]), "{engine:?}");
        browser.end().await;
    }
    world.end().await;
}

#[tokio::test]
async fn no_style_of_the_page_changes_how_an_address_is_read() {
    check_styles_of_the_page(&[Engine::Chromium]).await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn no_style_of_the_page_changes_how_an_address_is_read_in_firefox_and_webkit() {
    check_styles_of_the_page(&[Engine::Firefox, Engine::WebKit]).await;
}
