//! The state gallery: its page, its keys, its files, and pictures of every state.

use std::path::PathBuf;

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, Folder, Program, World, within};

use crate::axe::axe_findings;

/// A browser on the gallery of a proxy.
pub(crate) struct Gallery {
    pub(crate) world: World,
    pub(crate) browser: Browser,
}

impl Gallery {
    pub(crate) async fn open() -> Self {
        let world = World::start().await;
        let browser = Browser::open().await;
        // An unknown state: program, style and texts are loaded once, and states are shown on this page.
        let url = format!("{}/pay#gallery=none", world.proxy_url());
        browser.goto(&url).await;
        Self { world, browser }
    }

    /// Returns the names of all states.
    pub(crate) fn states() -> Vec<String> {
        let text = include_str!("../../widget/gallery/states.json");
        let table: Value = serde_json::from_str(text).unwrap();
        let states = table["states"].as_array().unwrap();
        let names = states.iter().map(|state| state["name"].as_str().unwrap());
        names.map(str::to_owned).collect()
    }

    /// Returns the names of the states that need no press and no network failure.
    pub(crate) fn settled_states() -> Vec<String> {
        let text = include_str!("../../widget/gallery/states.json");
        let table: Value = serde_json::from_str(text).unwrap();
        let states = table["states"].as_array().unwrap().iter();
        let rest = states.filter(|state| state["press"].is_null() && state["lost"].is_null());
        rest.map(|state| state["name"].as_str().unwrap().to_owned())
            .collect()
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
        self.browser.evaluate(GO, &arguments).await;
        self.wait_until_settled(state).await;
    }

    pub(crate) async fn wait_until_settled(&self, state: &str) {
        let shown =
            "return document.querySelector('florin-checkout')?.dataset.shown === arguments[0]";
        let what = format!("the gallery shows {state}");
        self.browser.wait_until(&what, shown, &[json!(state)]).await;
    }

    pub(crate) async fn end(self) {
        self.browser.end().await;
        self.world.end().await;
    }
}

/// Options of a window of this width.
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
    let heading = "return document.querySelector('florin-checkout').shadowRoot.querySelector('h1')?.textContent";
    let reads = async |title: &str| {
        browser
            .wait_for_result(
                &format!("the gallery is at {title}"),
                heading,
                &json!(title),
            )
            .await;
    };
    reads("Loading").await;
    browser.type_keys(thirtyfour::Key::Right).await;
    reads("No connection").await;
    let links = "return [...document.querySelector('florin-checkout').shadowRoot.querySelectorAll('nav a')].length";
    assert_eq!(browser.evaluate(links, &[]).await, Gallery::states().len());
    browser
        .goto(&format!("{url}&show=paid&width=390&theme=dark&locale=ar"))
        .await;
    reads("Paid").await;
    assert_eq!(axe_findings(browser).await, "");
    let frame = "return document.querySelector('florin-checkout').shadowRoot.querySelector('iframe').getBoundingClientRect().width";
    assert_eq!(browser.evaluate(frame, &[]).await, 390);
    browser.enter_checkout().await;
    browser.wait_for("status-paid").await;
    let options = "
        const shown = document.querySelector('florin-checkout').shadowRoot;
        return [shown.querySelector('.florin').dir, shown.querySelector('.theme').dataset.theme]";
    assert_eq!(browser.evaluate(options, &[]).await, json!(["rtl", "dark"]));
    gallery.end().await;
}

#[tokio::test]
async fn a_purchase_loads_no_file_of_the_gallery() {
    let gallery = Gallery::open().await;
    gallery.browser.goto(&gallery.world.checkout_page()).await;
    gallery.browser.wait_for("status-open").await;
    let loaded = "return performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.includes('/gallery/'))";
    assert_eq!(gallery.browser.evaluate(loaded, &[]).await, json!([]));
    gallery.end().await;
}

#[tokio::test]
async fn in_production_there_is_no_gallery() {
    let world = World::start().await;
    let response = async |url: String| {
        let response = world.http().get(url).send().await.ok()?;
        let policy = response.headers().get("content-security-policy").cloned();
        Some((response.status().as_u16(), policy))
    };
    let gallery = |base: &str| format!("{base}/gallery/gallery.js");
    let (status, _) = response(gallery(&world.proxy_url())).await.unwrap();
    assert_eq!(status, 200, "in the test environment there is one");

    let folder = Folder::new();
    let port = || {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().to_string()
    };
    let (listen, admin_listen) = (port(), port());
    let database = format!("sqlite://{}", folder.file("florin.db").display());
    let (config, token) = (folder.file("florin.toml"), "0123456789abcdef".repeat(2));
    std::fs::write(&config, "[[store]]\nid = \"demo\"\n").unwrap();
    let variables = [
        ("FLORIN_ENVIRONMENT", "production"),
        ("FLORIN_PUBLIC_URL", "https://pay.shop.example"),
        ("FLORIN_LISTEN", &listen),
        ("FLORIN_ADMIN_LISTEN", &admin_listen),
        ("FLORIN_PUBLIC_URL", "https://pay.shop.example"),
        ("FLORIN_DATABASE_URL", &database),
        ("FLORIN_GATEWAY__URL", "https://127.0.0.1:9/api"),
        ("FLORIN_GATEWAY__API_KEY", "key"),
        ("FLORIN_GATEWAY__API_SECRET", "secret"),
        ("FLORIN_GATEWAY__CALLBACK_TOKEN", &token),
    ];
    let program = Program::start(&config, &folder.file("proxy.log"), &variables);
    let base = format!("http://{listen}");
    let bound = std::time::Duration::from_secs(15);
    let page = within(bound, async || response(format!("{base}/pay")).await).await;
    let (status, policy) = page.unwrap_or_else(|| panic!("{}", program.printed()));
    assert_eq!(status, 200);
    let policy = policy.unwrap().to_str().unwrap().to_owned();
    assert!(policy.contains("frame-src 'none'"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    for file in ["gallery.js", "index.js", "responses.js", "states.json"] {
        let (status, _) = response(format!("{base}/gallery/{file}")).await.unwrap();
        assert_eq!(status, 404, "{file}");
    }
    world.end().await;
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
