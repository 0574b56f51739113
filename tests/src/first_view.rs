//! Measures how long a customer waits for an uncached checkout on a slow line and a slow phone.
//!
//! Every run starts a new browser with an empty cache. Measured is the time until the first frame with the element is drawn: the
//! task after that frame's callbacks, 1 to 38 ms after Chromium's first paint. The next frame's callback came up to 107 ms
//! after it. No script is evaluated before, because it would take processor time of the page.
//!
//! Peers are pages of other vendors ([`Peer`]), measured in the same way from the navigation on.
//!
//! The screen is a phone's. The line is that of Chromium's developer tools: each request waits 150 ms, all responses
//! together come at 1.6 Mbit/s; opening a connection costs nothing. A frame of another site is as slow: it waits until the
//! debugger has reached its process, which takes up to 0.1 s of its time.
//!
//! `cargo xtask bench` bundles each peer from npm; `tests/peers/README.md` describes the files. They are served as ours are:
//! compressed with brotli beforehand, and cached for a year. What the maker's and the shop's servers would answer is canned. The
//! page's policy admits the page's origin alone, so that no request leaves this machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::browser::{Browser, BrowserOptions, Engine};
use crate::local_server::{LocalServer, StoreSite};
use crate::wait::{eventually, pause};
use crate::world::World;
use crate::world::secrets::new_reference;

/// Notes, in milliseconds since the start of the page or frame, when the loader ran, and when skeleton, choice and address
/// could be seen. It presses an asset in the first frame that shows it.
const NOTE: &str = r#"
    window.seen = {};
    customElements.whenDefined('florin-checkout').then(() => (seen.loader = performance.now()));
    const find = (at, what) => at.shadowRoot?.querySelector(what);
    const parts = {
        skeleton: at => at.offsetHeight && (find(at, '.fl-wait, [aria-busy="true"]') || at.matches(':not(:defined)') && getComputedStyle(at).backgroundImage !== 'none'),
        choice: at => find(at, '[data-testid^="asset-"]')?.offsetHeight,
        address: at => find(at, '[data-testid="address"]')?.offsetHeight && find(at, '.qr path'),
    };
    const afterFrame = (note) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = note;
        port2.postMessage(0);
    };
    const look = () => {
        const at = document.querySelector('florin-checkout');
        for (const name in parts) {
            if (name in seen || !at || !parts[name](at)) continue;
            seen[name] = null;
            afterFrame(() => {
                seen[name] = performance.now();
                if (name === 'choice') find(at, '[data-testid="asset-BTC"]').click();
            });
        }
        if (!seen.address) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
"#;

/// The same for a peer, and what the policy of its page refused.
const NOTE_OF_A_PEER: &str = r"
    window.seen = { refused: [] };
    addEventListener('securitypolicyviolation', ({ blockedURI }) => seen.refused.push(blockedURI));
    const afterFrame = (note) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = note;
        port2.postMessage(0);
    };
    const look = () => {
        if (isChoice()) afterFrame(() => (seen.choice = performance.now()));
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
    /// [`Page::Tag`] of a proxy that has no prices yet.
    ColdPrices,
    /// A shop's page whose tag carries its frame.
    Tag,
    /// A shop's page with the tag of two lines, whose loader inserts the frame.
    Frame,
    /// [`Page::Tag`] of a shop on another site than the proxy, as most are: its frame has a separate process.
    TagOtherSite,
    /// [`Page::Frame`] of such a shop.
    FrameOtherSite,
    /// [`Page::Frame`] with an order that the store signed.
    OrderToken,
    /// The checkout's own page.
    Checkout,
    /// A shop's page with the checkout in it, from the loader's first line on.
    Inline,
}

impl Page {
    /// In this order: the first leaves prices to the others.
    pub const ALL: [Self; 8] = [
        Self::ColdPrices,
        Self::Tag,
        Self::Frame,
        Self::TagOtherSite,
        Self::FrameOtherSite,
        Self::OrderToken,
        Self::Checkout,
        Self::Inline,
    ];
}

/// Milliseconds from the page's address on; of [`Page::Inline`] from the loader's first line on.
#[derive(Clone, Debug)]
pub struct Timings {
    /// Until the skeleton is on the screen, or the choice where none comes before it.
    pub skeleton: u64,
    /// Until the choice of assets is on the screen.
    pub choice: u64,
    /// From a press on an asset, in the first frame that shows it, until address and code are on the screen.
    pub address: u64,
    /// Every request of the page or frame with the checkout: when it began, when its response was there, and its path.
    pub requests: Vec<String>,
}

