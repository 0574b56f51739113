//! What the diagnostics print is true: each line is pasted where it belongs, and then the checkout is shown. Where there is
//! nothing to paste, the sentence names the cause.

use serde_json::json;
use support::{Browser, StoreSite, World, WorldConfig};

use crate::helpers::{OPENS, end, wait_for_value};
use crate::themes::has_warning;

/// A shop page, which is shown again after each change.
struct Page {
    site: StoreSite,
    world: World,
    browser: Browser,
    /// In which the element is: names of frames, from the outside.
    frames: &'static [&'static str],
    policy: String,
    body: String,
}

impl Page {
    /// `P` stands for the proxy, in the policy and the body. The store lists the page if `is_listed`.
    async fn open(is_listed: bool, policy: &str, body: &str) -> Self {
        let site = StoreSite::open().await;
        let origins = is_listed.then(|| site.url().to_owned());
        let world = World::start_with(WorldConfig {
            origins: origins.into_iter().collect(),
            ..WorldConfig::default()
        })
        .await;
        let proxy = world.proxy_url();
        let page = Self {
            policy: policy.replace('P', &proxy),
            body: body.replace("P/", &format!("{proxy}/")),
            site,
            world,
            browser: Browser::open().await,
            frames: &[],
        };
        page.show().await;
        page
    }

    async fn show(&self) {
        self.site.serve(&self.policy, &self.body);
        self.browser.leave_checkout().await;
        self.browser.goto(self.site.url()).await;
    }

    async fn enter(&self) {
        self.browser.leave_checkout().await;
        for frame in self.frames {
            self.browser.enter_frame(frame).await;
        }
    }

    /// Waits for the panel; returns its sentence and its line.
    async fn advice(&self) -> (String, String) {
        self.enter().await;
        let panel = "const panel = document.querySelector('florin-checkout')?.shadowRoot?.querySelector('[part=diagnostics]');
            return panel && [panel.querySelector('p').textContent, panel.querySelector('code')?.textContent ?? '']";
        let found = self.browser.wait_until("the panel", panel).await;
        let part = |place: usize| found[place].as_str().unwrap().to_owned();
        (part(0), part(1))
    }

    /// Shows the page again, and waits until its checkout works.
    async fn works(&self, advice: &str) {
        self.show().await;
        self.enter().await;
        let ready = "const inside = document.querySelector('florin-checkout')?.shadowRoot;
            return Boolean(inside?.querySelector('.fl-place:not(.fl-wait):not([hidden])') ?? inside?.querySelector('[data-testid=status-open]'))";
        self.browser.wait_for_result(advice, ready, true).await;
        let panel = "return document.querySelector('florin-checkout').shadowRoot.querySelector('[part=diagnostics]')?.textContent ?? null";
        assert_eq!(self.browser.evaluate(panel).await, json!(null), "{advice}");
    }

    /// Shows another page of the same shop.
    async fn set(&mut self, policy: &str, body: &str) {
        let proxy = self.world.proxy_url();
        self.policy = policy.replace('P', &proxy);
        self.body = body.replace("P/", &format!("{proxy}/"));
        self.show().await;
    }

    /// Replaces a text of the body by the line of the advice.
    async fn paste(&mut self, sentence: &str, replaced: &str) {
        let (shown, line) = self.advice().await;
        assert!(shown.contains(sentence), "{shown}");
        assert!(self.body.contains(replaced), "{replaced}");
        // Within `srcdoc='…'` and in attributes, quotes stay what they are.
        self.body = self.body.replace(replaced, &line);
        self.works(&line).await;
    }

    async fn end(self) {
        end(self.world, self.browser).await;
    }
}

const LOADER: &str = "<script src=\"P/florin.js\" async></script>";
const FRAME: &str = "<florin-checkout store=\"demo\" product=\"ebook\"></florin-checkout>";

#[tokio::test]
async fn a_line_for_the_page_works_once_it_is_pasted() {
    let element =
        |attributes: &str| format!("{LOADER}<florin-checkout {attributes}></florin-checkout>");
    let strict = "require-trusted-types-for 'script'; trusted-types 'none'";
    let inline = element("store=\"demo\" product=\"ebook\" display=\"inline\"");
    let mut page = Page::open(true, strict, &inline).await;
    page.paste("require-trusted-types-for", "display=\"inline\"")
        .await;
    for (attributes, replaced) in [
        ("store=“demo” product=\"ebook\"", "store=“demo”"),
        ("store=\"demo\" product=„ebook“", "product=„ebook“"),
        (
            "store=\"demo\" product=\"ebook\" quantity=“1”",
            "quantity=“1”",
        ),
    ] {
        page.set("", &element(attributes)).await;
        let (sentence, line) = page.advice().await;
        // Wrong attributes are listed as lines.
        let line = if line.contains(": ") {
            line
        } else {
            format!("{sentence} {line}")
        };
        assert!(line.contains("typographic quotes"), "{line}");
        let (_, fixed) = line.rsplit_once(' ').unwrap();
        page.body = page.body.replace(replaced, fixed);
        page.works(fixed).await;
    }
    // The proxy's public_url is 127.0.0.1.
    let script = LOADER.replace(
        "P/",
        &format!(
            "{}/",
            page.world.proxy_url().replace("127.0.0.1", "localhost")
        ),
    );
    let elsewhere = element("store=\"demo\" product=\"ebook\"").replace(LOADER, &script);
    page.set("", &elsewhere).await;
    page.paste("public_url", &script).await;
    page.end().await;
}

