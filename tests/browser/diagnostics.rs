//! Diagnostics in a real browser: what blocks a display is named, each line that is printed works once it is pasted, and the
//! next display is used meanwhile; also on shop pages whose scripts have broken built-in functions.

use serde_json::{Value, json};
use support::{Browser, StoreSite, World, rows};
use thirtyfour::Key;

use crate::helpers::{OPENS, end, orders, read_inside, wait_for_value, wait_for_warning};
use crate::languages::text;

/// A shop page, which is shown again after each change.
struct Shop {
    site: StoreSite,
    world: World,
    browser: Browser,
    /// The element is in a frame of the page, `in`.
    is_framed: bool,
    policy: String,
    body: String,
}

const PANEL: &str = "inside?.querySelector('[part=diagnostics]')?.textContent";

impl Shop {
    /// A shop whose page the store lists.
    async fn open() -> Self {
        Self::open_in("test", true).await
    }

    async fn open_in(environment: &'static str, is_listed: bool) -> Self {
        let site = StoreSite::open().await;
        let origins = is_listed.then(|| site.url().to_owned());
        let world = World::with(|config| {
            config.origins = origins.into_iter().collect();
            config.environment = environment;
        })
        .await;
        Self {
            site,
            world,
            browser: Browser::open().await,
            is_framed: false,
            policy: String::new(),
            body: String::new(),
        }
    }

    /// Shows another page of the shop; `P` stands for the proxy, in the policy and in the address of a script.
    async fn set(&mut self, policy: &str, body: &str) {
        let proxy = self.world.proxy_url();
        self.policy = policy.replace('P', &proxy);
        self.body = body.replace("P/", &format!("{proxy}/"));
        self.show().await;
    }

    async fn show(&self) {
        self.site.serve(&self.policy, &self.body);
        self.browser.leave_checkout().await;
        self.browser.goto(self.site.url()).await;
        if self.is_framed {
            self.browser.enter_frame("in").await;
        }
    }

    /// Waits for the panel; returns its sentence and its line.
    async fn advice(&self) -> (String, String) {
        let panel = "const panel = document.querySelector('florin-checkout')?.shadowRoot?.querySelector('[part=diagnostics]');
            return panel && [panel.querySelector('p').textContent, panel.querySelector('code')?.textContent ?? '']";
        let found = self.browser.wait_until("the panel", panel).await;
        let part = |place: usize| found[place].as_str().unwrap().to_owned();
        (part(0), part(1))
    }

    /// Shows the page again, and waits until its checkout works.
    async fn works(&self, advice: &str) {
        self.show().await;
        let ready = "Boolean(inside?.querySelector('.fl-place:not(.fl-wait):not([hidden])') ?? inside?.querySelector('[data-testid=status-open]'))";
        wait_for_value(&self.browser, advice, ready, true).await;
        assert_eq!(self.panel().await, None, "{advice}");
    }

    /// Replaces a text of the body by the line of the advice.
    async fn paste(&mut self, line: &str, replaced: &str) {
        assert!(self.body.contains(replaced), "{replaced}");
        self.body = self.body.replace(replaced, line);
        self.works(line).await;
    }

    async fn panel(&self) -> Option<String> {
        let panel = "return inside.querySelector('[part=diagnostics]')?.textContent ?? null";
        let panel = read_inside(&self.browser, panel).await;
        panel.as_str().map(str::to_owned)
    }

    async fn wait_until_named(&self, part: &str) {
        let named = format!("{PANEL}?.includes('{part}')");
        wait_for_value(&self.browser, part, &named, true).await;
    }

    async fn wait_for_frame(&self) {
        self.browser.enter_checkout().await;
        self.browser.wait_for("status-open").await;
        self.browser.leave_checkout().await;
    }

    async fn wait_for_link(&self) {
        let page = format!("{}/pay?", self.world.proxy_url());
        let link = format!("inside?.querySelector('a')?.href.startsWith('{page}')");
        let what = "the link to the checkout's own page";
        wait_for_value(&self.browser, what, &link, true).await;
    }

    /// Waits until the console has this line; returns what it has.
    async fn wait_for_line(&self, line: &str) -> String {
        wait_for_warning(&self.browser, line).await
    }

    async fn end(self) {
        end(self.world, self.browser).await;
    }
}

const LOADER: &str = "<script src=\"P/florin.js\" async></script>";

fn element(attributes: &str) -> String {
    format!("{LOADER}<florin-checkout {attributes}></florin-checkout>")
}

fn ebook(display: &str) -> String {
    element(&format!(
        "store=\"demo\" product=\"ebook\" display=\"{display}\""
    ))
}

