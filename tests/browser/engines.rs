//! A payment in each browser engine, in a shop of another site. Tests share running browsers, but no state of them.

use std::fs::{self, File};
use std::process::Command;

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, BrowserPool, Engine, Folder, StoreSite, World, eventually};

use crate::helpers::{another_site, choose_asset, wait_for_confirmations};

/// A shop page that shows the checkout and records its events.
async fn shop(display: &str) -> (StoreSite, World, String) {
    let (site, world, url) = another_site().await;
    let proxy = world.proxy_url();
    // Only what allows it is shown on such a page.
    site.set_header("cross-origin-embedder-policy", "require-corp");
    site.serve(
        "",
        &format!(
            "<script>
                window.announced = [];
                addEventListener('florin-status', event => announced.push(event.detail.status));
                addEventListener('florin-paid', () => announced.push('paid event'));
            </script>
            <script src=\"{proxy}/florin.js\" async></script>
            <h1>A shop</h1>
            <florin-checkout store=\"demo\" product=\"mug\" display=\"{display}\"></florin-checkout>"
        ),
    );
    (site, world, url)
}

fn attempt(view: &Value, member: &str) -> String {
    view["attempt"][member].as_str().unwrap().to_owned()
}

/// Buys, from the asset choice to the button back to the shop.
async fn buy(world: &World, browser: &Browser) {
    let checkout = choose_asset(world, browser, "BTC").await;
    let view = checkout.view().await;
    assert_eq!(browser.text("address").await, attempt(&view, "address"));
    let amount = attempt(&view, "amount_in_crypto");
    assert_eq!(browser.text("amount").await, amount);
    assert_eq!(browser.scan("qr").await, attempt(&view, "qr_string"));
    browser.press("i-have-paid").await;
    browser.wait_for("status-checking").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    browser.wait_for("status-processing").await;
    wait_for_confirmations(browser, "1 of 3").await;
    world.sandbox().mine(2).await;
    browser.wait_for("status-paid").await;
}

/// As most customers have it; other tests save the time.
const WITH_MOTION: BrowserOptions = BrowserOptions {
    size: (1280, 1000),
    dark: false,
    motion: true,
    ratio: 1.0,
};

async fn in_a_frame(engine: Engine) {
    let (_site, world, url) = shop("frame").await;
    let browser = Browser::open_engine(engine, WITH_MOTION).await;
    browser.goto(&url).await;
    browser.enter_checkout().await;
    buy(&world, &browser).await;
    browser.leave_checkout().await;
    eventually("the shop's page got the event", async || {
        let announced = browser.evaluate("return window.announced", &[]).await;
        let ends_well = announced
            .as_array()?
            .ends_with(&[json!("paid"), json!("paid event")]);
        ends_well.then_some(())
    })
    .await;
    browser.enter_checkout().await;
    browser.press("return").await;
    browser.leave_checkout().await;
    eventually("the customer is back in the shop", async || {
        let place = browser.evaluate("return location.href", &[]).await;
        let thanks = format!("{}/thanks?", world.shop_url());
        place.as_str()?.starts_with(&thanks).then_some(())
    })
    .await;
    browser.end().await;
    world.end().await;
}

