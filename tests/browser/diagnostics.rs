//! Diagnostics in a real browser: what keeps a display from being shown is named as a line to paste, and the
//! next display is shown instead.

use serde_json::{Value, json};
use support::{Browser, Site, World, WorldConfig, eventually};

/// What the console and the panel say.
struct Said {
    console: String,
    panel: Option<String>,
}

/// Where a checkout of this display ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Frame,
    Link,
}

/// A shop whose page has this policy; `P` stands for the proxy's origin.
struct Shop {
    site: Site,
    world: World,
    browser: Browser,
}

impl Shop {
    async fn open(config: WorldConfig, is_listed: bool) -> Self {
        let site = Site::open().await;
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

    async fn visits(&self, policy: &str, display: &str) {
        let proxy = self.world.proxy_url();
        let page = format!(
            "<script src=\"{proxy}/florin.js\" async></script>\
             <florin-checkout store=\"demo\" product=\"mug\" display=\"{display}\"></florin-checkout>"
        );
        self.site.serve(&policy.replace('P', &proxy), &page);
        self.browser.goto(self.site.url()).await;
    }

    async fn ends_at(&self, shown: Shown) {
        match shown {
            Shown::Frame => {
                self.browser.enter_checkout().await;
                self.browser.wait_for("status-open").await;
                self.browser.leave_checkout().await;
            }
            Shown::Link => {
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

    /// What the diagnostics name, once this line is among it.
    async fn says(&self, line: &str) -> Said {
        let mut console = String::new();
        let panel = "return document.querySelector('florin-checkout')?.shadowRoot?.querySelector('[part=doctor]')?.textContent ?? null";
        for _ in 0..200 {
            // The driver writes texts as JSON does.
            let heard = self.browser.console_warnings().await.join("\n");
            console.push_str(&heard.replace("\\\"", "\"").replace("\\n", "\n"));
            if console.contains(line) {
                let panel = self.browser.evaluate(panel, &[]).await;
                return Said {
                    console,
                    panel: panel.as_str().map(str::to_owned),
                };
            }
            support::pause(std::time::Duration::from_millis(100)).await;
        }
        panic!("{line} is nowhere in {console}");
    }

    async fn end(self) {
        self.browser.end().await;
        self.world.end().await;
    }
}

#[tokio::test]
async fn what_a_policy_lacks_is_named_as_the_line_to_paste() {
    let shop = Shop::open(WorldConfig::default(), true).await;
    for (policy, display, lines, shown) in [
        (
            "default-src 'none'; script-src P; frame-src P; connect-src P",
            "inline",
            &["    script-src P 'wasm-unsafe-eval'"][..],
            Shown::Frame,
        ),
        (
            "default-src 'none'; script-src P 'wasm-unsafe-eval'; frame-src P",
            "inline",
            &["Add this to it:\n\n    connect-src P"],
            Shown::Frame,
        ),
        (
            "default-src 'none'; script-src P; frame-src P",
            "inline",
            &["    script-src P 'wasm-unsafe-eval'", "    connect-src P"],
            Shown::Frame,
        ),
        (
            "default-src 'none'; script-src P; frame-src 'self'",
            "frame",
            &["Change its frame-src to:\n\n    frame-src 'self' P"],
            Shown::Link,
        ),
        (
            "default-src 'none'; script-src P; child-src 'none'",
            "inline",
            &["    script-src P 'wasm-unsafe-eval'", "    child-src P"],
            Shown::Link,
        ),
    ] {
        shop.visits(policy, display).await;
        shop.ends_at(shown).await;
        let proxy = shop.world.proxy_url();
        let mut heard = String::new();
        for line in lines {
            let line = line.replace('P', &proxy);
            if !heard.contains(&line) {
                heard.push_str(&shop.says(&line).await.console);
            }
            let pasted = line.rsplit("    ").next().unwrap().to_owned();
            eventually(&format!("{pasted} on the page"), async || {
                let panel = "return document.querySelector('florin-checkout').shadowRoot.querySelector('[part=doctor]')?.textContent";
                let panel = shop.browser.evaluate(panel, &[]).await;
                (panel.as_str()?.contains(&pasted) || shown == Shown::Link).then_some(())
            })
            .await;
        }
    }
    shop.end().await;
}

#[tokio::test]
async fn an_origin_that_no_store_lists_is_named_and_a_link_remains() {
    let shop = Shop::open(WorldConfig::default(), false).await;
    for display in ["frame", "inline", "modal"] {
        shop.visits("", display).await;
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
        shop.ends_at(Shown::Link).await;
        let line = format!("origins = [\"{}\"]", shop.site.url());
        let said = shop.says(&line).await;
        assert!(said.console.contains("[[store]]"), "{}", said.console);
        let panel = said.panel.expect("the test environment shows it");
        assert!(panel.contains(&line), "{panel}");
    }
    let orders = shop.world.store().get("/v1/orders").await.with(200).body;
    assert_eq!(orders["orders"], json!([]));
    shop.end().await;
}

#[tokio::test]
async fn in_production_the_customer_sees_a_sentence_and_a_link() {
    let production = WorldConfig {
        environment: "production",
        ..WorldConfig::default()
    };
    let shop = Shop::open(production, false).await;
    shop.visits("", "frame").await;
    shop.ends_at(Shown::Link).await;
    let line = format!("origins = [\"{}\"]", shop.site.url());
    let said = shop.says(&line).await;
    assert_eq!(said.panel, None);
    let words = "return document.querySelector('florin-checkout').shadowRoot.textContent";
    let words = shop.browser.evaluate(words, &[]).await;
    assert_eq!(
        words,
        "The checkout couldn’t be loaded.Open the checkout on its own page"
    );
    shop.end().await;
}

#[tokio::test]
async fn a_clipboard_that_the_page_keeps_is_named_and_the_checkout_goes_on() {
    let shop = Shop::open(WorldConfig::default(), true).await;
    shop.site.permits("clipboard-write=(self)");
    shop.visits("", "frame").await;
    shop.ends_at(Shown::Frame).await;
    let line = format!(
        "Permissions-Policy: clipboard-write=(self \"{}\")",
        shop.world.proxy_url()
    );
    let said = shop.says(&line).await;
    assert!(said.panel.unwrap().contains(&line));
    shop.end().await;
}

/// What stands in front of a proxy and knows no WebAssembly.
const SPOIL_THE_PROGRAM: &str = "
    const fetched = window.fetch;
    window.fetch = async (request, options) => {
        const answer = await fetched(request, options);
        if (!String(request.url ?? request).includes('widget_bg')) return answer;
        return new Response('<p>Welcome', { status: answer.status, headers: { 'content-type': 'text/html' } });
    };";

#[tokio::test]
async fn a_file_of_another_kind_is_named() {
    let shop = Shop::open(WorldConfig::default(), true).await;
    shop.browser.run_before_every_page(SPOIL_THE_PROGRAM).await;
    shop.visits("", "inline").await;
    let said = shop.says("Content-Type: application/wasm").await;
    assert!(said.console.contains("widget_bg-"), "{}", said.console);
    assert!(said.panel.unwrap().contains("wrong type (text/html)"));
    shop.end().await;
}

#[tokio::test]
async fn a_checkout_that_works_never_loads_the_diagnostics() {
    let shop = Shop::open(WorldConfig::default(), true).await;
    shop.visits("default-src 'none'; script-src P; frame-src P", "frame")
        .await;
    shop.ends_at(Shown::Frame).await;
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
