//! The state gallery, and checks of every state: no finding of axe-core, target sizes, zoom, and no layout shift.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, Folder, Program, World, eventually, npm_file, within};

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
    fn settled_states() -> Vec<String> {
        let text = include_str!("../../widget/gallery/states.json");
        let table: Value = serde_json::from_str(text).unwrap();
        let states = table["states"].as_array().unwrap().iter();
        let rest = states.filter(|state| state["press"].is_null() && state["lost"].is_null());
        rest.map(|state| state["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Loads a state on a new page and waits until it is complete. Another state was loaded before it: with the same address,
    /// the browser would keep the page.
    async fn load(&self, state: &str) {
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
        let shown = "return document.querySelector('florin-checkout')?.dataset.shown";
        eventually(&format!("the gallery shows {state}"), async || {
            (self.browser.evaluate(shown, &[]).await == state).then_some(())
        })
        .await;
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

/// Returns the findings, one per line; an empty string is a clean page.
pub(crate) async fn axe_findings(browser: &Browser) -> String {
    const RUN: &str = "
        const [done] = [...arguments].slice(-1);
        axe.run(document, {
            runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
            resultTypes: ['violations'],
            preload: false,
        }).then(({ violations, passes }) => done([passes.length, violations.flatMap(({ id, nodes }) => nodes.map(({ target, any, all, none }) =>
            id + ' at ' + target.flat().join(' ') + ': ' + [...any, ...all, ...none].map(({ message }) => message).join('; ')))]), (error) => done([0, ['' + error]]));";
    let there = browser.evaluate("return typeof axe", &[]).await;
    if there != "object" {
        let axe = std::fs::read_to_string(npm_file("axe-core/axe.min.js")).unwrap();
        browser.evaluate(&axe, &[]).await;
    }
    let response = browser.evaluate_async(RUN, &[]).await;
    assert!(
        response[0].as_u64() > Some(5),
        "axe-core looked: {response}"
    );
    let found = response[1].as_array().unwrap().iter();
    let found: Vec<_> = found.map(|line| line.as_str().unwrap()).collect();
    found.join("\n")
}

async fn check_axe(dark: bool, more: &str) {
    let gallery = Gallery::open().await;
    let options = BrowserOptions { dark, ..wide(1270) };
    gallery.browser.emulate(options).await;
    let mut found = String::new();
    for state in Gallery::states() {
        gallery.show(&state, more).await;
        for finding in axe_findings(&gallery.browser).await.lines() {
            let _ = writeln!(found, "{state}: {finding}");
        }
    }
    assert!(found.is_empty(), "{found}");
    gallery.end().await;
}

#[tokio::test]
async fn axe_finds_nothing_in_any_state_in_light_colours() {
    check_axe(false, "").await;
}

#[tokio::test]
async fn axe_finds_nothing_in_any_state_in_dark_colours() {
    check_axe(true, "").await;
}

#[tokio::test]
async fn axe_finds_nothing_in_arabic() {
    check_axe(false, "&locale=ar").await;
}

/// Returns the controls that are smaller than a touch target.
const TOO_SMALL: &str = "
    const root = document.querySelector('florin-checkout').shadowRoot;
    const all = [...root.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex=\"0\"], [role=button]')];
    const hit = (at) => {
        // A field's label is part of its target.
        const boxes = [at, ...(at.labels || [])].map((one) => one.getBoundingClientRect());
        const least = (side) => Math.max(...boxes.map((box) => box[side]));
        return Math.min(least('width'), least('height'));
    };
    return all.filter((at) => at.checkVisibility({ visibilityProperty: true }) && hit(at) < 43.5)
        .map((at) => `${at.tagName}.${at.className} \"${at.textContent.trim() || at.id}\" ${Math.round(hit(at))} px`);";

#[tokio::test]
async fn every_control_has_the_size_of_a_touch_target() {
    let gallery = Gallery::open().await;
    let mut found = String::new();
    for width in [1270, 320] {
        gallery.browser.emulate(wide(width)).await;
        for state in Gallery::states() {
            gallery.show(&state, "").await;
            let small = gallery.browser.evaluate(TOO_SMALL, &[]).await;
            for one in small.as_array().unwrap() {
                let _ = writeln!(found, "{state} at {width}: {one}");
            }
        }
    }
    assert!(found.is_empty(), "{found}");
    gallery.end().await;
}

/// Returns how much the page is wider than the window, and which elements overflow or are cut off.
pub(crate) const OUTSIDE: &str = "
    const root = document.querySelector('florin-checkout').shadowRoot;
    const width = document.documentElement.clientWidth;
    const seen = [...root.querySelectorAll('*')].filter((at) => at.checkVisibility({ visibilityProperty: true }) && !at.closest('.unseen, svg'));
    // A field scrolls its own text.
    const cut = (at) => at.localName !== 'input' && getComputedStyle(at).overflowX !== 'visible' && at.scrollWidth > at.clientWidth + 1;
    const out = seen.filter((at) => {
        const box = at.getBoundingClientRect();
        return box.width && (box.right > width + 1 || box.left < -1 || cut(at));
    });
    const wide = document.scrollingElement.scrollWidth - width;
    return [...(wide > 1 ? [`the page is ${wide} px too wide`] : []), ...out.slice(0, 4).map((at) => `${at.tagName}.${at.className} \"${at.textContent.trim().slice(0, 40)}\"`)];";

/// Returns the visible texts, without countdowns.
const READABLE: &str = "
    const root = document.querySelector('florin-checkout').shadowRoot;
    const texts = new Set();
    for (const at of root.querySelectorAll('*')) {
        if (!at.checkVisibility({ visibilityProperty: true })) continue;
        const box = at.getBoundingClientRect();
        const own = [...at.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data).join('').trim();
        if (own && !/\\d\\s*(:\\d|s|m|sec|min)/.test(own) && box.width && box.height) texts.add(own);
    }
    return [...texts];";

#[tokio::test]
async fn at_200_and_400_percent_nothing_is_lost_or_scrolls_sideways() {
    let gallery = Gallery::open().await;
    let mut found = String::new();
    for state in Gallery::states() {
        gallery.browser.emulate(wide(1280)).await;
        gallery.show(&state, "").await;
        let whole = gallery.browser.evaluate(READABLE, &[]).await;
        for width in [640, 320] {
            gallery.browser.emulate(wide(width)).await;
            let outside = gallery.browser.evaluate(OUTSIDE, &[]).await;
            for one in outside.as_array().unwrap() {
                let _ = writeln!(found, "{state} at {width}: {one}");
            }
            let read = gallery.browser.evaluate(READABLE, &[]).await;
            let read = read.as_array().unwrap();
            let lost = whole.as_array().unwrap().iter();
            for text in lost.filter(|text| !read.contains(text)) {
                let _ = writeln!(found, "{state} at {width} lost {text}");
            }
        }
    }
    assert!(found.is_empty(), "{found}");
    gallery.end().await;
}

/// Returns `true` if the QR code is below or beside the amount, the helpers are below the code, and nothing covers the
/// address; `null` without a code.
const IN_ORDER: &str = "
    const root = document.querySelector('florin-checkout').shadowRoot;
    const [amount, code, aids] = ['.amount', '.code', '.aids'].map((name) => root.querySelector(name)?.getBoundingClientRect());
    if (!code) return null;
    const [qr] = [...root.querySelectorAll('.enlarge')].filter((at) => at.checkVisibility()).map((at) => at.getBoundingClientRect());
    const covered = [...root.querySelectorAll('.destination *')].map((at) => at.getBoundingClientRect())
        .some((at) => qr && at.left < qr.right - 1 && qr.left < at.right - 1 && at.top < qr.bottom - 1 && qr.top < at.bottom - 1);
    return amount.top < code.bottom && code.bottom <= aids.top && !covered;";

#[tokio::test]
async fn amount_code_and_helpers_keep_their_order_at_every_width() {
    let gallery = Gallery::open().await;
    let mut found = String::new();
    let mut seen = 0;
    for state in Gallery::states() {
        gallery.show(&state, "").await;
        for width in [1270, 768, 500, 320] {
            gallery.browser.emulate(wide(width)).await;
            match gallery.browser.evaluate(IN_ORDER, &[]).await.as_bool() {
                Some(true) => seen += 1,
                Some(false) => {
                    let _ = writeln!(found, "{state} at {width}");
                }
                None => {}
            }
        }
    }
    assert!(found.is_empty(), "{found}");
    assert!(seen > 60, "{seen} codes were checked");
    gallery.end().await;
}

/// Returns what has moved since the page was loaded.
const MOVED: &str = "
    const [done] = arguments;
    new PerformanceObserver((list) => done(list.getEntries().flatMap(({ value, sources }) =>
        [value.toFixed(4), ...sources.map(({ previousRect: from, currentRect: to }) =>
            `${from.width}×${from.height} at ${from.x} ${from.y} to ${to.width}×${to.height} at ${to.x} ${to.y}`)]))).observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => done([]), 150);";

#[tokio::test]
async fn nothing_moves_while_a_state_is_loaded() {
    let gallery = Gallery::open().await;
    let mut found = String::new();
    for width in [1270, 390] {
        gallery.browser.emulate(wide(width)).await;
        for state in Gallery::settled_states() {
            gallery.load(&state).await;
            let moved = gallery.browser.evaluate_async(MOVED, &[]).await;
            if moved != json!([]) {
                let _ = writeln!(found, "{state} at {width}: {moved}");
            }
        }
    }
    assert!(found.is_empty(), "{found}");
    gallery.end().await;
}

#[tokio::test]
async fn the_gallery_shows_all_states_by_keyboard_and_survives_a_reload() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    let url = format!("{}/pay#gallery", gallery.world.proxy_url());
    browser.goto(&url).await;
    let heading = "return document.querySelector('florin-checkout').shadowRoot.querySelector('h1')?.textContent";
    let reads = async |title: &str| {
        eventually(&format!("the gallery is at {title}"), async || {
            (browser.evaluate(heading, &[]).await == title).then_some(())
        })
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
