//! Languages of the checkout and of its loader: button, dialog, and title of the frame. Keyboard use, and right-to-left languages.
//! `diagnostics.rs` has a load error in another language.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, World, eventually, pause};
use thirtyfour::Key;

use crate::gallery::Gallery;
use crate::helpers::{
    HAS_BUTTON, checkout_page, end, only_order, open_dialog, read_inside, shop_page, wait_for_value,
};

/// Returns the sections of each language file by its tag.
fn languages() -> BTreeMap<String, Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../widget/locales");
    let files = std::fs::read_dir(folder).unwrap();
    let read = |file: std::fs::DirEntry| {
        let tag = file.file_name().into_string().unwrap().replace(".json", "");
        let text = std::fs::read_to_string(file.path()).unwrap();
        (tag, serde_json::from_str(&text).unwrap())
    };
    files.map(|file| read(file.unwrap())).collect()
}

const HEADING: &str = "return inside.querySelector('h2').textContent";

#[tokio::test]
async fn every_language_is_supported_and_has_its_plural_forms() {
    let browser = Browser::open().await;
    let supported = "return [Intl.PluralRules.supportedLocalesOf(arguments[0]).length,
        new Intl.PluralRules(arguments[0]).resolvedOptions().pluralCategories.sort()]";
    for (tag, words) in languages() {
        // Chromium has no data for Icelandic: its texts are shown with the number format of the browser's language.
        if tag == "is" {
            continue;
        }
        let forms = words["later"]["confirmations"].as_object().unwrap();
        let mut forms: Vec<&String> = forms.keys().collect();
        forms.sort();
        let known = browser.evaluate_with(supported, &[json!(tag)]).await;
        assert_eq!(known, json!([1, forms]), "{tag}");
    }
    browser.end().await;
}

