//! Languages of the checkout and of its loader: button, dialog, title of the frame, and load errors.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, Engine, StoreSite, World, eventually};

use crate::helpers::{checkout_page, end, open_dialog, page_with, read_inside, wait_for_value};

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

async fn shown(browser: &Browser) -> (String, String, String) {
    let script = "const root = document.querySelector('florin-checkout')?.shadowRoot?.querySelector('.florin[dir]'); \
        return [root?.lang ?? '', root?.dir ?? '', root?.querySelector('h2')?.textContent ?? '']";
    let seen = browser.evaluate(script).await;
    let text = |index: usize| seen[index].as_str().unwrap_or_default().to_owned();
    (text(0), text(1), text(2))
}

#[tokio::test]
async fn every_language_is_supported_and_has_its_plural_forms() {
    let browser = Browser::open().await;
    let mut unknown = Vec::new();
    for (tag, words) in languages() {
        let script = "return [Intl.PluralRules.supportedLocalesOf(arguments[0]).length, \
            new Intl.PluralRules(arguments[0]).resolvedOptions().pluralCategories.sort()]";
        let known = browser.evaluate_with(script, &[json!(tag)]).await;
        let mut forms: Vec<&String> = words["later"]["confirmations"]
            .as_object()
            .unwrap()
            .keys()
            .collect();
        forms.sort();
        if known[0] == 0 {
            unknown.push(tag);
        } else {
            assert_eq!(known[1], json!(forms), "{tag}");
        }
    }
    // Chromium has no data for Icelandic: its texts are shown with the number format of the browser's language.
    assert!(unknown.iter().all(|tag| tag == "is"), "{unknown:?}");
    browser.end().await;
}

#[tokio::test]
async fn the_closest_match_of_the_shops_language_is_used() {
    let world = World::start().await;
    let browser = Browser::open().await;
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
        browser.goto("about:blank").await;
        let fragment = "store=demo&product=ebook";
        let page = format!(
            "{}/pay?store=demo#{fragment}&locale={requested}",
            world.proxy_url()
        );
        browser.goto(&page).await;
        browser.wait_for("asset-BTC").await;
        let heading = languages[file]["first"]["choose"]
            .as_str()
            .unwrap()
            .to_owned();
        let (lang, dir, heading_text) = shown(&browser).await;
        assert_eq!(
            (dir.as_str(), heading_text),
            (direction, heading),
            "{requested}"
        );
        assert!(lang.ends_with("-u-nu-latn"), "{requested}: {lang}");
        let root = browser
            .evaluate("return document.documentElement.lang")
            .await;
        assert_eq!(root, file, "{requested}");
    }
    end(world, browser).await;
}

#[tokio::test]
async fn numbers_use_the_browsers_format_after_every_reload() {
    let swiss = "Object.defineProperty(navigator, 'languages', { get: () => ['de-CH', 'en'] })";
    let (world, browser) = checkout_page(&[swiss]).await;
    let price = async |theme: &str| {
        eventually("the price is written", async || {
            let script = "const place = document.querySelector('florin-checkout').shadowRoot.querySelector('.theme'); \
                return place?.dataset.theme === arguments[0] ? place.querySelector('.price')?.textContent ?? null : null";
            let price = browser.evaluate_with(script, &[json!(theme)]).await;
            price.as_str().map(str::to_owned)
        })
        .await
    };
    let first = price("auto").await;
    assert!(first.contains("19.90"), "{first}");
    browser.evaluate("location.hash += '&theme=paper'").await;
    assert_eq!(price("paper").await, first);
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
    let offered: Vec<&str> = offered
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(offered.len(), 50);
    for name in ["Deutsch", "日本語", "العربية", "Français"] {
        assert!(offered.contains(&name), "{name} in {offered:?}");
    }
    let japanese = &languages()["ja"];
    let marked = japanese["later"]["i_have_paid"].as_str().unwrap();
    eventually("the checkout is in Japanese", async || {
        (browser.text("i-have-paid").await == marked).then_some(())
    })
    .await;
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
    let (_, _, heading) = shown(&browser).await;
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
    let (_, _, heading) = shown(&browser).await;
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

async fn check_dialog(engines: &[Engine]) {
    for engine in engines {
        let (site, world) = page_with(&element("display=\"modal\" locale=\"de-AT\"")).await;
        let browser = Browser::open_engine(*engine, BrowserOptions::default()).await;
        browser.goto(site.url()).await;
        let label = |key| json!(text("de", "loader", key));
        wait_for_value(&browser, "the button", BUTTON, label("pay")).await;
        open_dialog(&browser).await;
        for (what, expression, key) in [
            (
                "the dialog",
                "inside.querySelector('dialog').ariaLabel",
                "checkout",
            ),
            (
                "its button",
                "inside.querySelector('[part=close]').ariaLabel",
                "close",
            ),
            (
                "the frame",
                "inside.querySelector('iframe')?.title",
                "checkout",
            ),
        ] {
            wait_for_value(&browser, what, expression, label(key)).await;
        }
        end(world, browser).await;
    }
}

#[tokio::test]
async fn a_dialog_uses_the_shops_language() {
    check_dialog(&[Engine::Chromium]).await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn a_dialog_uses_the_shops_language_in_firefox_and_webkit() {
    check_dialog(&[Engine::Firefox, Engine::WebKit]).await;
}

#[tokio::test]
async fn a_link_without_its_language_file_is_in_english() {
    let link = element("display=\"redirect\" locale=\"fr\"");
    let (site, world) = page_with(&link).await;
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    let label = |tag| json!(text(tag, "loader", "pay"));
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
    let site = support::StoreSite::open().await;
    let world = World::start().await;
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
    wait_for_value(&browser, "the notice", notice, json!(failed)).await;
    let title = text("ja", "diagnostics", "title");
    let panel = "inside.querySelector('[part=diagnostics]')?.ariaLabel";
    wait_for_value(&browser, "the panel", panel, json!(title)).await;
    let console = browser.console_warnings().await.join("\n");
    let text = text("ja", "diagnostics", "origin_not_allowed");
    let begin = text.split_once('{').unwrap().0;
    assert!(console.contains(begin), "{console}");
    end(world, browser).await;
}
