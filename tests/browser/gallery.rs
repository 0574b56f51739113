//! The state gallery: its page, its keys, its files, and pictures of every state.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, StoreSite, World, pause};

use crate::helpers::{axe_findings, end, open_dialog, read_inside, wait_for_value};
use crate::operators_pages::{PAGES, sign_in, with_orders};

pub(crate) struct Gallery {
    pub(crate) world: World,
    pub(crate) browser: Browser,
}

impl Gallery {
    pub(crate) async fn open() -> Self {
        let browser = Browser::open_with(BrowserOptions::default()).await;
        let world = World::start().await;
        let gallery = Self { world, browser };
        gallery.begin().await;
        gallery
    }

    pub(crate) async fn begin(&self) {
        // An unknown state: program, style and texts are loaded once, and states are shown on this page.
        let url = format!("{}/pay#gallery=none", self.world.proxy_url());
        self.browser.goto(&url).await;
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

    /// Shows a state in the element of a shop's page, whose frame gets the state into its address.
    async fn show_in_shop(&self, site: &StoreSite, display: &str, state: &str, more: &str) {
        let proxy = self.world.proxy_url();
        let source = if state.starts_with("giving") {
            "donation"
        } else {
            "product"
        };
        let page = format!(
            "<style>body {{ margin: 0 }}</style>
             <script>
                 const src = Object.getOwnPropertyDescriptor(HTMLIFrameElement.prototype, 'src');
                 const set = function (url) {{ src.set.call(this, url + 'gallery={state}{more}'); }};
                 Object.defineProperty(HTMLIFrameElement.prototype, 'src', {{ ...src, set }});
             </script>
             <script src=\"{proxy}/florin.js\" async></script>
             <florin-checkout store=demo {source}={state} display={display}></florin-checkout>"
        );
        site.serve("", &page);
        self.browser.goto(site.url()).await;
        if display == "modal" {
            open_dialog(&self.browser).await;
        }
        self.browser.enter_checkout().await;
        self.wait_until_settled(state).await;
        self.browser.leave_checkout().await;
        // The frame gets the height of its content.
        pause(Duration::from_millis(200)).await;
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

/// A folder, its window, and what is shown: the checkout's `page`, the element of a shop in its display `frame` or `modal`, or the
/// pages of the `operator`. The widest come first: a browser that has a touch screen keeps it.
const PICTURE_PLACES: [(&str, (u32, u32), &str); 10] = [
    ("1920", (1920, 1080), "page"),
    ("1270", (1270, 740), "page"),
    ("operator-1270", (1270, 740), "operator"),
    ("dialog", (1270, 840), "modal"),
    ("frame-1136", (1136, 740), "frame"),
    ("768", (768, 1024), "page"),
    ("390", (390, 844), "page"),
    ("operator-390", (390, 844), "operator"),
    ("frame-356", (356, 740), "frame"),
    ("320", (320, 640), "page"),
];

/// `cargo xtask pictures` runs it.
#[tokio::test]
#[ignore = "writes pictures of every state and checks nothing"]
async fn pictures_of_every_state() {
    let folder = std::env::var_os("FLORIN_PICTURES").map(PathBuf::from);
    let folder = folder.expect("FLORIN_PICTURES is the folder");
    let only = std::env::var("FLORIN_PICTURES_ONLY").unwrap_or_default();
    let variant = std::env::var("FLORIN_PICTURES_LOOK").unwrap_or_default();
    let mut variants = PICTURE_VARIANTS.to_vec();
    variants.retain(|(name, ..)| variant.is_empty() || *name == variant);
    assert!(!variants.is_empty(), "there is no variant {variant}");
    let (site, world) = World::with_site().await;
    let order = format!("/orders/{}", with_orders(&world).await);
    let pages = PAGES.iter().copied().chain([&*order]);
    let mut pages: Vec<_> = pages.map(|page| format!("operator{page}")).collect();
    let mut states = Gallery::states();
    for names in [&mut states, &mut pages] {
        names.retain(|name| name.contains(&only));
    }
    let count = states.len() + pages.len();
    assert!(count > 0, "no name has {only} in it");
    let browser = Browser::open_with(BrowserOptions::default()).await;
    let gallery = Gallery { world, browser };
    let (browser, world) = (&gallery.browser, &gallery.world);
    for (place, size, shown) in PICTURE_PLACES {
        if shown == "operator" {
            sign_in(browser, world).await;
        } else {
            gallery.begin().await;
        }
        let names = if shown == "operator" { &pages } else { &states };
        for (variant, features, more) in &variants {
            if names.is_empty() || (shown == "operator" && !more.is_empty()) {
                continue;
            }
            let options = BrowserOptions {
                size,
                dark: *variant == "dark",
                ..BrowserOptions::default()
            };
            browser.emulate_with(options, features).await;
            if size.0 < 500 {
                browser.emulate_touch().await;
            }
            let folder = folder.join(format!("{place}-{variant}"));
            std::fs::create_dir_all(&folder).unwrap();
            for name in names {
                match shown {
                    "page" => gallery.show(name, more).await,
                    "operator" => {
                        let page = name.replacen("operator", &world.admin_url(), 1);
                        browser.goto(&page).await;
                        let open = "document.querySelector('.entry').open = true";
                        browser.evaluate(open).await;
                    }
                    display => gallery.show_in_shop(&site, display, name, more).await,
                }
                let file = folder.join(format!("{}.png", name.replace(['/', '?', '='], "_")));
                browser.save_picture(options, &file).await;
            }
        }
    }
    gallery.end().await;
}
