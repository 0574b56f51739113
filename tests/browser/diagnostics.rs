//! Diagnostics in a real browser: the reason why a display is blocked is shown as a line to paste, and the next
//! display is used instead; also on shop pages whose scripts have broken built-in functions.

use std::cell::RefCell;
use std::time::Duration;

use serde_json::{Value, json};
use support::circumstances::Kind;
use support::{Browser, StoreSite, World, WorldConfig, eventually, within};

use crate::helpers::{OPENS, end, orders, page_with, read_inside, wait_for_value};

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
                    let link = self.browser.evaluate(link).await;
                    let page = format!("{}/pay?store=demo#", self.world.proxy_url());
                    link.as_str()?.starts_with(&page).then_some(())
                })
                .await;
            }
        }
    }

    /// Waits until the console has this line; returns what it has.
    async fn wait_for_line(&self, line: &str) -> String {
        let console = RefCell::new(String::new());
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
        console
    }

    /// Returns the text of the panel, if there is one.
    async fn panel(&self) -> Option<String> {
        let panel = "return inside.querySelector('[part=diagnostics]')?.textContent ?? null";
        let panel = read_inside(&self.browser, panel).await;
        panel.as_str().map(str::to_owned)
    }

    async fn end(self) {
        end(self.world, self.browser).await;
    }
}

#[tokio::test]
async fn an_unlisted_origin_is_named_and_a_link_remains() {
    let shop = Shop::open(WorldConfig::default(), false).await;
    for display in ["frame", "inline", "modal"] {
        shop.open_page("", display).await;
        if display == "modal" {
            wait_for_value(&shop.browser, "the dialog opens", OPENS, true).await;
        }
        shop.wait_until(Outcome::Link).await;
        let line = format!(
            "origins = [\"{}\", \"{}\"]",
            shop.world.shop_url(),
            shop.site.url()
        );
        let console = shop.wait_for_line(&line).await;
        assert!(console.contains("[[store]]"), "{console}");
        let panel = shop.panel().await.expect("the test environment shows it");
        assert!(panel.contains(&line), "{panel}");
    }
    assert_eq!(orders(&shop.world).await, [] as [Value; 0]);
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
    shop.wait_for_line(&line).await;
    assert_eq!(shop.panel().await, None);
    let words = read_inside(&shop.browser, "return inside.textContent").await;
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
    let console = shop.wait_for_line(&line).await;
    assert!(console.contains("<florin-checkout /> needs"), "{console}");
    let named =
        "inside?.querySelector('[part=diagnostics]')?.textContent.includes('<florin-checkout />')";
    wait_for_value(&shop.browser, "the panel", named, true).await;
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
    wait_for_value(&shop.browser, "the attribute", named, true).await;
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
        wait_for_value(&shop.browser, "the link", is_ready, true).await;
        let focus =
            "document.querySelector('florin-checkout').shadowRoot.querySelector('a').focus()";
        shop.browser.evaluate(focus).await;
        shop.browser.type_keys(thirtyfour::Key::Enter).await;
        if seen == Value::Null {
            shop.browser.leave_checkout().await;
            let path = "return location.pathname";
            let what = "the whole window";
            shop.browser.wait_for_result(what, path, "/pay").await;
            continue;
        }
        let named = "inside.querySelector('[part=diagnostics]')?.textContent.includes('allow-top-navigation-by-user-activation')";
        wait_for_value(&shop.browser, "the attribute", named, true).await;
        wait_for_value(&shop.browser, "the new tab", "parent.seen", seen).await;
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
    let console = shop.wait_for_line("Content-Type: application/wasm").await;
    assert!(console.contains("widget_bg-"), "{console}");
    let panel = shop.panel().await.unwrap();
    assert!(panel.contains("wrong type (text/html)"), "{panel}");
    shop.end().await;
}

#[tokio::test]
async fn a_working_checkout_loads_no_diagnostics_and_reports_no_height_before_it_is_known() {
    let shop = Shop::open(WorldConfig::default(), true).await;
    let record = "window.heights = []; addEventListener('florin-resize', ({ detail }) => heights.push(detail.height))";
    shop.browser.run_before_every_page(record).await;
    for (policy, display) in [
        ("default-src 'none'; script-src P; frame-src P", "frame"),
        ("", "inline"),
    ] {
        shop.open_page(policy, display).await;
        let is_reported = "window.heights.length > 0";
        wait_for_value(&shop.browser, "a height", is_reported, true).await;
        let heights = shop.browser.evaluate("return window.heights").await;
        let heights = heights.as_array().unwrap();
        let tall = |height: &Value| height.as_u64().is_some_and(|height| height > 100);
        assert!(heights.iter().all(tall), "{display}: {heights:?}");
        let loaded = "return performance.getEntriesByType('resource').some(({ name }) => name.includes('diagnostics'))";
        assert_eq!(shop.browser.evaluate(loaded).await, false, "{display}");
    }
    shop.end().await;
}

/// A built-in, and the script that breaks it before the loader runs.
const SABOTAGES: [(&str, &str); 2] = [
    (
        "Array.prototype.map",
        "= () => { throw new Error('out of order') }",
    ),
    // Nothing throws: without a check, the loader would find no source of an order.
    ("Array.prototype.filter", "= function () { return [] }"),
];

/// The frame's page has sent its first message. The driver cannot find elements in a page whose lists are broken, but
/// it can run scripts.
const IS_INITIALISED: &str = "inside?.querySelector('.fl-place')?.className === 'fl-place'";

#[tokio::test]
async fn a_frame_works_in_a_broken_page_and_inline_falls_back_to_it() {
    let (site, world) = page_with("").await;
    for (part, breaks) in SABOTAGES {
        let browser = Browser::open().await;
        // Only in the shop's page.
        let sabotage = format!("if (top === window) {{ {part} {breaks} }}");
        browser.run_before_every_page(&sabotage).await;
        for display in ["frame", "modal", "redirect", "inline"] {
            let element = format!(
                "<florin-checkout store=\"demo\" product=\"ebook\" display=\"{display}\"></florin-checkout>"
            );
            let (policy, body) = Kind::Before("").page(&world.proxy_url(), &element);
            site.serve(&policy, &body);
            browser.goto(site.url()).await;
            let there = if matches!(display, "frame" | "inline") {
                IS_INITIALISED
            } else {
                "Boolean(inside?.querySelector('[part=button]'))"
            };
            wait_for_value(&browser, display, there, true).await;
        }
        let named =
            format!("inside.querySelector('[part=diagnostics]')?.textContent.includes('{part}')");
        wait_for_value(&browser, part, &named, true).await;
        let console = browser.console_warnings().await.join("\n");
        assert!(console.contains(part), "{console}");
        browser.end().await;
    }
    world.end().await;
}
