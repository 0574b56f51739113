//! Diagnostics in a real browser: the reason why a display is blocked is shown as a line to paste, and the next
//! display is used instead; also on shop pages whose scripts have broken built-in functions.

use std::cell::RefCell;
use std::time::Duration;

use serde_json::{Value, json};
use support::{Browser, StoreSite, World, WorldConfig, eventually, within};

use crate::helpers::{page_with, wait_for_value};

/// Texts of the console and the panel.
struct Diagnosis {
    console: String,
    panel: Option<String>,
}

/// The display that is shown in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Frame,
    Link,
}

/// A shop page with a Content-Security-Policy; `P` stands for the proxy's origin.
struct Shop {
    site: StoreSite,
    world: World,
    browser: Browser,
}

impl Shop {
    async fn open(config: WorldConfig, is_listed: bool) -> Self {
        let site = StoreSite::open().await;
        let origins = is_listed.then(|| site.url().to_owned());
        let world = World::start_with(WorldConfig {
            origins: origins.into_iter().collect(),
            ..config
        })
        .await;
        let browser = Browser::open().await;
        Self {
            site,
            world,
            browser,
        }
    }

    async fn open_page(&self, policy: &str, display: &str) {
        let proxy = self.world.proxy_url();
        let page = format!(
            "<script src=\"{proxy}/florin.js\" async></script>\
             <florin-checkout store=\"demo\" product=\"mug\" display=\"{display}\"></florin-checkout>"
        );
        self.site.serve(&policy.replace('P', &proxy), &page);
        self.browser.goto(self.site.url()).await;
    }

    async fn wait_until(&self, shown: Outcome) {
        match shown {
            Outcome::Frame => {
                self.browser.enter_checkout().await;
                self.browser.wait_for("status-open").await;
                self.browser.leave_checkout().await;
            }
            Outcome::Link => {
                eventually("the link to the checkout's own page", async || {
                    let link = "return document.querySelector('florin-checkout')?.shadowRoot?.querySelector('a')?.href";
                    let link = self.browser.evaluate(link, &[]).await;
                    let page = format!("{}/pay?store=demo#", self.world.proxy_url());
                    link.as_str()?.starts_with(&page).then_some(())
                })
                .await;
            }
        }
    }

    /// Waits until the diagnostics contain this line.
    async fn wait_for_value(&self, line: &str) -> Diagnosis {
        let console = RefCell::new(String::new());
        let panel = "return document.querySelector('florin-checkout')?.shadowRoot?.querySelector('[part=diagnostics]')?.textContent ?? null";
        let found = within(Duration::from_secs(45), async || {
            let warnings = self.browser.console_warnings().await.join("\n");
            // The driver writes strings as JSON.
            let warnings = warnings.replace("\\\"", "\"").replace("\\n", "\n");
            let warnings = warnings.replace("\\u003C", "<");
            console.borrow_mut().push_str(&warnings);
            console.borrow().contains(line).then_some(())
        })
        .await;
        let console = console.into_inner();
        assert!(found.is_some(), "{line} is nowhere in {console}");
        let panel = self.browser.evaluate(panel, &[]).await;
        Diagnosis {
            console,
            panel: panel.as_str().map(str::to_owned),
        }
    }

    async fn end(self) {
        self.browser.end().await;
        self.world.end().await;
    }
}

#[tokio::test]
async fn a_missing_csp_directive_is_shown_as_a_line_to_paste() {
    let shop = Shop::open(WorldConfig::default(), true).await;
    for (policy, display, lines, shown) in [
        (
            "default-src 'none'; script-src P; frame-src P; connect-src P",
            "inline",
            &["    script-src P 'wasm-unsafe-eval'"][..],
            Outcome::Frame,
        ),
        (
            "default-src 'none'; script-src P 'wasm-unsafe-eval'; frame-src P",
            "inline",
            &["Add this to it:\n\n    connect-src P"],
            Outcome::Frame,
        ),
        (
            "default-src 'none'; script-src P; frame-src P",
            "inline",
            &["    script-src P 'wasm-unsafe-eval'", "    connect-src P"],
            Outcome::Frame,
        ),
        (
            "default-src 'none'; script-src P; frame-src 'self'",
            "frame",
            &["Change its frame-src to:\n\n    frame-src 'self' P"],
            Outcome::Link,
        ),
        (
            "default-src 'none'; script-src P; child-src 'none'",
            "inline",
            &["    script-src P 'wasm-unsafe-eval'", "    child-src P"],
            Outcome::Link,
        ),
    ] {
        shop.open_page(policy, display).await;
        shop.wait_until(shown).await;
        let proxy = shop.world.proxy_url();
        let mut announcements = String::new();
        for line in lines {
            let line = line.replace('P', &proxy);
            if !announcements.contains(&line) {
                announcements.push_str(&shop.wait_for_value(&line).await.console);
            }
            let pasted = line.rsplit("    ").next().unwrap().to_owned();
            eventually(&format!("{pasted} on the page"), async || {
                let panel = "return document.querySelector('florin-checkout').shadowRoot.querySelector('[part=diagnostics]')?.textContent";
                let panel = shop.browser.evaluate(panel, &[]).await;
                (panel.as_str()?.contains(&pasted) || shown == Outcome::Link).then_some(())
            })
            .await;
        }
    }
    shop.end().await;
}

