//! Languages of the checkout and of its loader: button, dialog, title of the frame, and load errors.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use support::{Browser, StoreSite, World};

use crate::gallery::Gallery;
use crate::helpers::{checkout_page, end, open_dialog, read_inside, shop_page, wait_for_value};

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

/// The heading of the screen.
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
async fn the_closest_match_of_the_shops_language_is_used() {
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
        let heading = &languages[file]["first"]["choose"];
        let expected = json!([true, direction, heading, file]);
        assert_eq!(shown, expected, "{requested}");
    }
    gallery.end().await;
}

#[tokio::test]
async fn numbers_use_the_browsers_format_after_every_reload() {
    let swiss = "Object.defineProperty(navigator, 'languages', { get: () => ['de-CH', 'en'] })";
    let (world, browser) = checkout_page(&[swiss]).await;
    for (more, theme) in [("", "auto"), ("&theme=paper", "paper")] {
        browser
            .evaluate(&format!("location.hash += '{more}'"))
            .await;
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
    let site = StoreSite::open().await;
    let world = World::start_for(&site).await;
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
    let page = format!("{}&locale=en&words={words}", world.checkout_page());
    browser.goto(&page).await;
    browser.wait_for("asset-BTC").await;
    let heading = read_inside(&browser, HEADING).await;
    assert_eq!(heading, languages()["en"]["first"]["choose"]);
    end(world, browser).await;
}

/// Returns a text of a language file.
fn text(tag: &str, section: &str, key: &str) -> String {
    languages()[tag][section][key].as_str().unwrap().to_owned()
}

fn element(attributes: &str) -> String {
    format!("<florin-checkout store=\"demo\" product=\"ebook\" {attributes}></florin-checkout>")
}

const BUTTON: &str = "inside?.querySelector('[part=button] slot')?.textContent";

#[tokio::test]
async fn a_dialog_uses_the_shops_language() {
    let (_site, world, browser) = shop_page(&element("display=\"modal\" locale=\"de-AT\"")).await;
    let label = |key| text("de", "loader", key);
    wait_for_value(&browser, "the button", BUTTON, label("pay")).await;
    open_dialog(&browser).await;
    let labels = "[inside.querySelector('dialog').ariaLabel, inside.querySelector('[part=close]').ariaLabel, inside.querySelector('iframe')?.title]";
    let expected = json!(["checkout", "close", "checkout"].map(label));
    wait_for_value(&browser, "dialog, button and frame", labels, expected).await;
    end(world, browser).await;
}

#[tokio::test]
async fn a_link_without_its_language_file_is_in_english() {
    let link = element("display=\"redirect\" locale=\"fr\"");
    let (site, world, browser) = shop_page(&link).await;
    let label = |tag| text(tag, "loader", "pay");
    wait_for_value(&browser, "the link", BUTTON, label("fr")).await;
    // Only the loader itself may load.
    let loader = format!("{}/florin.js", world.proxy_url());
    let script = format!("<script src=\"{loader}\" async></script>");
    site.serve(&format!("script-src {loader}"), &[script, link].concat());
    browser.goto(site.url()).await;
    wait_for_value(&browser, "the link", BUTTON, label("en")).await;
    end(world, browser).await;
}

#[tokio::test]
async fn load_errors_are_in_the_merchants_and_the_customers_language() {
    // The proxy rejects the page's origin.
    let (site, world) = (StoreSite::open().await, World::start().await);
    let script = format!(
        "<script src=\"{}/florin.js\" async></script>",
        world.proxy_url()
    );
    site.serve("", &[script, element("locale=\"ja\"")].concat());
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    let failed = [
        text("ja", "loader", "load_failed"),
        text("ja", "loader", "own_page"),
    ]
    .concat();
    let notice = "inside?.querySelector('.fl-notice')?.textContent";
    wait_for_value(&browser, "the notice", notice, failed).await;
    let title = text("ja", "diagnostics", "title");
    let panel = "inside.querySelector('[part=diagnostics]')?.ariaLabel";
    wait_for_value(&browser, "the panel", panel, title).await;
    let console = browser.console_warnings().await.join("\n");
    let text = text("ja", "diagnostics", "origin_not_allowed");
    let begin = text.split_once('{').unwrap().0;
    assert!(console.contains(begin), "{console}");
    end(world, browser).await;
}
