//! The state gallery: its page, its keys, its files, and pictures of every state.

use std::path::PathBuf;

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, World};

use crate::helpers::{axe_findings, end, read_inside, wait_for_value};

pub(crate) struct Gallery {
    pub(crate) world: World,
    pub(crate) browser: Browser,
}

impl Gallery {
    pub(crate) async fn open() -> Self {
        let world = World::start().await;
        let browser = Browser::open_with(BrowserOptions::default()).await;
        // An unknown state: program, style and texts are loaded once, and states are shown on this page.
        let url = format!("{}/pay#gallery=none", world.proxy_url());
        browser.goto(&url).await;
        Self { world, browser }
    }

    pub(crate) fn states() -> Vec<String> {
        states_if(|_| true)
    }

    /// Returns the names of the states that need no press and no network failure.
    pub(crate) fn settled_states() -> Vec<String> {
        states_if(|state| state["press"].is_null() && state["lost"].is_null())
    }

    /// Returns a member of a state's attempt.
    pub(crate) fn attempt(name: &str, member: &str) -> String {
        let table = table();
        let mut states = table["states"].as_array().unwrap().iter();
        let state = states.find(|state| state["name"] == name).unwrap();
        let own = &state["attempt"][member];
        let value = if own.is_null() {
            &table["attempt"][member]
        } else {
            own
        };
        value.as_str().unwrap().to_owned()
    }

    /// Shows a state and runs a script on it, as [`read_inside`] does.
    pub(crate) async fn read(&self, state: &str, script: &str) -> Value {
        self.show(state, "").await;
        read_inside(&self.browser, script).await
    }

    /// Loads a state on a new page and waits until it is complete. Another state was loaded before it: with the same address,
    /// the browser would keep the page.
    pub(crate) async fn load(&self, state: &str) {
        let proxy = self.world.proxy_url();
        let url = format!("{proxy}/pay?{state}#gallery={state}");
        self.browser.goto(&url).await;
        self.wait_until_settled(state).await;
    }

    /// Shows another state on the loaded page.
    pub(crate) async fn show(&self, state: &str, more: &str) {
        const GO: &str = "
            const [state, more] = arguments;
            delete document.querySelector('florin-checkout').dataset.shown;
            // Removes what the last state has stored.
            sessionStorage.clear();
            // A changing value, so that a state that is already shown is rendered again.
            location.hash = `gallery=${state}${more}&at=${performance.now()}`;";
        let arguments = [json!(state), json!(more)];
        self.browser.evaluate_with(GO, &arguments).await;
        self.wait_until_settled(state).await;
    }

    pub(crate) async fn wait_until_settled(&self, state: &str) {
        let shown =
            "return document.querySelector('florin-checkout')?.dataset.shown === arguments[0]";
        let what = format!("the gallery shows {state}");
        self.browser
            .wait_until_with(&what, shown, &[json!(state)])
            .await;
    }

    pub(crate) async fn end(self) {
        end(self.world, self.browser).await;
    }
}

pub(crate) fn table() -> Value {
    serde_json::from_str(include_str!("../../widget/gallery/states.json")).unwrap()
}

fn states_if(is_wanted: impl Fn(&Value) -> bool) -> Vec<String> {
    let table = table();
    let states = table["states"].as_array().unwrap().iter();
    let names = states
        .filter(|state| is_wanted(state))
        .map(|state| state["name"].as_str().unwrap().to_owned());
    names.collect()
}

pub(crate) fn wide(width: u32) -> BrowserOptions {
    BrowserOptions {
        size: (width, 740),
        dark: false,
        ..BrowserOptions::default()
    }
}