#[tokio::test]
async fn a_line_for_the_headers_works_once_it_is_sent() {
    let inline = format!(
        "{LOADER}<florin-checkout store=\"demo\" product=\"ebook\" display=\"inline\"></florin-checkout>"
    );
    let mut page = Page::open(true, "", "").await;
    for (policy, body) in [
        (
            "default-src 'none'; script-src P; connect-src P; frame-src P",
            &inline,
        ),
        (
            "default-src 'none'; script-src P 'wasm-unsafe-eval'; frame-src P",
            &inline,
        ),
        (
            "default-src 'none'; script-src P; frame-src 'self'",
            &format!("{LOADER}{FRAME}"),
        ),
        (
            "default-src 'none'; script-src P; child-src 'none'",
            &format!("{LOADER}{FRAME}"),
        ),
    ] {
        page.set(policy, body).await;
        let (_, line) = page.advice().await;
        assert!(has_warning(&page.browser, &line).await, "{line}");
        let (directive, _) = line.split_once(' ').unwrap();
        let kept = page
            .policy
            .split("; ")
            .filter(|known| !known.starts_with(directive));
        page.policy = kept.chain([line.as_str()]).collect::<Vec<_>>().join("; ");
        page.works(&line).await;
    }
    page.site
        .set_header("permissions-policy", "clipboard-write=(self)");
    page.set("", &format!("{LOADER}{FRAME}")).await;
    let (_, line) = page.advice().await;
    let (_, value) = line.split_once(": ").unwrap();
    page.site.set_header("permissions-policy", value);
    page.works(&line).await;
    page.end().await;
}

#[tokio::test]
async fn a_line_for_the_configuration_works_once_it_is_pasted() {
    let inner = |world: &World| {
        let proxy = world.proxy_url();
        format!(
            "<script src='{proxy}/florin.js' async></script><florin-checkout store='demo' product='ebook'></florin-checkout>"
        )
    };
    let listed = StoreSite::open().await;
    let mut page = Page::open(false, "", "").await;
    for case in ["the page", "srcdoc", "around a listed page"] {
        page.world.set_origins(vec![listed.url().to_owned()]);
        page.world.stop_proxy().await;
        page.world.start_proxy().await;
        let element = inner(&page.world);
        listed.serve("", &element);
        (page.body, page.frames) = match case {
            "srcdoc" => (
                format!(
                    "<iframe data-testid=\"in\" allow=\"clipboard-write\" srcdoc=\"{element}\"></iframe>"
                ),
                &["in"][..],
            ),
            "the page" => (element, &[][..]),
            _ => (
                format!(
                    "<iframe data-testid=\"in\" allow=\"clipboard-write\" src=\"{}\"></iframe>",
                    listed.url()
                ),
                &["in"][..],
            ),
        };
        page.show().await;
        let (sentence, line) = page.advice().await;
        assert!(sentence.contains("[[store]] id = \"demo\""), "{sentence}");
        // A list of texts is the same in TOML and JSON.
        let origins = line.strip_prefix("origins = ").unwrap();
        let origins: Vec<String> = serde_json::from_str(origins).unwrap();
        let expected = [
            page.world.shop_url(),
            listed.url().to_owned(),
            page.site.url().to_owned(),
        ];
        assert_eq!(origins, expected, "{case}");
        page.world.set_origins(origins[1..].to_vec());
        page.world.stop_proxy().await;
        page.world.start_proxy().await;
        page.works(&line).await;
    }
    page.end().await;
}

#[tokio::test]
async fn where_nothing_can_be_pasted_the_cause_is_named() {
    let page = Page::open(
        true,
        "",
        &format!("{LOADER}{}", FRAME.replace("demo", "demox")),
    )
    .await;
    let (sentence, line) = page.advice().await;
    assert!(
        sentence.contains("store=\"demox\" names no store"),
        "{sentence}"
    );
    assert_eq!(line, "");
    // A name of this machine that is not `localhost`.
    let url = page.site.url().replace("127.0.0.1", "shop.localhost");
    page.site.serve("", &page.body.replace("demox", "demo"));
    page.browser.goto(&url).await;
    let (sentence, line) = page.advice().await;
    assert!(
        sentence.contains(&format!("{url} only over https")),
        "{sentence}"
    );
    assert_eq!(line, "");
    // The proxy's own reason, in the test environment.
    for (attributes, reason) in [
        (
            "product=\"mugg\"",
            "has no product \"mugg\"; it has [\"ebook\"",
        ),
        (
            "product=\"ebook\" quantity=\"999\"",
            "quantity=999 is not 1 to ",
        ),
        ("donation=\"tea\" amount=\"5\"", "has no donation \"tea\""),
        ("order-token=\"a.b.c\"", "the order token is rejected"),
        (
            "client-token=\"wrong\"",
            "no order has this id or client token",
        ),
    ] {
        let displays: &[&str] = if attributes.starts_with("product=\"mugg") {
            &["frame", "inline", "modal"]
        } else {
            &["inline"]
        };
        for display in displays {
            let proxy = page.world.proxy_url();
            let loader = LOADER.replace("P/", &format!("{proxy}/"));
            page.site.serve("", &format!("{loader}<florin-checkout store=\"demo\" {attributes} display=\"{display}\"></florin-checkout>"));
            page.browser.goto(page.site.url()).await;
            if *display == "modal" {
                wait_for_value(&page.browser, "the dialog opens", OPENS, true).await;
            }
            let (sentence, _) = page.advice().await;
            assert!(sentence.contains(reason), "{display}: {sentence}");
            let console = page.browser.console_warnings().await.join("\n");
            assert!(
                console.replace("\\\"", "\"").contains(reason),
                "{display}: {console}"
            );
        }
    }
    page.end().await;
}