#[tokio::test]
async fn a_line_for_the_page_works_once_it_is_pasted() {
    let mut shop = Shop::open().await;
    let strict = "require-trusted-types-for 'script'; trusted-types 'none'";
    shop.set(strict, &ebook("inline")).await;
    let (sentence, line) = shop.advice().await;
    assert!(sentence.contains("require-trusted-types-for"), "{sentence}");
    shop.paste(&line, "display=\"inline\"").await;
    let quantity = "store=\"demo\" product=\"ebook\" quantity=“1”";
    for (attributes, replaced) in [
        ("store=“demo” product=\"ebook\"", "store=“demo”"),
        (quantity, "quantity=“1”"),
    ] {
        shop.set("", &element(attributes)).await;
        let (sentence, line) = shop.advice().await;
        let line = format!("{sentence} {line}");
        assert!(line.contains("typographic quotes"), "{line}");
        let (_, fixed) = line.trim_end().rsplit_once(' ').unwrap();
        shop.paste(fixed, replaced).await;
    }
    // The proxy's public_url is 127.0.0.1.
    let localhost = shop.world.proxy_url().replace("127.0.0.1", "localhost");
    let script = LOADER.replace("P/", &format!("{localhost}/"));
    shop.set("", &ebook("frame").replace(LOADER, &script)).await;
    // A request that reads names no origin.
    shop.browser.enter_checkout().await;
    shop.browser.press("asset-BTC").await;
    shop.browser.leave_checkout().await;
    let (sentence, line) = shop.advice().await;
    assert!(sentence.contains("public_url"), "{sentence}");
    shop.paste(&line, &script).await;
    shop.end().await;
}

#[tokio::test]
async fn a_line_for_the_headers_works_once_it_is_sent() {
    let mut shop = Shop::open().await;
    for (policy, display) in [
        ("script-src P; connect-src P; frame-src P", "inline"),
        ("script-src P 'wasm-unsafe-eval'; frame-src P", "inline"),
        ("script-src P; frame-src 'self'", "frame"),
        ("script-src P; child-src 'none'", "frame"),
    ] {
        let policy = format!("default-src 'none'; {policy}");
        shop.set(&policy, &ebook(display)).await;
        let (_, line) = shop.advice().await;
        shop.wait_for_line(&line).await;
        if display == "inline" {
            shop.wait_for_frame().await;
        }
        let (directive, _) = line.split_once(' ').unwrap();
        let kept = shop.policy.split("; ");
        let kept = kept.filter(|known| !known.starts_with(directive));
        shop.policy = kept.chain([line.as_str()]).collect::<Vec<_>>().join("; ");
        shop.works(&line).await;
    }
    let name = "permissions-policy";
    shop.site.set_header(name, "clipboard-write=(self)");
    shop.set("", &ebook("frame")).await;
    let (_, line) = shop.advice().await;
    let (_, value) = line.split_once(": ").unwrap();
    shop.site.set_header(name, value);
    shop.works(&line).await;
    shop.end().await;
}

#[tokio::test]
async fn an_unlisted_origin_leaves_a_link_and_its_line_works_once_it_is_pasted() {
    let listed = StoreSite::open().await;
    let mut shop = Shop::open_in("test", false).await;
    let proxy = shop.world.proxy_url();
    let inner = ebook("frame").replace('"', "'");
    let inner = inner.replace("P/", &format!("{proxy}/"));
    listed.serve("", &inner);
    let framed = |from: String| {
        format!("<iframe data-testid=\"in\" allow=\"clipboard-write\" {from}></iframe>")
    };
    let origins = [&*shop.world.shop_url(), shop.site.url()];
    let named = format!("origins = [\"{}\", \"{}\"]", origins[0], origins[1]);
    for display in ["inline", "modal"] {
        shop.set("", &ebook(display)).await;
        if display == "modal" {
            wait_for_value(&shop.browser, "the dialog opens", OPENS, true).await;
        }
        shop.wait_for_link().await;
        shop.wait_for_line(&named).await;
        assert_eq!(shop.advice().await.1, named, "{display}");
    }
    // The merchant and the customer read it in the page's language.
    let japanese = ebook("frame").replace("display", "locale=\"ja\" display");
    shop.set("", &japanese).await;
    let notice = ["load_failed", "own_page"].map(|key| text("ja", "loader", key));
    let title = text("ja", "diagnostics", "title");
    let words = "[inside?.querySelector('.fl-notice')?.textContent, inside?.querySelector('[part=diagnostics]')?.ariaLabel]";
    let expected = json!([notice.concat(), title]);
    wait_for_value(&shop.browser, "the words", words, expected).await;
    let sentence = text("ja", "diagnostics", "origin_not_allowed");
    shop.wait_for_line(sentence.split_once('{').unwrap().0)
        .await;
    assert_eq!(orders(&shop.world).await, [] as [Value; 0]);
    for (body, is_framed) in [
        (inner.clone(), false),
        (framed(format!("srcdoc=\"{inner}\"")), true),
        // Around a listed page.
        (framed(format!("src=\"{}\"", listed.url())), true),
    ] {
        restart_with(&mut shop.world, &[listed.url().to_owned()]).await;
        shop.is_framed = is_framed;
        shop.set("", &body).await;
        let (sentence, line) = shop.advice().await;
        assert!(sentence.contains("[[store]] id = \"demo\""), "{sentence}");
        // A list of texts is the same in TOML and JSON.
        let origins = line.strip_prefix("origins = ").unwrap();
        let origins: Vec<String> = serde_json::from_str(origins).unwrap();
        let expected = [&*shop.world.shop_url(), listed.url(), shop.site.url()];
        assert_eq!(origins, expected, "{body}");
        restart_with(&mut shop.world, &origins[1..]).await;
        shop.works(&line).await;
    }
    shop.end().await;
}

