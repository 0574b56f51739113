//! The state gallery, and what it proves of every state: no finding of axe-core, nothing too small to hit, nothing lost
//! at any zoom, nothing that moves once it is seen.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};
use support::{Browser, Folder, Look, Program, World, eventually, npm_file, within};

/// A browser at the gallery of a proxy.
pub(crate) struct Gallery {
    pub(crate) world: World,
    pub(crate) browser: Browser,
}

impl Gallery {
    pub(crate) async fn open() -> Self {
        let world = World::start().await;
        let browser = Browser::open().await;
        // A state that is not there: program, style and words are loaded once, and the states shown in this place.
        let url = format!("{}/pay#gallery=none", world.proxy_url());
        browser.goto(&url).await;
        Self { world, browser }
    }

    /// The names of all states.
    pub(crate) fn states() -> Vec<String> {
        let text = include_str!("../../widget/gallery/states.json");
        let table: Value = serde_json::from_str(text).unwrap();
        let states = table["states"].as_array().unwrap();
        let names = states.iter().map(|state| state["name"].as_str().unwrap());
        names.map(str::to_owned).collect()
    }

    /// The names of those that are as they were loaded: nobody presses anything, and no network goes.
    fn at_rest() -> Vec<String> {
        let text = include_str!("../../widget/gallery/states.json");
        let table: Value = serde_json::from_str(text).unwrap();
        let states = table["states"].as_array().unwrap().iter();
        let rest = states.filter(|state| state["press"].is_null() && state["lost"].is_null());
        rest.map(|state| state["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Loads a state alone, on a page that was not there before, and waits until nothing more is to come.
    pub(crate) async fn loads(&self, state: &str, more: &str) {
        let url = format!(
            "{}/pay?{state}#gallery={state}{more}",
            self.world.proxy_url()
        );
        // Another state on the same page is the same document: it would not be loaded.
        self.browser.goto("about:blank").await;
        self.browser.goto(&url).await;
        self.is_settled(state).await;
    }

    /// Shows a state in place of the one that was loaded: the program, the style and the words are there already.
    pub(crate) async fn show(&self, state: &str, more: &str) {
        const GO: &str = "
            const [state, more] = arguments;
            delete document.querySelector('florin-checkout').dataset.shown;
            // What was bought or typed in the last state is not this one's.
            sessionStorage.clear();
            // No two times are alike: a state that is there already is shown anew.
            location.hash = `gallery=${state}${more}&at=${performance.now()}`;";
        let arguments = [json!(state), json!(more)];
        self.browser.evaluate(GO, &arguments).await;
        self.is_settled(state).await;
    }

    pub(crate) async fn is_settled(&self, state: &str) {
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

/// A look at the page of this width.
pub(crate) fn wide(width: u32) -> Look {
    Look {
        size: (width, 740),
        dark: false,
    }
}

/// All findings, one in a line; an empty text is a clean page.
async fn findings(browser: &Browser) -> String {
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
    let answer = browser.evaluate_async(RUN, &[]).await;
    assert!(answer[0].as_u64() > Some(5), "axe-core looked: {answer}");
    let found = answer[1].as_array().unwrap().iter();
    let found: Vec<_> = found.map(|line| line.as_str().unwrap()).collect();
    found.join("\n")
}

async fn is_clean(dark: bool, more: &str) {
    let gallery = Gallery::open().await;
    let look = Look { dark, ..wide(1270) };
    gallery.browser.emulate(look).await;
    let mut found = String::new();
    for state in Gallery::states() {
        gallery.show(&state, more).await;
        for finding in findings(&gallery.browser).await.lines() {
            let _ = writeln!(found, "{state}: {finding}");
        }
    }
    assert!(found.is_empty(), "{found}");
    gallery.end().await;
}

#[tokio::test]
async fn axe_finds_nothing_in_any_state_by_day() {
    is_clean(false, "").await;
}

#[tokio::test]
async fn axe_finds_nothing_in_any_state_by_night() {
    is_clean(true, "").await;
}

#[tokio::test]
async fn axe_finds_nothing_in_arabic() {
    is_clean(false, "&locale=ar").await;
}

/// What can be pressed, typed into or followed, and is smaller than a finger.
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
async fn everything_that_can_be_pressed_is_as_large_as_a_finger() {
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

/// How much wider than the window the page is, and what sticks out of it or is cut off.
pub(crate) const OUTSIDE: &str = "
    const root = document.querySelector('florin-checkout').shadowRoot;
    const width = document.documentElement.clientWidth;
    const seen = [...root.querySelectorAll('*')].filter((at) => at.checkVisibility({ visibilityProperty: true }) && !at.closest('.unseen, svg'));
    // A field moves what was typed into it along by itself.
    const cut = (at) => at.localName !== 'input' && getComputedStyle(at).overflowX !== 'visible' && at.scrollWidth > at.clientWidth + 1;
    const out = seen.filter((at) => {
        const box = at.getBoundingClientRect();
        return box.width && (box.right > width + 1 || box.left < -1 || cut(at));
    });
    const wide = document.scrollingElement.scrollWidth - width;
    return [...(wide > 1 ? [`the page is ${wide} px too wide`] : []), ...out.slice(0, 4).map((at) => `${at.tagName}.${at.className} \"${at.textContent.trim().slice(0, 40)}\"`)];";

/// The texts that can be read, without those that count.
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
async fn at_two_and_four_times_the_size_nothing_is_lost_and_nothing_scrolls_sideways() {
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

/// Whether the code stands below the amount, or beside it, and what helps to send below the code, and nothing of it over
/// the address; `null` without a code.
const IN_ORDER: &str = "
    const root = document.querySelector('florin-checkout').shadowRoot;
    const [amount, code, aids] = ['.amount', '.code', '.aids'].map((name) => root.querySelector(name)?.getBoundingClientRect());
    if (!code) return null;
    const [qr] = [...root.querySelectorAll('.enlarge')].filter((at) => at.checkVisibility()).map((at) => at.getBoundingClientRect());
    const covered = [...root.querySelectorAll('.destination *')].map((at) => at.getBoundingClientRect())
        .some((at) => qr && at.left < qr.right - 1 && qr.left < at.right - 1 && at.top < qr.bottom - 1 && qr.top < at.bottom - 1);
    return amount.top < code.bottom && code.bottom <= aids.top && !covered;";

#[tokio::test]
async fn amount_code_and_what_helps_to_send_keep_their_order_at_every_width() {
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
    assert!(seen > 60, "{seen} codes were looked at");
    gallery.end().await;
}

/// What has moved since the page was loaded.
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
        for state in Gallery::at_rest() {
            gallery.loads(&state, "").await;
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
async fn the_gallery_leads_through_all_states_by_keyboard_and_keeps_its_place() {
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
    assert_eq!(findings(browser).await, "");
    let frame = "return document.querySelector('florin-checkout').shadowRoot.querySelector('iframe').getBoundingClientRect().width";
    assert_eq!(browser.evaluate(frame, &[]).await, 390);
    browser.enter_checkout().await;
    browser.wait_for("status-paid").await;
    let look = "
        const shown = document.querySelector('florin-checkout').shadowRoot;
        return [shown.querySelector('.florin').dir, shown.querySelector('.theme').dataset.theme]";
    assert_eq!(browser.evaluate(look, &[]).await, json!(["rtl", "dark"]));
    gallery.end().await;
}

#[tokio::test]
async fn an_ordinary_purchase_loads_nothing_of_the_gallery() {
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
    let answer = async |url: String| {
        let answer = world.http().get(url).send().await.ok()?;
        let policy = answer.headers().get("content-security-policy").cloned();
        Some((answer.status().as_u16(), policy))
    };
    let gallery = |base: &str| format!("{base}/gallery/gallery.js");
    let (status, _) = answer(gallery(&world.proxy_url())).await.unwrap();
    assert_eq!(status, 200, "in the test environment there is one");

    let folder = Folder::new();
    let port = || {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().to_string()
    };
    let (listen, admin_listen) = (port(), port());
    let database = format!("sqlite://{}", folder.file("florin.db").display());
    let (config, token) = (folder.file("florin.toml"), "x".repeat(32));
    std::fs::write(&config, "[[store]]\nid = \"demo\"\n").unwrap();
    let variables = [
        ("FLORIN_ENVIRONMENT", "production"),
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
    let page = within(bound, async || answer(format!("{base}/pay")).await).await;
    let (status, policy) = page.unwrap_or_else(|| panic!("{}", program.printed()));
    assert_eq!(status, 200);
    let policy = policy.unwrap().to_str().unwrap().to_owned();
    assert!(policy.contains("frame-src 'none'"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    for file in ["gallery.js", "index.js", "answers.js", "states.json"] {
        let (status, _) = answer(format!("{base}/gallery/{file}")).await.unwrap();
        assert_eq!(status, 404, "{file}");
    }
    world.end().await;
}

/// How the pictures are looked at: the name of the look, media features that the system sets, and what the fragment adds.
type PictureLook = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
);
const PICTURE_LOOKS: [PictureLook; 5] = [
    ("light", &[], ""),
    ("dark", &[], ""),
    ("forced", &[("forced-colors", "active")], ""),
    ("de", &[], "&locale=de"),
    ("ar", &[], "&locale=ar"),
];

/// `cargo xtask pictures` runs it.
#[tokio::test]
#[ignore = "it proves nothing: it writes pictures of every state, for people to look at"]
async fn pictures_of_every_state() {
    let folder = std::env::var_os("FLORIN_PICTURES").map(PathBuf::from);
    let folder = folder.expect("FLORIN_PICTURES names the folder");
    let only = std::env::var("FLORIN_PICTURES_ONLY").unwrap_or_default();
    let one_look = std::env::var("FLORIN_PICTURES_LOOK").unwrap_or_default();
    let is_wanted = |look: &&PictureLook| one_look.is_empty() || look.0 == one_look;
    let looks: Vec<_> = PICTURE_LOOKS.iter().filter(is_wanted).collect();
    assert!(!looks.is_empty(), "there is no look {one_look}");
    let states = Gallery::states().into_iter();
    let states: Vec<_> = states.filter(|state| state.contains(&only)).collect();
    assert!(!states.is_empty(), "no state has {only} in its name");
    let gallery = Gallery::open().await;
    for size in [(1270, 740), (768, 1024), (390, 844), (320, 640)] {
        for (name, features, more) in &looks {
            let look = Look {
                size,
                dark: *name == "dark",
            };
            gallery.browser.looks_at_with(look, features).await;
            let folder = folder.join(format!("{}-{name}", size.0));
            std::fs::create_dir_all(&folder).unwrap();
            for state in &states {
                gallery.show(state, more).await;
                let file = folder.join(format!("{state}.png"));
                gallery.browser.save_picture(look, &file).await;
            }
        }
    }
    gallery.end().await;
}
