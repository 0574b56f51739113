//! Keyboard use, right-to-left languages, and pages that may not embed the checkout.

use std::time::Duration;

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, StoreSite, World, pause};
use thirtyfour::Key;

use crate::gallery::Gallery;
use crate::helpers::{
    HAS_BUTTON, end, only_order, orders, read_inside, wait_for_value, wait_for_warning,
};

/// The focused element (its `data-testid`, else its tag and text) and whether the focus is visible. A focused heading
/// has no ring, because it has no action.
const FOCUS_STATE: &str = r"
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    const named = at?.dataset?.testid ?? `${at?.tagName} ${at?.textContent.trim().slice(0, 60)}`;
    if (!document.hasFocus() || at === document.body) return [named, 'elsewhere'];
    const { x, y, width, height, right, bottom } = at.getBoundingClientRect();
    if (width < 2 || height < 2 || x < 0 || y < 0 || right > innerWidth || bottom > innerHeight) {
        return [named, `is not on the screen: ${[x, y, width, height]} of ${[innerWidth, innerHeight]}`];
    }
    const rings = getComputedStyle(at);
    const around = at.closest('.money') ? getComputedStyle(at.closest('.money')) : rings;
    const isRinged = [rings, around].some(({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2);
    return [named, isRinged || at.tagName === 'H2' ? 'seen' : 'has no ring'];
";

/// Presses Tab until this has the focus; the focus must be visible at every stop.
async fn tab_to(browser: &Browser, name: &str) {
    let mut stops = Vec::new();
    for _ in 0..40 {
        browser.type_keys(Key::Tab).await;
        // A frame reports the new focus a moment after the key; there is nothing to wait for where Tab moves nothing.
        pause(Duration::from_millis(40)).await;
        let mut stop = browser.evaluate(FOCUS_STATE).await;
        if stop[1] == "has no ring" {
            // A loaded machine draws the ring later.
            pause(Duration::from_millis(500)).await;
            stop = browser.evaluate(FOCUS_STATE).await;
        }
        if stop[1] != "elsewhere" {
            assert_eq!(stop[1], "seen", "{stop} on the way to {name}");
        }
        if stop[0] == name {
            return;
        }
        stops.push(stop[0].clone());
    }
    panic!("{name} cannot be reached with Tab, but {stops:?}");
}

/// Waits until this has the visible focus: a `data-testid`, or `H2` and the heading's text.
async fn assert_focus_visible(browser: &Browser, name: &str) {
    let what = format!("the focus is on {name}");
    browser
        .wait_for_result(&what, FOCUS_STATE, json!([name, "seen"]))
        .await;
}

#[tokio::test]
async fn a_purchase_needs_only_the_keyboard() {
    let world = World::start().await;
    let browser = Browser::open_with(BrowserOptions {
        size: (1280, 1400),
        ..BrowserOptions::default()
    })
    .await;
    browser.goto(&world.shop_url()).await;
    wait_for_value(&browser, "the button is there", HAS_BUTTON, true).await;
    browser.tab_to("pay-ebook").await;
    browser.type_keys(Key::Enter).await;
    browser.enter_checkout().await;
    browser.wait_for("asset-USDTTRC20").await;
    tab_to(&browser, "search").await;
    browser.type_keys("usdt tron").await;
    tab_to(&browser, "asset-USDTTRC20").await;
    browser.type_keys(Key::Enter).await;
    // The other networks are opened before the network is confirmed.
    assert_focus_visible(&browser, "H2 Check the network").await;
    tab_to(&browser, "network-back").await;
    browser.type_keys(Key::Enter).await;
    assert_focus_visible(&browser, "asset-USDTTRC20").await;
    browser.type_keys(Key::Enter).await;
    assert_focus_visible(&browser, "H2 Check the network").await;
    tab_to(&browser, "network-confirm").await;
    browser.type_keys(Key::Enter).await;
    assert_focus_visible(&browser, "H2 Send USDT on Tron").await;
    let checkout = only_order(&world, &browser).await;
    for stop in ["copy-amount", "copy-address", "i-have-paid"] {
        tab_to(&browser, stop).await;
    }
    browser.type_keys(Key::Enter).await;
    browser.wait_for("status-checking").await;
    assert_focus_visible(&browser, &heading(&browser).await).await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    browser.wait_for("status-processing").await;
    assert_focus_visible(&browser, &heading(&browser).await).await;
    world.sandbox().mine(2).await;
    browser.wait_for("status-paid").await;
    assert_focus_visible(&browser, &heading(&browser).await).await;
    // The receipt, without the system's print dialog, which no test can close; then the link back.
    let noted = "window.printed = 0; window.print = () => { window.printed += 1; };";
    browser.evaluate(noted).await;
    tab_to(&browser, "print-receipt").await;
    browser.type_keys(Key::Enter).await;
    browser
        .wait_for_result("the receipt is printed", "return window.printed", 1)
        .await;
    tab_to(&browser, "return").await;
    browser.type_keys(Key::Enter).await;
    browser.leave_checkout().await;
    let path = "return location.pathname";
    let what = "the customer is back in the shop";
    browser.wait_for_result(what, path, "/thanks").await;
    end(world, browser).await;
}

/// Returns the heading of the screen, as [`FOCUS_STATE`] names it.
async fn heading(browser: &Browser) -> String {
    let read = "return 'H2 ' + inside.querySelector('h2').textContent.trim().slice(0, 60)";
    let heading = read_inside(browser, read).await;
    heading.as_str().expect("every screen has one").to_owned()
}

#[tokio::test]
async fn arabic_is_written_from_right_to_left_and_amounts_are_not() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    gallery.show("awaiting_payment", "&locale=ar").await;
    let root = "const root = inside.querySelector('[dir]'); return [root.dir, root.lang.slice(0, 2), ...['address', 'amount'].map((name) => getComputedStyle(named(name)).direction)]";
    let expected = json!(["rtl", "ar", "ltr", "ltr"]);
    assert_eq!(read_inside(browser, root).await, expected);
    let words = browser.text("i-have-paid").await;
    let is_arabic = |c: char| ('\u{600}'..='\u{6ff}').contains(&c);
    assert!(words.chars().any(is_arabic), "{words}");
    for (name, member) in [("address", "address"), ("amount", "amount_in_crypto")] {
        let expected = Gallery::attempt("awaiting_payment", member);
        assert_eq!(browser.text(name).await, expected);
    }
    gallery.end().await;
}

#[tokio::test]
async fn an_unlisted_page_cannot_frame_the_checkout() {
    let (site, world) = (StoreSite::open().await, World::start().await);
    let page = world.checkout_page();
    site.serve(
        "",
        &format!("<iframe id=\"theirs\" src=\"{page}\"></iframe>"),
    );
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    let complaint = wait_for_warning(&browser, "frame-ancestors").await;
    assert!(complaint.contains("violates"), "{complaint}");
    assert_eq!(orders(&world).await, [] as [Value; 0]);
    end(world, browser).await;
}