#[tokio::test]
async fn the_gallery_shows_all_states_by_keyboard_and_survives_a_reload() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    let url = format!("{}/pay#gallery", gallery.world.proxy_url());
    browser.goto(&url).await;
    let reads = async |title: &str| {
        let heading = "inside?.querySelector('h1')?.textContent";
        wait_for_value(browser, title, heading, json!(title)).await;
    };
    reads("Loading").await;
    browser.type_keys(thirtyfour::Key::Right).await;
    reads("No connection").await;
    let links = "return inside.querySelectorAll('nav a').length";
    assert_eq!(
        read_inside(browser, links).await,
        Gallery::states().len(),
        "the links of the list"
    );
    let options = "&show=paid&width=390&theme=dark&locale=ar";
    browser.goto(&format!("{url}{options}")).await;
    reads("Paid").await;
    assert_eq!(axe_findings(browser).await, "");
    let width = "return inside.querySelector('iframe').getBoundingClientRect().width";
    assert_eq!(read_inside(browser, width).await, 390);
    browser.enter_checkout().await;
    browser.wait_for("status-paid").await;
    let options = "return [inside.querySelector('.florin').dir, inside.querySelector('.theme').dataset.theme]";
    assert_eq!(read_inside(browser, options).await, json!(["rtl", "dark"]));
    browser.leave_checkout().await;
    // A purchase loads no file of it.
    browser.goto(&gallery.world.checkout_page()).await;
    browser.wait_for("status-open").await;
    let loaded = "return performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.includes('/gallery/'))";
    assert_eq!(browser.evaluate(loaded).await, json!([]));
    gallery.end().await;
}

#[tokio::test]
async fn in_production_there_is_no_gallery() {
    for (environment, status) in [("test", 200), ("production", 404)] {
        let world = World::with(|config| config.environment = environment).await;
        let response = async |path: &str| {
            let url = format!("{}{path}", world.proxy_url());
            world.http().get(url).send().await.unwrap()
        };
        let page = response("/pay").await;
        let policy = page.headers()["content-security-policy"].to_str().unwrap();
        // In a frame the page shows the states of the gallery.
        let frames_itself = policy.contains("frame-src 'self'");
        assert_eq!(frames_itself, environment == "test", "{policy}");
        for file in ["gallery.js", "index.js", "responses.js", "states.json"] {
            let file = response(&format!("/gallery/{file}")).await;
            assert_eq!(file.status(), status, "{environment}");
        }
        world.end().await;
    }
}

/// A variant of the pictures: its name, emulated media features, and an addition to the fragment.
type PictureVariant = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
);
const PICTURE_VARIANTS: [PictureVariant; 5] = [
    ("light", &[], ""),
    ("dark", &[], ""),
    ("forced", &[("forced-colors", "active")], ""),
    ("de", &[], "&locale=de"),
    ("ar", &[], "&locale=ar"),
];

/// `cargo xtask pictures` runs it.
#[tokio::test]
#[ignore = "writes pictures of every state and checks nothing"]
async fn pictures_of_every_state() {
    let folder = std::env::var_os("FLORIN_PICTURES").map(PathBuf::from);
    let folder = folder.expect("FLORIN_PICTURES is the folder");
    let only = std::env::var("FLORIN_PICTURES_ONLY").unwrap_or_default();
    let variant = std::env::var("FLORIN_PICTURES_LOOK").unwrap_or_default();
    let is_wanted = |options: &&PictureVariant| variant.is_empty() || options.0 == variant;
    let variants: Vec<_> = PICTURE_VARIANTS.iter().filter(is_wanted).collect();
    assert!(!variants.is_empty(), "there is no variant {variant}");
    let states = Gallery::states().into_iter();
    let states: Vec<_> = states.filter(|state| state.contains(&only)).collect();
    assert!(!states.is_empty(), "no state has {only} in its name");
    let gallery = Gallery::open().await;
    for size in [(1270, 740), (768, 1024), (390, 844), (320, 640)] {
        for (name, features, more) in &variants {
            let options = BrowserOptions {
                size,
                dark: *name == "dark",
                ..BrowserOptions::default()
            };
            gallery.browser.emulate_with(options, features).await;
            // The widest come first: it stays so.
            if size.0 < 500 {
                gallery.browser.emulate_touch().await;
            }
            let folder = folder.join(format!("{}-{name}", size.0));
            std::fs::create_dir_all(&folder).unwrap();
            for state in &states {
                gallery.show(state, more).await;
                let file = folder.join(format!("{state}.png"));
                gallery.browser.save_picture(options, &file).await;
            }
        }
    }
    gallery.end().await;
}