#[tokio::test]
async fn the_closest_match_of_the_shops_language_is_used_in_its_direction() {
    let gallery = Gallery::open().await;
    let languages = languages();
    for (requested, file, direction) in [
        ("de-CH", "de", "ltr"),
        ("pt-AO", "pt-PT", "ltr"),
        ("zh-Hant-HK", "zh-TW", "ltr"),
        ("no", "nb", "ltr"),
        ("iw", "he", "rtl"),
        ("sr-Cyrl-ME", "sr", "ltr"),
        // Languages of a file in another script than the file's, by the tag's script and by its region.
        ("sr-Latn-RS", "en", "ltr"),
        ("sr-ME", "en", "ltr"),
        ("kk-CN", "en", "ltr"),
        ("tlh", "en", "ltr"),
        ("not a tag", "en", "ltr"),
    ] {
        let locale = format!("&locale={requested}");
        gallery.show("choosing", &locale).await;
        let shown = "const { lang, dir } = inside.querySelector('.florin[dir]');
            return [lang.endsWith('-u-nu-latn'), dir, inside.querySelector('h2').textContent, document.documentElement.lang]";
        let shown = read_inside(&gallery.browser, shown).await;
        let heading = &languages[file]["list"]["choose"];
        let expected = json!([true, direction, heading, file]);
        assert_eq!(shown, expected, "{requested}");
    }
    // Amounts and addresses are written from left to right.
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
async fn numbers_use_the_browsers_format_after_every_reload() {
    let swiss = "Object.defineProperty(navigator, 'languages', { get: () => ['de-CH', 'en'] })";
    let (world, browser) = checkout_page(&[swiss]).await;
    for (more, theme) in [("", "auto"), ("&theme=paper", "paper")] {
        let page = format!("{}{more}", world.checkout_page());
        browser.goto(&page).await;
        let price = format!(
            "const place = document.querySelector('florin-checkout').shadowRoot.querySelector('.theme');
             return place?.dataset.theme === '{theme}' && place.querySelector('.price')?.textContent"
        );
        let price = browser.wait_until("the price", &price).await;
        assert!(price.as_str().unwrap().contains("19.90"), "{price}");
    }
    end(world, browser).await;
}

#[tokio::test]
async fn changing_the_language_keeps_the_order_and_the_choice() {
    let (world, browser) = checkout_page(&[]).await;
    browser.press("asset-BTC").await;
    let address = browser.text("address").await;
    let choose = "const menu = inside.querySelector('.language'); menu.focus(); menu.value = 'ja'; \
        menu.dispatchEvent(new Event('change')); return [...menu.options].map((one) => one.text)";
    let offered = read_inside(&browser, choose).await;
    let offered = offered.as_array().unwrap();
    assert_eq!(offered.len(), 50);
    for name in ["Deutsch", "日本語", "العربية", "Français"] {
        assert!(offered.contains(&json!(name)), "{name} in {offered:?}");
    }
    let marked = text("ja", "later", "i_have_paid");
    let button = "inside.querySelector('[data-testid=i-have-paid]')?.textContent";
    wait_for_value(&browser, "the checkout is in Japanese", button, &*marked).await;
    assert_eq!(browser.text("address").await, address);
    let focused = "return inside.activeElement?.className";
    assert_eq!(read_inside(&browser, focused).await, "language");
    browser.reload().await;
    assert_eq!(browser.text("i-have-paid").await, marked);
    end(world, browser).await;
}

#[tokio::test]
async fn a_shop_overrides_texts_that_lead_nowhere_and_a_link_overrides_none() {
    let (site, world) = World::with_site().await;
    let words = json!({ "en": {
        "choose": "Which coin, <b>friend</b>?",
        "thanks": "No gap for the name of the store.",
        "nonsense": "There is no such text.",
        "service_busy": "Send to bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
        "search": "Pay at https://elsewhere.example instead",
        "back": "Zurückverfolgungsmöglichkeit",
    }, "de": { "choose": "Welche Münze?" } });
    let body = format!(
        "<script src=\"{}/florin.js\"></script>\
         <florin-checkout store=\"demo\" product=\"ebook\" locale=\"en\" words='{words}'></florin-checkout>",
        world.proxy_url()
    );
    site.serve("", &body);
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    browser.enter_checkout().await;
    browser.wait_for("asset-BTC").await;
    let heading = read_inside(&browser, HEADING).await;
    assert_eq!(heading, "Which coin, <b>friend</b>?");
    let complaints = browser.console_warnings().await.join("\n");
    for left in [
        "\\\"thanks\\\" is left as it is",
        "\\\"nonsense\\\" is left as it is",
        "\\\"search\\\" is left as it is: a text of the checkout leads nowhere",
        "\\\"service_busy\\\" is left as it is: a text of the checkout leads nowhere",
    ] {
        assert!(complaints.contains(left), "{left}: {complaints}");
    }
    // A long word is no address.
    for taken in ["choose", "back"] {
        assert!(!complaints.contains(taken), "{complaints}");
    }
    browser.leave_checkout().await;
    let words = "%7B%22en%22%3A%7B%22choose%22%3A%22Pay%20me%20instead%22%7D%7D";
    let page = format!("{}&locale=en#words={words}", world.checkout_page());
    browser.goto(&page).await;
    browser.wait_for("asset-BTC").await;
    let heading = read_inside(&browser, HEADING).await;
    assert_eq!(heading, languages()["en"]["list"]["choose"]);
    end(world, browser).await;
}

pub(crate) fn text(tag: &str, section: &str, key: &str) -> String {
    languages()[tag][section][key].as_str().unwrap().to_owned()
}

fn element(attributes: &str) -> String {
    format!("<florin-checkout store=\"demo\" product=\"ebook\" {attributes}></florin-checkout>")
}

const BUTTON: &str = "inside?.querySelector('[part=button] slot')?.textContent";

#[tokio::test]
async fn a_dialog_uses_the_shops_language_and_a_link_without_its_language_file_is_in_english() {
    let (site, world, browser) = shop_page(&element("display=\"modal\" locale=\"de-AT\"")).await;
    let label = |key| text("de", "loader", key);
    wait_for_value(&browser, "the button", BUTTON, label("pay")).await;
    open_dialog(&browser).await;
    let labels = "[inside.querySelector('dialog').ariaLabel, inside.querySelector('[part=close]').ariaLabel, inside.querySelector('iframe')?.title]";
    let expected = json!(["checkout", "close", "checkout"].map(label));
    wait_for_value(&browser, "dialog, button and frame", labels, expected).await;
    // Only the loader itself may load.
    let loader = format!("{}/florin.js", world.proxy_url());
    let script = format!("<script src=\"{loader}\" async></script>");
    let link = element("display=\"redirect\" locale=\"fr\"");
    for (policy, tag) in [
        (String::new(), "fr"),
        (format!("script-src {loader}"), "en"),
    ] {
        site.serve(&policy, &[&*script, &link].concat());
        browser.goto(site.url()).await;
        let pay = text(tag, "loader", "pay");
        wait_for_value(&browser, "the link", BUTTON, pay).await;
    }
    end(world, browser).await;
}

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
async fn a_purchase_in_the_dialog_needs_only_the_keyboard_and_the_shop_shows_it() {
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
    tab_to(&browser, "asset-USDTTRC20").await;
    browser.type_keys(Key::Enter).await;
    // The other networks are opened before the network is confirmed.
    assert_focus_visible(&browser, "H2 Does your wallet send USDT on Tron?").await;
    tab_to(&browser, "network-back").await;
    browser.type_keys(Key::Enter).await;
    assert_focus_visible(&browser, "asset-USDTTRC20").await;
    browser.type_keys(Key::Enter).await;
    assert_focus_visible(&browser, "H2 Does your wallet send USDT on Tron?").await;
    tab_to(&browser, "network-confirm").await;
    browser.type_keys(Key::Enter).await;
    assert_focus_visible(&browser, "H2 Pay with USDT on Tron").await;
    let checkout = only_order(&world, &browser).await;
    tab_to(&browser, "copy-amount").await;
    tab_to(&browser, "copy-address").await;
    browser.type_keys(Key::Enter).await;
    let address = checkout.address().await;
    eventually("the address is in the clipboard", async || {
        (browser.clipboard().await == address).then_some(())
    })
    .await;
    tab_to(&browser, "i-have-paid").await;
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
    browser.leave_checkout().await;
    let row = format!(
        "return document.querySelector('[data-testid=order-{}]').textContent.includes('Paid')",
        checkout.order
    );
    browser.wait_until("the shop's page shows paid", &row).await;
    assert_eq!(browser.console_warnings().await, [""; 0]);
    browser.enter_checkout().await;
    tab_to(&browser, "print-receipt").await;
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
