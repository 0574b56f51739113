//! The shops of `examples/`, each installed and started by the commands of its README: one purchase, in each of them;
//! and the npm package: the loader function, the React component, and its example.

use std::fs::{self, File};
use std::net::TcpStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;
use sha2::{Digest as _, Sha384};
use support::{
    Browser, Delivery, Folder, NpmProject, React, StoreSite, World, free_port, install_copy, pause,
    secrets, within,
};
use tokio::net::TcpListener;

use crate::helpers::{choose_asset, end};

/// How long a build and a start may take.
const BOUND: Duration = Duration::from_mins(5);

/// A started shop. Its processes are killed when it is dropped.
struct Front {
    folder: Folder,
    url: String,
    npm: Child,
}

impl Drop for Front {
    fn drop(&mut self) {
        let group = format!("-{}", self.npm.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.npm.wait();
        if std::thread::panicking() {
            println!("what the shop printed:\n{}", self.printed());
        }
    }
}

impl Front {
    async fn start(example: &str, port: u16, proxy_url: &str) -> Self {
        let folder = install_copy(&format!("examples/{example}"));
        let shop = folder.file("examples").join(example);
        // The build checks the element's types, in templates and in this file.
        let types = format!("packages/florin/tests/types/{example}.ts");
        if folder.file(&types).exists() {
            fs::copy(folder.file(&types), shop.join("src/types.ts")).unwrap();
        }
        let output = File::create(folder.file("output")).unwrap();
        let url = format!("http://127.0.0.1:{port}");
        let mut npm = Command::new("npm");
        npm.arg("start")
            .current_dir(shop)
            .env("PORT", port.to_string())
            .env("ORIGIN", &url)
            .env("FLORIN_URL", proxy_url)
            .env("FLORIN_SECRET_KEY", secrets::STORE_KEY)
            .env("WEBHOOK_SECRET", secrets::WEBHOOK)
            .env("NEXT_TELEMETRY_DISABLED", "1")
            .stdin(Stdio::null())
            .stderr(output.try_clone().unwrap())
            .stdout(output)
            .process_group(0);
        let npm = npm.spawn().unwrap();
        let front = Self { folder, url, npm };
        let up = within(BOUND, async || TcpStream::connect(("127.0.0.1", port)).ok()).await;
        assert!(up.is_some(), "{example} does not listen");
        front
    }

    fn printed(&self) -> String {
        fs::read_to_string(self.folder.file("output")).unwrap()
    }

    fn shipped(&self) -> usize {
        self.printed().matches(" is shipped").count()
    }

    /// Passes a delivery of the proxy on, with this signature. Returns the status of the response.
    async fn deliver(&self, world: &World, delivery: &Delivery, signatures: &str) -> u16 {
        let request = world.http().post(format!("{}/florin", self.url));
        let request = request
            .header("content-type", "application/json")
            .header("webhook-id", &delivery.id)
            .header("webhook-timestamp", delivery.timestamp)
            .header("webhook-signature", signatures)
            .body(delivery.bytes.clone());
        request.send().await.unwrap().status().as_u16()
    }