#[tokio::test]
async fn an_unlisted_origin_is_named_and_a_link_remains() {
    let shop = Shop::open(WorldConfig::default(), false).await;
    for display in ["frame", "inline", "modal"] {
        shop.open_page("", display).await;
        if display == "modal" {
            eventually("the dialog opens", async || {
                let open = "
                    const element = document.querySelector('florin-checkout');
                    element.open?.();
                    return Boolean(element.shadowRoot?.querySelector('dialog')?.open)";
                (shop.browser.evaluate(open, &[]).await == true).then_some(())
            })
            .await;
        }
        shop.wait_until(Outcome::Link).await;
        let line = format!(
            "origins = [\"{}\", \"{}\"]",
            shop.world.shop_url(),
            shop.site.url()
        );
        let diagnosis = shop.wait_for_value(&line).await;
        assert!(
            diagnosis.console.contains("[[store]]"),
            "{}",
            diagnosis.console
        );
        let panel = diagnosis.panel.expect("the test environment shows it");
        assert!(panel.contains(&line), "{panel}");
    }
    let orders = shop.world.store().get("/v1/orders").await.with(200).body;
    assert_eq!(orders["orders"], json!([]));
    shop.end().await;
}

#[tokio::test]
async fn in_production_the_customer_sees_a_message_and_a_link() {
    let production = WorldConfig {
        environment: "production",
        ..WorldConfig::default()
    };
    let shop = Shop::open(production, false).await;
    shop.open_page("", "frame").await;
    shop.wait_until(Outcome::Link).await;
    let line = format!(
        "origins = [\"{}\", \"{}\"]",
        shop.world.shop_url(),
        shop.site.url()
    );
    let diagnosis = shop.wait_for_value(&line).await;
    assert_eq!(diagnosis.panel, None);
    let words = "return document.querySelector('florin-checkout').shadowRoot.textContent";
    let words = shop.browser.evaluate(words, &[]).await;
    assert_eq!(
        words,
        "The checkout couldn’t be loaded.Open the checkout on its own page"
    );
    shop.end().await;
}

#[tokio::test]
async fn an_element_that_swallows_the_rest_of_the_page_is_named() {
    let shop = Shop::open(WorldConfig::default(), true).await;
    let script = format!(
        "<script src=\"{}/florin.js\" async></script>",
        shop.world.proxy_url()
    );
    let element = "<florin-checkout store=\"demo\" product=\"mug\"";
    shop.site
        .serve("", &format!("{script}{element} /><p>Terms</p>"));
    shop.browser.goto(shop.site.url()).await;
    let line = format!("{element}></florin-checkout>");
    let diagnosis = shop.wait_for_value(&line).await;
    assert!(diagnosis.console.contains("<florin-checkout /> needs"));
    let named =
        "inside?.querySelector('[part=diagnostics]')?.textContent.includes('<florin-checkout />')";
    wait_for_value(&shop.browser, "the panel", named, &json!(true)).await;
    shop.wait_until(Outcome::Frame).await;
    // The shop's own content, and a page that continues after it.
    let page = format!("{script}{element}><p>Wait</p></florin-checkout><p>Terms</p>");
    shop.site.serve("", &page);
    shop.browser.goto(shop.site.url()).await;
    shop.wait_until(Outcome::Frame).await;
    let console = shop.browser.console_warnings().await.join("\n");
    assert!(!console.contains("florin-checkout />"), "{console}");
    shop.end().await;
}