async fn inline(engine: Engine) {
    let (_site, world, url) = shop("inline").await;
    let browser = Browser::open_engine(engine, WITH_MOTION).await;
    browser.goto(&url).await;
    buy(&world, &browser).await;
    let frames = "return document.querySelector('florin-checkout').shadowRoot.querySelectorAll('iframe').length";
    assert_eq!(browser.evaluate(frames, &[]).await, 0);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn an_order_is_paid_in_chromium_in_a_frame_of_another_site() {
    in_a_frame(Engine::Chromium).await;
}

#[tokio::test]
async fn an_order_is_paid_in_firefox_in_a_frame_of_another_site() {
    in_a_frame(Engine::Firefox).await;
}

#[tokio::test]
async fn an_order_is_paid_in_webkit_in_a_frame_of_another_site() {
    in_a_frame(Engine::WebKit).await;
}

#[tokio::test]
async fn an_order_is_paid_in_firefox_inline() {
    inline(Engine::Firefox).await;
}

#[tokio::test]
async fn an_order_is_paid_in_webkit_inline() {
    inline(Engine::WebKit).await;
}

/// A failing test only drops its browser.
#[tokio::test]
async fn a_dropped_browser_leaves_no_process() {
    for engine in Engine::ALL {
        let browser = Browser::open_alone(engine, BrowserOptions::default()).await;
        browser.goto("data:text/html,<h1>Hello</h1>").await;
        let running = browser.processes();
        // The driver, the browser, and at least one renderer.
        assert!(running().len() > 2, "{engine:?}: {:?}", running());
        drop(browser);
        eventually(&format!("all processes of {engine:?} end"), async || {
            running().is_empty().then_some(())
        })
        .await;
    }
}

/// Leaves every kind of state in the storage of the origin and in the browser.
const LEAVE: &str = "
    const done = arguments[0];
    document.cookie = 'left=1';
    localStorage.left = 1;
    sessionStorage.left = 1;
    window.name = 'left';
    const stored = new Promise((done) => {
        const opening = indexedDB.open('left');
        opening.onsuccess = done;
    });
    Promise.all([
        stored,
        caches.open('left'),
        navigator.storage.getDirectory().then((folder) => folder.getFileHandle('left', { create: true })),
        navigator.clipboard.writeText('left'),
    ]).then(() => done('left'), (error) => done(`${error}`));";

/// Returns the names of state that a new browser does not have.
const FIND: &str = "
    const done = arguments[0];
    const files = async () => (await Array.fromAsync((await navigator.storage.getDirectory()).keys())).length;
    Promise.all([indexedDB.databases(), caches.keys(), files(), navigator.clipboard.readText()])
        .then(([databases, caches, files, clipboard]) => done(Object.entries({
            cookie: document.cookie,
            localStorage: localStorage.length,
            sessionStorage: sessionStorage.length,
            name: window.name,
            history: history.length > 2,
            databases: databases.length,
            caches: caches.length,
            files,
            clipboard: clipboard.includes('left'),
            script: window.left,
            offline: !navigator.onLine,
            touch: navigator.maxTouchPoints,
            paper: matchMedia('print').matches,
            dark: matchMedia('(prefers-color-scheme: dark)').matches,
            motion: !matchMedia('(prefers-reduced-motion: reduce)').matches,
            screen: outerWidth !== 1280 || outerHeight !== 1000 || devicePixelRatio !== 1,
        }).filter(([, found]) => found).map(([name]) => name)), (error) => done(`${error}`));";

#[tokio::test]
async fn a_test_finds_no_state_of_the_previous_test_in_the_same_browser() {
    static POOL: BrowserPool = BrowserPool::new();
    let site = StoreSite::open().await;
    site.serve("", "<h1>A page</h1>");
    let night = BrowserOptions {
        size: (700, 800),
        dark: true,
        motion: true,
        ratio: 1.0,
    };
    let browser = Browser::open_from(&POOL, night).await;
    let first = (browser.processes())()[0];
    browser.goto(site.url()).await;
    let left = browser.evaluate_async(LEAVE, &[]).await;
    assert_eq!(left, "left");
    let found = browser.evaluate_async(FIND, &[]).await;
    let found = found.as_array().expect("a list").len();
    assert!(found >= 10, "a page notices what is left: {found}");
    browser.run_before_every_page("window.left = 1").await;
    browser.evaluate("console.error('left')", &[]).await;
    browser.emulate(night).await;
    browser
        .emulate_media("prefers-reduced-motion", "no-preference")
        .await;
    browser.emulate_touch().await;
    browser.emulate_print(true).await;
    browser.set_offline(true).await;
    // Last, because the new window takes the focus.
    browser
        .evaluate("window.open('about:blank', 'another')", &[])
        .await;
    browser.end().await;

    let browser = Browser::open_from(&POOL, BrowserOptions::default()).await;
    assert_eq!((browser.processes())()[0], first, "the same browser");
    assert_eq!(browser.console_warnings().await, [""; 0]);
    assert_eq!(
        browser.evaluate("return location.href", &[]).await,
        "about:blank"
    );
    browser.goto(site.url()).await;
    assert_eq!(browser.evaluate_async(FIND, &[]).await, json!([]));
    assert_eq!(browser.console_warnings().await, [""; 0]);
    browser.end().await;
}

#[tokio::test]
async fn a_browser_that_crashed_is_replaced() {
    static POOL: BrowserPool = BrowserPool::new();
    let browser = Browser::open_from(&POOL, BrowserOptions::default()).await;
    let running = browser.processes();
    let first = running();
    browser.end().await;
    // The driver is the first process; it stays and has not noticed yet.
    let chromium = first[1].to_string();
    let killed = Command::new("kill").args(["-KILL", &chromium]).status();
    assert!(killed.unwrap().success());

    let browser = Browser::open_from(&POOL, BrowserOptions::default()).await;
    assert_ne!((browser.processes())()[0], first[0], "another browser");
    browser.goto("data:text/html,<h1>Hello</h1>").await;
    assert_eq!(
        browser
            .evaluate("return document.body.textContent", &[])
            .await,
        "Hello"
    );
    browser.end().await;
    eventually("nothing is left of the first", async || {
        running().is_empty().then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_browser_of_a_failed_test_is_not_reused() {
    static POOL: BrowserPool = BrowserPool::new();
    let browser = Browser::open_from(&POOL, BrowserOptions::default()).await;
    let running = browser.processes();
    let first = running();
    drop(browser);
    let browser = Browser::open_from(&POOL, BrowserOptions::default()).await;
    assert_ne!((browser.processes())()[0], first[0], "another browser");
    browser.end().await;
    eventually("nothing is left of the first", async || {
        running().is_empty().then_some(())
    })
    .await;
}

/// The browsers of a pool wait for the next test; the end of the process is not announced to them.
#[tokio::test]
async fn no_browser_outlives_the_test_process() {
    let (folder, others) = (Folder::new(), Folder::new());
    let log = others.file("log");
    let one = "engines::a_browser_of_a_failed_test_is_not_reused";
    let tests = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", one])
        .env("TMPDIR", folder.path())
        .stdout(File::create(&log).unwrap())
        .status();
    let log = fs::read_to_string(log).unwrap();
    assert!(
        tests.unwrap().success() && log.contains("1 passed"),
        "{log}"
    );
    eventually("its browser has ended, its folder is gone", async || {
        let left = fs::read_dir(folder.path()).unwrap().count();
        (left == 0 && !is_named_in_a_process(folder.path().to_str().unwrap())).then_some(())
    })
    .await;
}

/// Returns `true` if the command line of any process contains this text.
fn is_named_in_a_process(text: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut commands = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    commands.any(|command| String::from_utf8_lossy(&command).contains(text))
}