/// Measures once. `site` is a page of the store's.
pub async fn measure(page: Page, world: &World, site: &StoreSite) -> Timings {
    let is_other_site = matches!(page, Page::TagOtherSite | Page::FrameOtherSite);
    let browser = slow_phone(NOTE, is_other_site).await;
    site.serve("", &shop_page(page, world));
    let url = match page {
        Page::Checkout => world.checkout_page(),
        _ if is_other_site => site.url_of_another_site(),
        _ => site.url().to_owned(),
    };
    browser.goto(&url).await;
    pause(UNDISTURBED).await;
    let began = origin(&browser).await;
    let start = match page {
        Page::Inline => timestamp(&browser, "loader").await.expect("a loader runs"),
        _ => 0,
    };
    // A loader draws a skeleton in place of a frame that it inserts.
    let loaders = timestamp(&browser, "skeleton").await;
    if !matches!(page, Page::Checkout | Page::Inline) {
        browser.enter_checkout().await;
    }
    let seen = async |part: &str| {
        let what = format!("the {part} of {page:?} is seen");
        eventually(&what, async || timestamp(&browser, part).await).await
    };
    let (pressed, address) = (seen("choice").await, seen("address").await);
    let frame = origin(&browser).await - began;
    let own = timestamp(&browser, "skeleton").await;
    let skeleton = loaders.or(own.map(|time| frame + time));
    let choice = frame + pressed;
    let timings = Timings {
        skeleton: skeleton.unwrap_or(choice).min(choice) - start,
        choice: choice - start,
        address: address - pressed,
        requests: requests(&browser).await,
    };
    browser.end().await;
    timings
}

fn shop_page(page: Page, world: &World) -> String {
    let proxy = world.proxy_url();
    let token = || world.token_signer().token(&new_reference(), "19.90");
    let attributes = match page {
        Page::OrderToken => format!("order-token=\"{}\"", token()),
        Page::Inline => "product=\"ebook\" display=\"inline\"".to_owned(),
        _ => "product=\"ebook\"".to_owned(),
    };
    let frame = match page {
        Page::ColdPrices | Page::Tag | Page::TagOtherSite => format!(
            "<iframe src=\"{proxy}/pay?store=demo&amp;product=ebook\" title=\"Checkout\" allow=\"clipboard-write\"></iframe>"
        ),
        _ => String::new(),
    };
    format!(
        "<style>florin-checkout > iframe {{ width: 100%; min-height: 740px; border: 0 }}</style>
         <script src=\"{proxy}/florin.js\" async></script>
         <florin-checkout store=\"demo\" {attributes}>{frame}</florin-checkout>"
    )
}

/// Measures a peer once: milliseconds from the navigation to the choice.
///
/// # Panics
/// There is no choice within a bound, a request had no response, or one was for another host.
pub async fn measure_peer(peer: &Peer) -> u64 {
    let note = format!("const isChoice = {};{NOTE_OF_A_PEER}", peer.choice);
    let browser = slow_phone(&note, false).await;
    browser.goto(&peer.url).await;
    pause(UNDISTURBED_PEER).await;
    let choice = eventually("the choice of a peer is seen", async || {
        timestamp(&browser, "choice").await
    })
    .await;
    let refused = browser.evaluate("return seen.refused").await;
    let asked = browser.end_and_list_requests("127.0.0.1").await;
    let origin = peer.url.trim_end_matches('/');
    let is_own = |request: &String| {
        let address = request.split(' ').next_back().unwrap_or_default();
        address == origin || address.starts_with(&peer.url)
    };
    let strange: Vec<_> = asked.iter().filter(|request| !is_own(request)).collect();
    assert!(
        refused == json!([]) && strange.is_empty(),
        "the peer asks other hosts: {refused} {strange:?}"
    );
    let missing = peer.files.missing.lock();
    assert!(missing.is_empty(), "the peer asks in vain for {missing:?}");
    choice
}

/// A browser with an empty cache, as slow as promised, with a script that runs before every page.
async fn slow_phone(note: &str, has_frame_of_another_site: bool) -> Browser {
    let browser = Browser::open_alone(Engine::Chromium, BrowserOptions::default()).await;
    browser.set_viewport(SCREEN.0, SCREEN.1).await;
    if has_frame_of_another_site {
        browser.throttle_with_frames(note).await;
    } else {
        browser.run_before_every_page(note).await;
        browser.throttle().await;
    }
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
}

pub const PRODUCTS: [Product; 2] = [
    Product {
        folder: "bitcoin-connect",
        package: "@getalby/bitcoin-connect",
    },
    Product {
        folder: "adyen",
        package: "@adyen/adyen-web",
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
}

/// A peer's page, served on a separate port until dropped.
#[derive(Debug)]
pub struct Peer {
    _server: LocalServer,
    url: String,
    /// A function of the page, in JavaScript: `true` when something can be chosen.
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
            files.missing.lock().push(path.to_owned());
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