#[tokio::test]
async fn a_blocked_clipboard_is_named_and_the_checkout_continues() {
    let shop = Shop::open(WorldConfig::default(), true).await;
    shop.site
        .set_header("permissions-policy", "clipboard-write=(self)");
    shop.open_page("", "frame").await;
    shop.wait_until(Outcome::Frame).await;
    let line = format!(
        "Permissions-Policy: clipboard-write=(self \"{}\")",
        shop.world.proxy_url()
    );
    let diagnosis = shop.wait_for_value(&line).await;
    assert!(diagnosis.panel.unwrap().contains(&line));
    shop.end().await;
}

#[tokio::test]
async fn a_sandbox_that_hides_wallets_is_named() {
    let shop = Shop::open(WorldConfig::default(), true).await;
    let proxy = shop.world.proxy_url();
    let inner = format!(
        "<script src='{proxy}/florin.js' async></script>\
         <florin-checkout store='demo' product='mug' display='inline'></florin-checkout>"
    );
    let frame = format!(
        "<iframe data-testid=\"framed\" sandbox=\"allow-scripts\" srcdoc=\"{inner}\"></iframe>"
    );
    shop.site.serve("", &frame);
    shop.browser.goto(shop.site.url()).await;
    shop.browser.enter_frame("framed").await;
    let named = "inside?.querySelector('[part=diagnostics]')?.textContent.includes('sandbox=\"allow-scripts allow-same-origin')";
    wait_for_value(&shop.browser, "the attribute", named, &json!(true)).await;
    shop.browser.leave_checkout().await;
    shop.end().await;
}

#[tokio::test]
async fn a_link_that_a_sandbox_forbids_opens_a_new_tab_and_the_sandbox_is_named() {
    let shop = Shop::open(WorldConfig::default(), true).await;
    let proxy = shop.world.proxy_url();
    let inner = format!(
        "<script>addEventListener('click', (event) => (parent.seen = [event.composedPath()[0].target, event.defaultPrevented]))</script>\
         <script src='{proxy}/florin.js' async></script>\
         <florin-checkout store='demo' product='mug' display='redirect'></florin-checkout>"
    );
    for (sandbox, seen) in [
        // As builders of sites write it.
        (
            "sandbox=\"allow-scripts allow-same-origin allow-popups allow-forms\"",
            json!(["_blank", false]),
        ),
        ("", Value::Null),
    ] {
        let frame =
            format!("<iframe data-testid=\"framed\" {sandbox} srcdoc=\"{inner}\"></iframe>");
        shop.site.serve("", &frame);
        shop.browser.goto(shop.site.url()).await;
        shop.browser.enter_frame("framed").await;
        let is_ready = "Boolean(inside?.querySelector('a')) && performance.getEntriesByType('resource').some(({ name, responseEnd }) => name.includes('diagnostics-') && responseEnd)";
        wait_for_value(&shop.browser, "the link", is_ready, &json!(true)).await;
        let focus =
            "document.querySelector('florin-checkout').shadowRoot.querySelector('a').focus()";
        shop.browser.evaluate(focus, &[]).await;
        shop.browser.type_keys(thirtyfour::Key::Enter).await;
        if seen == Value::Null {
            shop.browser.leave_checkout().await;
            let path = "return location.pathname";
            let what = "the whole window";
            shop.browser
                .wait_for_result(what, path, &json!("/pay"))
                .await;
            continue;
        }
        let named = "inside.querySelector('[part=diagnostics]')?.textContent.includes('allow-top-navigation-by-user-activation')";
        wait_for_value(&shop.browser, "the attribute", named, &json!(true)).await;
        wait_for_value(&shop.browser, "the new tab", "parent.seen", &seen).await;
    }
    shop.end().await;
}

/// A reverse proxy without the MIME type of WebAssembly.
const CHANGE_CONTENT_TYPE: &str = "
    const fetched = window.fetch;
    window.fetch = async (request, options) => {
        const response = await fetched(request, options);
        if (!String(request.url ?? request).includes('widget_bg')) return response;
        return new Response('<p>Welcome', { status: response.status, headers: { 'content-type': 'text/html' } });
    };";

#[tokio::test]
async fn a_wrong_content_type_is_named() {
    let shop = Shop::open(WorldConfig::default(), true).await;
    shop.browser
        .run_before_every_page(CHANGE_CONTENT_TYPE)
        .await;
    shop.open_page("", "inline").await;
    let diagnosis = shop.wait_for_value("Content-Type: application/wasm").await;
    assert!(
        diagnosis.console.contains("widget_bg-"),
        "{}",
        diagnosis.console
    );
    assert!(diagnosis.panel.unwrap().contains("wrong type (text/html)"));
    shop.end().await;
}

