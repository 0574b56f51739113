//! Measures how long a customer waits for an uncached checkout on a slow line and a slow phone.
//!
//! Every run starts a new browser with an empty cache. Measured is the time of the first frame after the element was in
//! the page. No script is evaluated before, because it would take processor time of the page.
//!
//! Peers are pages of other vendors ([`Peer`]), measured in the same way from the navigation on.
//!
//! The screen is a phone's. The line is that of Chromium's developer tools: each request waits 150 ms, all responses
//! together come at 1.6 Mbit/s; opening a connection costs nothing. The conditions reach a frame too, because shop
//! and proxy are of one site here, and thus of one process.
//!
//! `cargo xtask bench` bundles each peer from npm; `tests/peers/README.md` describes the files. They are served as ours are:
//! compressed with brotli beforehand, and cached for a year. What the maker's and the shop's servers would answer is canned. The
//! page's policy admits the page's origin alone, so that no request leaves this machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use crate::browser::{Browser, BrowserOptions, Engine};
use crate::local_server::LocalServer;
use crate::store_site::StoreSite;
use crate::wait::{eventually, pause};
use crate::world::World;

/// Notes, in milliseconds since the start of the page or frame, when the loader ran, and when skeleton and choice
/// could be seen.
const NOTE: &str = r#"
    window.seen = {};
    window.mark = name => requestAnimationFrame(() => (seen[name] = performance.now()));
    customElements.whenDefined('florin-checkout').then(() => (seen.loader = performance.now()));
    const isSkeleton = at => at.offsetHeight && (at.matches(':not(:defined)') ? getComputedStyle(at).backgroundImage !== 'none' : at.shadowRoot?.querySelector('.fl-wait, [aria-busy="true"]'));
    const isChoice = at => at.shadowRoot?.querySelector('[data-testid^="asset-"]')?.offsetHeight;
    const look = () => {
        const at = document.querySelector('florin-checkout');
        for (const [name, is] of [['skeleton', isSkeleton], ['choice', isChoice]]) {
            if (name in seen || !at || !is(at)) continue;
            seen[name] = null;
            mark(name);
        }
        if (!seen.choice) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
"#;

/// The same for a peer, and what the policy of its page refused.
const NOTE_OF_A_PEER: &str = r"
    window.seen = { refused: [] };
    addEventListener('securitypolicyviolation', ({ blockedURI }) => seen.refused.push(blockedURI));
    const look = () => {
        if (isChoice()) requestAnimationFrame(() => (seen.choice = performance.now()));
        else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
";

/// CSS pixels. Source: Lighthouse 12, `core/config/constants.js`, whose slow phone this is, line and processor
/// included.
const SCREEN: (u32, u32) = (412, 823);
/// Longer than any run takes.
const UNDISTURBED: Duration = Duration::from_millis(2500);
/// The same for a peer.
const UNDISTURBED_PEER: Duration = Duration::from_secs(4);
/// A browser has started by then: a customer's has long been there.
const STARTED: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// The checkout's own page, from its address on.
    Checkout,
    /// A shop's page with the checkout in a frame, from the loader's first line on.
    Frame,
    /// A shop's page with the checkout in it, from the loader's first line on.
    Inline,
}

impl Page {
    pub const ALL: [Self; 3] = [Self::Checkout, Self::Frame, Self::Inline];
}

/// Milliseconds.
#[derive(Clone, Debug)]
pub struct Timings {
    /// Until the skeleton is on the screen.
    pub skeleton: u64,
    /// Until the choice of assets is on the screen.
    pub choice: u64,
    /// How much of the shop's page comes before these: its own way here, and the loader's.
    pub before: u64,
    /// From the address of the first page, the shop's or the checkout's own, to the choice.
    pub whole: u64,
    /// Every request of the page or frame with the checkout: when it began, when its response was there, and its path.
    pub requests: Vec<String>,
}

/// Measures once. `site` is a page of the store's.
pub async fn measure(page: Page, world: &World, site: &StoreSite) -> Timings {
    let browser = slow_phone(NOTE).await;
    let proxy = world.proxy_url();
    let element = |display: &str| {
        format!(
            "<script src=\"{proxy}/florin.js\" async></script>
             <florin-checkout store=\"demo\" product=\"ebook\" display=\"{display}\"></florin-checkout>"
        )
    };
    match page {
        Page::Checkout => {}
        Page::Frame => site.serve("", &element("frame")),
        Page::Inline => site.serve("", &element("inline")),
    }
    match page {
        Page::Checkout => browser.goto(&world.checkout_page()).await,
        _ => browser.goto(site.url()).await,
    }
    pause(UNDISTURBED).await;
    let began = origin(&browser).await;
    let loader = timestamp(&browser, "loader").await;
    // Where there is a frame, the loader draws a skeleton in its place until it is there.
    let first = timestamp(&browser, "skeleton").await;
    if page == Page::Frame {
        browser.enter_checkout().await;
    }
    let choice = eventually(&format!("the choice of {page:?} is seen"), async || {
        timestamp(&browser, "choice").await
    })
    .await;
    let choice = origin(&browser).await - began + choice;
    let before = match page {
        Page::Frame | Page::Inline => loader.expect("the loader runs before the choice"),
        Page::Checkout => 0,
    };
    let timings = Timings {
        skeleton: first.expect("a skeleton comes before the choice") - before,
        choice: choice - before,
        before,
        whole: choice,
        requests: requests(&browser).await,
    };
    browser.end().await;
    timings
}

/// Measures a peer once: milliseconds from the navigation to the choice.
///
/// # Panics
/// There is no choice within a bound, a request had no response, or one was for another host.
pub async fn measure_peer(peer: &Peer) -> u64 {
    let note = format!("const isChoice = {};{NOTE_OF_A_PEER}", peer.choice());
    let browser = slow_phone(&note).await;
    browser.goto(peer.url()).await;
    pause(UNDISTURBED_PEER).await;
    let choice = eventually("the choice of a peer is seen", async || {
        timestamp(&browser, "choice").await
    })
    .await;
    let refused = browser.evaluate("return seen.refused").await;
    let asked = browser.end_and_list_requests("127.0.0.1").await;
    let origin = peer.url().trim_end_matches('/');
    let is_own = |request: &String| {
        let address = request.split(' ').next_back().unwrap_or_default();
        address == origin || address.starts_with(peer.url())
    };
    let strange: Vec<_> = asked.iter().filter(|request| !is_own(request)).collect();
    assert!(
        refused == json!([]) && strange.is_empty(),
        "the peer asks other hosts: {refused} {strange:?}"
    );
    let missing = peer.missing();
    assert!(missing.is_empty(), "the peer asks in vain for {missing:?}");
    choice
}

/// A browser with an empty cache, as slow as promised, with a script that runs before every page.
async fn slow_phone(note: &str) -> Browser {
    let browser = Browser::open_alone(Engine::Chromium, BrowserOptions::default()).await;
    browser.run_before_every_page(note).await;
    browser.set_viewport(SCREEN.0, SCREEN.1).await;
    browser.throttle().await;
    pause(STARTED).await;
    browser
}

/// Milliseconds from the start of this page or frame.
async fn timestamp(browser: &Browser, name: &str) -> Option<u64> {
    let script = format!("return seen.{name} ? Math.round(seen.{name}) : null");
    browser.evaluate(&script).await.as_u64()
}

/// When its page or frame began, in milliseconds of the clock.
async fn origin(browser: &Browser) -> u64 {
    let origin = browser
        .evaluate("return Math.round(performance.timeOrigin)")
        .await;
    origin.as_u64().expect("every page has begun")
}

async fn requests(browser: &Browser) -> Vec<String> {
    let list = browser
        .evaluate("return [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
                .map(({ name, startTime, responseEnd }) =>
                    `${String(Math.round(startTime)).padStart(5)} – ${String(Math.round(responseEnd)).padStart(4)} ms  ${new URL(name).pathname}`)")
        .await;
    let lines = list.as_array().into_iter().flatten();
    lines.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The middle one, then the least and the most.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn median(mut times: Vec<u64>) -> [u64; 3] {
    times.sort_unstable();
    [times[times.len() / 2], times[0], times[times.len() - 1]]
}

#[derive(Clone, Copy, Debug)]
pub struct Product {
    /// The folder in `tests/peers`, and among the bundles.
    pub folder: &'static str,
    pub package: &'static str,
    /// The least ratio of its time to ours, in hundredths: below it the bench fails.
    pub promised: u64,
}

pub const PRODUCTS: [Product; 2] = [
    Product {
        folder: "bitcoin-connect",
        package: "@getalby/bitcoin-connect",
        promised: 148,
    },
    Product {
        folder: "adyen",
        package: "@adyen/adyen-web",
        promised: 124,
    },
];

impl Product {
    /// The version that `tests/peers/package.json` pins.
    ///
    /// # Panics
    /// It pins none.
    pub fn version(&self) -> String {
        let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/package.json");
        let list = fs::read_to_string(list).expect("the list is part of the repository");
        let list: Value = serde_json::from_str(&list).expect("the list is JSON");
        let version = list["devDependencies"][self.package].as_str();
        version
            .unwrap_or_else(|| panic!("{} has no version", self.package))
            .to_owned()
    }

    /// Its time over ours in hundredths, rounded down, and whether that is what is promised. Both times in one unit.
    ///
    /// # Panics
    /// Ours is zero.
    pub fn ratio(&self, theirs: u64, ours: u64) -> (u64, bool) {
        let hundredths = theirs * 100 / ours;
        (hundredths, hundredths >= self.promised)
    }
}

/// A peer's page, served on a separate port until dropped.
#[derive(Debug)]
pub struct Peer {
    _server: LocalServer,
    url: String,
    choice: String,
    files: Arc<Files>,
}

#[derive(Debug)]
struct Files {
    page: String,
    /// By name, compressed with brotli.
    assets: BTreeMap<String, Vec<u8>>,
    responses: BTreeMap<String, Value>,
    missing: Mutex<Vec<String>>,
}

impl Peer {
    /// Serves a bundle: a folder with `page.html`, `choice.js`, `responses.json`, and `assets/<name>.br`.
    ///
    /// # Panics
    /// One of them is missing.
    pub async fn open(bundle: &Path) -> Self {
        let read = |name: &str| {
            let path = bundle.join(name);
            let text = fs::read_to_string(&path);
            text.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        let assets = fs::read_dir(bundle.join("assets")).expect("a bundle has assets");
        let assets = assets.map(|entry| {
            let entry = entry.expect("the bundle is readable");
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = name.strip_suffix(".br").expect("assets are compressed");
            let content = fs::read(entry.path()).expect("the bundle is readable");
            (name.to_owned(), content)
        });
        let files = Arc::new(Files {
            page: read("page.html"),
            assets: assets.collect(),
            responses: serde_json::from_str(&read("responses.json")).expect("answers are JSON"),
            missing: Mutex::default(),
        });
        let routes = Router::new()
            .fallback(response)
            .with_state(Arc::clone(&files));
        let server = LocalServer::start(routes).await;
        Self {
            url: format!("{}/", server.url),
            _server: server,
            choice: read("choice.js"),
            files,
        }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// A function of the page, in JavaScript: `true` when something can be chosen.
    pub fn choice(&self) -> &str {
        &self.choice
    }

    pub fn missing(&self) -> Vec<String> {
        let missing = self.files.missing.lock();
        missing.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The page's own origin alone.
const POLICY: &str = "default-src 'self' 'unsafe-inline' data: blob:";
/// As the proxy has it for its own assets.
const FOR_A_YEAR: &str = "public, max-age=31536000, immutable";
/// What is no part of the choice: pictures beside it, and frames for later.
const PICTURE: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"26\"/>";
const FRAME: &str = "<!doctype html><html lang=\"en\"><title>Frame</title>";

async fn response(State(files): State<Arc<Files>>, uri: Uri) -> Response {
    let path = uri.path();
    if path == "/" {
        let headers = [
            (CONTENT_SECURITY_POLICY, POLICY),
            (CONTENT_TYPE, content_type("html")),
        ];
        return (headers, files.page.clone()).into_response();
    }
    if let Some(response) = files.responses.get(path) {
        let headers = [(CONTENT_TYPE, content_type("json"))];
        return (headers, response.to_string()).into_response();
    }
    let ending = path.rsplit('.').next().unwrap_or_default();
    let name = path.strip_prefix("/assets/");
    if let Some(content) = name.and_then(|name| files.assets.get(name)) {
        let headers = [
            (CONTENT_TYPE, content_type(ending)),
            (CONTENT_ENCODING, "br"),
            (CACHE_CONTROL, FOR_A_YEAR),
        ];
        return (headers, content.clone()).into_response();
    }
    match ending {
        "svg" => ([(CONTENT_TYPE, content_type(ending))], PICTURE).into_response(),
        "html" => ([(CONTENT_TYPE, content_type(ending))], FRAME).into_response(),
        _ if path == "/favicon.ico" => StatusCode::NO_CONTENT.into_response(),
        _ => {
            let mut missing = files.missing.lock().unwrap_or_else(PoisonError::into_inner);
            missing.push(path.to_owned());
            StatusCode::NOT_FOUND.into_response()
        }
    }
}

fn content_type(ending: &str) -> &'static str {
    match ending {
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "html" => "text/html; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}