    async fn deliver_all(&self, world: &World, order: &str) {
        world.wait_for_deliveries().await;
        for delivery in world.webhooks.accepted(order) {
            let status = self.deliver(world, &delivery, &delivery.signatures).await;
            assert_eq!(status, 204, "{}", delivery.kind);
        }
    }
}

/// A customer pays half, then the rest. The shop ships once, when a signed webhook says that the order is paid.
async fn sells(example: &str) {
    let port = free_port();
    let origin = format!("http://127.0.0.1:{port}");
    let world = World::with(|config| config.origins = vec![origin]).await;
    let front = Front::start(example, port, &world.proxy_url()).await;
    let browser = Browser::open().await;
    browser.goto(&front.url).await;
    browser.press("buy").await;
    browser.wait_for_text("state", "Not paid yet.").await;
    browser.enter_checkout().await;
    let checkout = choose_asset(&world, &browser, "LTC").await;
    let order = checkout.order.as_str();
    world.sandbox().settle(&checkout, "half").await;
    browser.wait_for("status-underpaid").await;
    front.deliver_all(&world, order).await;
    assert_eq!(front.shipped(), 0, "half of the price");
    world.sandbox().settle(&checkout, "rest").await;
    browser.wait_for("status-paid").await;
    world.wait_for_deliveries().await;
    let deliveries = world.webhooks.accepted(order);
    let paid = deliveries
        .iter()
        .find(|delivery| delivery.kind == "order.paid");
    let forged = "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let status = front.deliver(&world, paid.unwrap(), forged).await;
    assert_eq!((status, front.shipped()), (400, 0), "a forged webhook");
    front.deliver_all(&world, order).await;
    front.deliver_all(&world, order).await;
    assert_eq!(front.shipped(), 1, "delivered twice, shipped once");
    browser.leave_checkout().await;
    browser.reload().await;
    browser
        .wait_for_text("state", "Your mug is on its way.")
        .await;
    drop(front);
    end(world, browser).await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn a_shop_of_plain_html_and_node_sells() {
    sells("node").await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn a_shop_in_next_sells() {
    sells("next").await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn a_shop_in_vue_sells() {
    sells("vue").await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn a_shop_in_sveltekit_sells() {
    sells("sveltekit").await;
}

/// A replacement of florin.js: an element that dispatches an error at once, as with invalid attributes.
const STAND_IN: &str = "customElements.define('florin-checkout', class extends HTMLElement {
    connectedCallback() {
        queueMicrotask(() => this.dispatchEvent(new CustomEvent('florin-error', { detail: { code: 'at_once' } })));
    }
});";

/// The example, rendered on a server and hydrated in the browser, sells a book.
async fn check_example_sells(react: React) {
    let project = NpmProject::with(react);
    project.copy("example");
    if react == React::V19 {
        assert_eq!(project.type_errors(&["--project", "."]), "");
    }
    let (site, world) = World::with_site().await;
    let florin = format!("{}/florin.js", world.proxy_url());
    project.write(
        "src/florin.ts",
        &format!("export const FLORIN = '{florin}';"),
    );
    project.bundle("src/browser.tsx", "build/browser.js", &["--format=esm"]);
    project.bundle("src/render.tsx", "build/render.cjs", &["--platform=node"]);
    let page = project.run("build/render.cjs");
    let address = format!("{}/pay?store=demo&amp;product=ebook", world.proxy_url());
    let frame = format!(
        "<iframe src=\"{address}\" title=\"Checkout\" allow=\"clipboard-write\"></iframe></florin-checkout>"
    );
    assert!(page.contains(&frame), "{page}");
    site.serve_page(&page);
    let script = std::fs::read_to_string(project.file("build/browser.js")).unwrap();
    site.set_script("browser.js", Some(&script));

    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    browser.enter_checkout().await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    world.sandbox().settle(&checkout, "exact").await;
    browser.wait_for("status-paid").await;
    browser.leave_checkout().await;
    let thanks = format!("Order {} is paid", checkout.order);
    browser.wait_for_text("message", &thanks).await;
    // React warns about every difference from the server's markup.
    assert_eq!(browser.console_warnings().await, [""; 0]);
    end(world, browser).await;
}

#[tokio::test]
async fn a_server_rendered_shop_in_react_19_sells() {
    check_example_sells(React::V19).await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn a_server_rendered_shop_in_react_18_sells() {
    check_example_sells(React::V18).await;
}

/// A page with this bundled program and nothing else.
async fn page_with(react: React, program: &str) -> (StoreSite, Browser) {
    let project = NpmProject::with(react);
    project.write("page.jsx", program);
    project.bundle("page.jsx", "page.js", &["--format=esm"]);
    let script = std::fs::read_to_string(project.file("page.js")).unwrap();
    let site = StoreSite::open().await;
    site.set_script("page.js", Some(&script));
    site.serve(
        "",
        "<div id=\"root\"></div><script type=\"module\" src=\"page.js\"></script>",
    );
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    wait_until_started(&browser).await;
    (site, browser)
}

async fn wait_until_started(browser: &Browser) {
    let started = "return window.started";
    browser.wait_until("the page has started", started).await;
}

async fn start_again(browser: &Browser) {
    browser.reload().await;
    wait_until_started(browser).await;
}

/// Received events are in `received`. `sets` renders other properties, or no checkout, synchronously; `renders` leaves the
/// timing to React.
const SHOP: &str = "
    import { StrictMode, createRef } from 'react';
    import { flushSync } from 'react-dom';
    import { createRoot } from 'react-dom/client';
    import { FlorinCheckout } from 'florin/react';
    const root = createRoot(document.getElementById('root'));
    window.received = [];
    window.checkout = createRef();
    const shop = (name, properties) => properties && <StrictMode>
      <FlorinCheckout ref={checkout} store='demo' product='ebook' {...properties}
        onPaid={(event) => received.push(`${name}: ${event.type} ${event.detail.order_id}`)}
        onError={(event) => received.push(`${name}: ${event.type} ${event.detail.code}`)}>
        <p data-testid='loading'>Loading</p>
      </FlorinCheckout></StrictMode>;
    window.sets = (...all) => flushSync(() => root.render(shop(...all)));
    window.renders = (...all) => root.render(shop(...all));
    window.pays = (element, order_id) => element.dispatchEvent(new CustomEvent('florin-paid', { detail: { order_id } }));
    window.started = true;";

#[tokio::test]
async fn a_component_calls_its_latest_handlers_and_none_after_unmount() {
    for react in [React::V18, React::V19] {
        let (_site, browser) = page_with(react, SHOP).await;
        let script = "
            sets('first', { quantity: 2 });
            const element = checkout.current;
            pays(element, 'a');
            sets('second', { quantity: 3 });
            pays(element, 'b');
            const seen = [element.localName, element === checkout.current, element.getAttribute('quantity')];
            sets('none', null);
            pays(element, 'c');
            return [received, seen, checkout.current];";
        let announcements = json!(["first: florin-paid a", "second: florin-paid b"]);
        let seen = json!(["florin-checkout", true, "3"]);
        assert_eq!(
            browser.evaluate(script).await,
            json!([announcements, seen, null]),
            "{react:?}"
        );
        browser.end().await;
    }
}

#[tokio::test]
async fn a_component_without_its_script_shows_it_and_retries_while_it_is_mounted() {
    let (site, browser) = page_with(React::V19, SHOP).await;
    let sets = "sets('shop', { src: '/florin.js' })";
    browser.evaluate(sets).await;
    let words = "return checkout.current.textContent";
    let missing = "The checkout could not be loaded. Trying again…";
    browser
        .wait_for_result("the sentence", words, missing)
        .await;
    let announcements = browser.evaluate("return received").await;
    assert_eq!(announcements, json!(["shop: florin-error load_failed"]));
    let own_words = "sets('shop', { src: '/florin.js', failure: 'Write to us.' })";
    browser.evaluate(own_words).await;
    assert_eq!(browser.evaluate(words).await, "Write to us.");
    site.set_script("florin.js", Some(STAND_IN));
    let there =
        "return checkout.current.matches(':defined') && checkout.current.textContent === 'Loading'";
    browser.wait_until("the checkout is shown", there).await;

    site.set_script("florin.js", None);
    start_again(&browser).await;
    browser.evaluate(sets).await;
    let is_missing = "return received.length === 1";
    browser
        .wait_until("the script is missing", is_missing)
        .await;
    browser.evaluate("sets('none', null)").await;
    site.set_script("florin.js", Some(STAND_IN));
    // Time for a retry that must not happen: the first comes after 2 seconds.
    pause(Duration::from_millis(2500)).await;
    let defined = "return customElements.get('florin-checkout') !== undefined";
    assert_eq!(browser.evaluate(defined).await, false);

    // An invalid attribute is reported in the same task in which the element is connected.
    start_again(&browser).await;
    let script = format!("{STAND_IN} renders('first', {{}});");
    browser.evaluate(&script).await;
    let first = json!(["first: florin-error at_once"]);
    browser
        .wait_for_result("the first event", "return received", first)
        .await;
    browser.end().await;
}

/// `loads` returns the error, or whether the result is the element's class; `tags` counts the scripts in the page.
const LOADER: &str = "
    import { loadFlorin } from 'florin';
    window.loads = (url, options) => loadFlorin(url, options).then(
      (loaded) => loaded === customElements.get('florin-checkout'),
      (error) => error.message);
    window.tags = () => document.querySelectorAll('head script').length;
    window.started = true;";

#[tokio::test]
async fn a_script_is_loaded_once_and_a_load_error_names_the_reason_and_can_be_retried() {
    let (site, browser) = page_with(React::V19, LOADER).await;
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = format!("http://{}/florin.js", silent.local_addr().unwrap());
    let url = site.url();
    site.set_script("other.js", Some("window.other = true;"));
    let missing = format!(
        "{url}/florin.js could not be loaded. Open it in a browser: the proxy answers there, or the address is wrong. \
         If it answers, this page's Content-Security-Policy needs script-src {url}."
    );
    let other =
        format!("{url}/other.js defines no <florin-checkout>: it is not the script of a proxy.");
    for (call, why) in [
        (
            "'http://'",
            "http:// is no address. Name the script of your proxy, like https://pay.shop.example/florin.js.",
        ),
        ("'/florin.js'", &missing),
        ("'/other.js'", &other),
        (
            &format!("'{silent}', {{ timeoutMs: 300 }}"),
            &format!("{silent} did not arrive within 0.3 seconds."),
        ),
    ] {
        let text = browser.evaluate(&format!("return loads({call})")).await;
        assert_eq!(text, format!("florin: {why}"));
        assert_eq!(browser.evaluate("return tags()").await, 0, "{why}");
    }
    site.set_script("florin.js", Some(STAND_IN));
    let again = browser.evaluate("return loads('/florin.js')").await;
    assert_eq!(again, true);

    // It is loaded once, and from one proxy.
    start_again(&browser).await;
    let script = "
        const twice = [loads('/florin.js'), loads(new URL('/florin.js', location))];
        return Promise.all([...twice, loads('https://other.example/florin.js')])
            .then(async (all) => [...all, await loads('/florin.js'), tags()]);";
    let refused = format!(
        "florin: this page has its checkout from {url}/florin.js, and can have none from \
         https://other.example/florin.js beside it."
    );
    let responses = browser.evaluate(script).await;
    assert_eq!(responses, json!([true, true, refused, true, 1]));

    // An element that is already defined is returned.
    start_again(&browser).await;
    let script =
        format!("{STAND_IN} return loads('/florin.js').then((loaded) => [loaded, tags()])");
    let response = browser.evaluate(&script).await;
    assert_eq!(response, json!([true, 0]));
    browser.end().await;
}

/// With the real script of a real proxy, which allows any page to check its integrity.
#[tokio::test]
async fn a_strict_page_loads_the_script_by_nonce_and_checks_it() {
    let (site, browser) = page_with(React::V19, LOADER).await;
    let world = World::start().await;
    site.serve(
        "script-src 'nonce-r4nd0m'",
        "<script type=\"module\" src=\"page.js\" nonce=\"r4nd0m\"></script>",
    );
    let florin = format!("{}/florin.js", world.proxy_url());
    let loader = world.http().get(&florin).send().await.unwrap();
    let digest = Sha384::digest(loader.bytes().await.unwrap());
    let right = format!("sha384-{}", BASE64_STANDARD.encode(digest));
    let wrong = format!("sha384-{}", BASE64_STANDARD.encode([7; 48]));
    browser.reload().await;
    let loads = "return loads(arguments[0], arguments[1])";
    for options in [
        json!({}),
        json!({ "nonce": "other" }),
        json!({ "nonce": "r4nd0m", "integrity": wrong }),
    ] {
        let refused = browser
            .evaluate_with(loads, &[json!(florin), options.clone()])
            .await;
        let refused = refused.as_str().expect("the error has a message");
        assert!(refused.contains("Content-Security-Policy"), "{refused}");
        let blames = refused.contains("the integrity says");
        assert_eq!(blames, options["integrity"].is_string(), "{refused}");
    }
    let options = json!({ "nonce": "r4nd0m", "integrity": right });
    assert_eq!(
        browser
            .evaluate_with(loads, &[json!(florin), options])
            .await,
        true
    );
    end(world, browser).await;
}
