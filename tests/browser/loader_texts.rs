//! The loader's texts in the customer's language: button, dialog, title of the frame, and load errors.

use std::path::Path;

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, Engine, World};

use crate::shop_page::{open_dialog, page_with, wait_for_value};

/// Returns a text of a language file.
fn text(tag: &str, section: &str, key: &str) -> String {
    let path = format!("../widget/locales/{tag}.json");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let file = std::fs::read_to_string(path).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    file[section][key].as_str().unwrap().to_owned()
}

fn element(attributes: &str) -> String {
    format!("<florin-checkout store=\"demo\" product=\"ebook\" {attributes}></florin-checkout>")
}

const BUTTON: &str = "inside?.querySelector('[part=button] slot')?.textContent";

#[tokio::test]
async fn a_dialog_uses_the_shops_language_in_each_engine() {
    for engine in Engine::ALL {
        let (site, world) = page_with(&element("display=\"modal\" locale=\"de-AT\"")).await;
        let browser = Browser::open_engine(engine, BrowserOptions::default()).await;
        browser.goto(site.url()).await;
        let label = |key| json!(text("de", "loader", key));
        wait_for_value(&browser, "the button", BUTTON, &label("pay")).await;
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
            wait_for_value(&browser, what, expression, &label(key)).await;
        }
        browser.end().await;
        world.end().await;
    }
}

#[tokio::test]
async fn a_link_without_its_language_file_is_in_english() {
    let link = element("display=\"redirect\" locale=\"fr\"");
    let (site, world) = page_with(&link).await;
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    let label = |tag| json!(text(tag, "loader", "pay"));
    wait_for_value(&browser, "the link", BUTTON, &label("fr")).await;
    // Only the loader itself may load.
    let loader = format!("{}/florin.js", world.proxy_url());
    let script = format!("<script src=\"{loader}\" async></script>");
    site.serve(&format!("script-src {loader}"), &[script, link].concat());
    browser.goto(site.url()).await;
    wait_for_value(&browser, "the link", BUTTON, &label("en")).await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn load_errors_are_in_the_merchants_and_the_customers_language() {
    // The proxy rejects the page's origin.
    let site = support::Site::open().await;
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
    wait_for_value(&browser, "the notice", notice, &json!(failed)).await;
    let title = text("ja", "diagnostics", "title");
    let panel = "inside.querySelector('[part=doctor]')?.ariaLabel";
    wait_for_value(&browser, "the panel", panel, &json!(title)).await;
    let console = browser.console_warnings().await.join("\n");
    let text = text("ja", "diagnostics", "origin_not_allowed");
    let begin = text.split_once('{').unwrap().0;
    assert!(console.contains(begin), "{console}");
    browser.end().await;
    world.end().await;
}