#[tokio::test]
async fn a_working_checkout_does_not_load_the_diagnostics() {
    let shop = Shop::open(WorldConfig::default(), true).await;
    shop.open_page("default-src 'none'; script-src P; frame-src P", "frame")
        .await;
    shop.wait_until(Outcome::Frame).await;
    for place in ["the page", "the frame"] {
        let loaded = "return performance.getEntriesByType('resource').some(({ name }) => name.includes('diagnostics'))";
        assert_eq!(
            shop.browser.evaluate(loaded, &[]).await,
            Value::Bool(false),
            "{place}"
        );
        shop.browser.enter_checkout().await;
    }
    shop.end().await;
}

/// A built-in, and the script that breaks it before the loader runs.
const SABOTAGES: [(&str, &str); 4] = [
    (
        "Array.prototype.map",
        "= () => { throw new Error('out of order') }",
    ),
    ("Array.prototype.map", "= function () { return [] }"),
    ("Array.prototype.map", "= undefined"),
    // Nothing throws: without a check, the loader would find no source of an order.
    ("Array.prototype.filter", "= function () { return [] }"),
];

/// A script that runs first, only in the shop's page.
fn sabotage((part, breaks): (&str, &str)) -> String {
    format!("if (top === window) {{ {part} {breaks} }}")
}

/// The frame's page has sent its first message. The driver cannot find elements in a page whose lists are broken, but
/// it can run scripts.
const IS_INITIALISED: &str = "inside?.querySelector('.fl-place')?.className === 'fl-place'";

#[tokio::test]
async fn a_frame_works_in_a_broken_page() {
    for breaks in SABOTAGES {
        for display in ["frame", "modal", "redirect"] {
            let element = format!(
                "<florin-checkout store=\"demo\" product=\"ebook\" display=\"{display}\"></florin-checkout>"
            );
            let (site, world) = page_with(&element).await;
            let browser = Browser::open().await;
            browser.run_before_every_page(&sabotage(breaks)).await;
            browser.goto(site.url()).await;
            let there = if display == "frame" {
                IS_INITIALISED
            } else {
                "Boolean(inside?.querySelector('[part=button]'))"
            };
            wait_for_value(&browser, display, there, &json!(true)).await;
            browser.end().await;
            world.end().await;
        }
    }
}

#[tokio::test]
async fn inline_names_the_broken_built_in_and_falls_back_to_a_frame() {
    for breaks in SABOTAGES {
        let element = "<florin-checkout store=\"demo\" product=\"ebook\" display=\"inline\"></florin-checkout>";
        let (site, world) = page_with(element).await;
        let browser = Browser::open().await;
        browser.run_before_every_page(&sabotage(breaks)).await;
        browser.goto(site.url()).await;
        wait_for_value(&browser, "the frame", IS_INITIALISED, &json!(true)).await;
        let (part, _) = breaks;
        let named =
            format!("inside.querySelector('[part=diagnostics]')?.textContent.includes('{part}')");
        wait_for_value(&browser, part, &named, &json!(true)).await;
        let console = browser.console_warnings().await.join("\n");
        assert!(console.contains(part), "{console}");
        browser.end().await;
        world.end().await;
    }
}

#[tokio::test]
async fn no_height_is_reported_before_it_is_known() {
    for display in ["frame", "inline"] {
        let element = format!(
            "<script>window.heights = []; addEventListener('florin-resize', ({{ detail }}) => heights.push(detail.height))</script>
             <florin-checkout store=\"demo\" product=\"ebook\" display=\"{display}\"></florin-checkout>"
        );
        let (site, world) = page_with(&element).await;
        let browser = Browser::open().await;
        browser.goto(site.url()).await;
        wait_for_value(
            &browser,
            "a height",
            "window.heights.length > 0",
            &json!(true),
        )
        .await;
        let heights = browser.evaluate("return window.heights", &[]).await;
        let heights = heights.as_array().unwrap();
        let tall = |height: &Value| height.as_u64().is_some_and(|height| height > 100);
        assert!(heights.iter().all(tall), "{display}: {heights:?}");
        browser.end().await;
        world.end().await;
    }
}