async fn restart_with(world: &mut World, origins: &[String]) {
    world.config.origins = origins.to_vec();
    world.stop_proxy().await;
    world.start_proxy().await;
}

/// A display, attributes beside the store's, and the proxy's own reason, which it names in the test environment.
const REASONS: &str = r#"
frame | product="mugg" | has no product "mugg"; it has ["ebook"
inline | product="ebook" quantity="999" | quantity=999 is not 1 to
modal | donation="tea" amount="5" | has no donation "tea"
inline | client-token="wrong" | no order has this id or client token
"#;

#[tokio::test]
async fn where_nothing_can_be_pasted_the_cause_is_named() {
    let mut shop = Shop::open().await;
    shop.set("", &ebook("frame").replace("demo", "demox")).await;
    let (sentence, line) = shop.advice().await;
    assert!(
        sentence.contains("store=\"demox\" names no store"),
        "{sentence}"
    );
    assert_eq!(line, "");
    // A name of this machine that is not `localhost`.
    let url = shop.site.url().replace("127.0.0.1", "shop.localhost");
    shop.set("", &ebook("frame")).await;
    shop.browser.goto(&url).await;
    let (sentence, line) = shop.advice().await;
    let cause = format!("{url} only over https");
    assert!(sentence.contains(&cause), "{sentence}");
    assert_eq!(line, "");
    for [display, attributes, reason] in rows(REASONS) {
        let attributes = format!("store=\"demo\" {attributes} display=\"{display}\"");
        shop.set("", &element(&attributes)).await;
        if display == "modal" {
            wait_for_value(&shop.browser, "the dialog opens", OPENS, true).await;
        }
        let (sentence, _) = shop.advice().await;
        assert!(sentence.contains(reason), "{display}: {sentence}");
        shop.wait_for_line(reason).await;
    }
    shop.end().await;
}

#[tokio::test]
async fn in_production_the_customer_sees_a_message_and_a_link() {
    let mut shop = Shop::open_in("production", false).await;
    shop.set("", &ebook("frame")).await;
    shop.wait_for_link().await;
    let page = shop.site.url().to_owned();
    let console = shop.wait_for_line(&page).await;
    assert!(console.contains("origins = ["), "{console}");
    assert_eq!(shop.panel().await, None);
    let words = read_inside(&shop.browser, "return inside.textContent").await;
    let expected = "The checkout couldn’t be loaded.Open the checkout on its own page";
    assert_eq!(words, expected);
    shop.end().await;
}

#[tokio::test]
async fn an_element_that_swallows_the_rest_of_the_page_is_named() {
    let mut shop = Shop::open().await;
    let element = "<florin-checkout store=\"demo\" product=\"mug\"";
    shop.set("", &format!("{LOADER}{element} /><p>Terms</p>"))
        .await;
    let line = format!("{element}></florin-checkout>");
    let console = shop.wait_for_line(&line).await;
    assert!(console.contains("<florin-checkout /> needs"), "{console}");
    shop.wait_until_named("<florin-checkout />").await;
    shop.wait_for_frame().await;
    // The shop's own content, and a page that continues after it.
    let page = format!("{LOADER}{element}><p>Wait</p></florin-checkout><p>Terms</p>");
    shop.set("", &page).await;
    shop.wait_for_frame().await;
    let console = shop.browser.console_warnings().await.join("\n");
    assert!(!console.contains("florin-checkout />"), "{console}");
    shop.end().await;
}

#[tokio::test]
async fn a_sandbox_that_hides_wallets_or_forbids_the_link_is_named() {
    let mut shop = Shop::open().await;
    shop.is_framed = true;
    let framed = |sandbox: &str, inner: &str| {
        let inner = inner.replace('"', "'");
        format!("<iframe data-testid=\"in\" {sandbox} srcdoc=\"{inner}\"></iframe>")
    };
    let inline = framed("sandbox=\"allow-scripts\"", &ebook("inline"));
    shop.set("", &inline).await;
    shop.wait_until_named("sandbox=\"allow-scripts allow-same-origin")
        .await;

    // A link that a sandbox forbids opens a new tab.
    let record = "<script>addEventListener('click', (event) => (parent.seen = [event.composedPath()[0].target, event.defaultPrevented]))</script>";
    let link = [record, &ebook("redirect")].concat();
    let focus = "document.querySelector('florin-checkout').shadowRoot.querySelector('a').focus()";
    let is_ready = "Boolean(inside?.querySelector('a')) && performance.getEntriesByType('resource').some(({ name, responseEnd }) => name.includes('diagnostics-') && responseEnd)";
    // As builders of sites write it.
    let usual = "sandbox=\"allow-scripts allow-same-origin allow-popups allow-forms\"";
    for sandbox in [usual, ""] {
        shop.set("", &framed(sandbox, &link)).await;
        wait_for_value(&shop.browser, "the link", is_ready, true).await;
        shop.browser.evaluate(focus).await;
        shop.browser.type_keys(Key::Enter).await;
        if sandbox == usual {
            shop.wait_until_named("allow-top-navigation-by-user-activation")
                .await;
            let seen = json!(["_blank", false]);
            wait_for_value(&shop.browser, "the new tab", "parent.seen", seen).await;
        }
    }
    shop.browser.leave_checkout().await;
    let path = "return location.pathname";
    let what = "without a sandbox, the link takes the whole window";
    shop.browser.wait_for_result(what, path, "/pay").await;
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
    let mut shop = Shop::open().await;
    let browser = &shop.browser;
    browser.run_before_every_page(CHANGE_CONTENT_TYPE).await;
    shop.set("", &ebook("inline")).await;
    let console = shop.wait_for_line("Content-Type: application/wasm").await;
    assert!(console.contains("widget_bg-"), "{console}");
    let panel = shop.panel().await.unwrap();
    assert!(panel.contains("wrong type (text/html)"), "{panel}");
    shop.end().await;
}

#[tokio::test]
async fn a_working_checkout_loads_no_diagnostics_and_reports_no_height_before_it_is_known() {
    let mut shop = Shop::open().await;
    let record = "window.heights = []; addEventListener('florin-resize', ({ detail }) => heights.push(detail.height))";
    shop.browser.run_before_every_page(record).await;
    for (policy, display) in [
        ("default-src 'none'; script-src P; frame-src P", "frame"),
        ("", "inline"),
    ] {
        shop.set(policy, &ebook(display)).await;
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

/// A built-in, the script that breaks it before the loader runs, and displays on that page.
const SABOTAGES: [(&str, &str, &[&str]); 2] = [
    (
        "Array.prototype.map",
        "= () => { throw new Error('out of order') }",
        &["frame", "modal", "redirect", "inline"],
    ),
    // Nothing throws: without a check, the loader would find no source of an order.
    (
        "Array.prototype.filter",
        "= function () { return [] }",
        &["inline"],
    ),
];

/// The driver cannot find elements in a page whose lists are broken, but it can run scripts.
#[tokio::test]
async fn a_frame_works_in_a_broken_page_and_inline_falls_back_to_it() {
    let mut shop = Shop::open().await;
    for (part, breaks, displays) in SABOTAGES {
        // Only in the shop's page.
        let sabotage = format!("<script>{part} {breaks}</script>");
        for display in displays {
            shop.set("", &[&sabotage, &*ebook(display)].concat()).await;
            let there = match *display {
                // The frame's page has sent its first message.
                "frame" | "inline" => {
                    "inside?.querySelector('.fl-place')?.className === 'fl-place'"
                }
                _ => "Boolean(inside?.querySelector('[part=button]'))",
            };
            wait_for_value(&shop.browser, display, there, true).await;
        }
        shop.wait_until_named(part).await;
        shop.wait_for_line(part).await;
    }
    shop.end().await;
}
