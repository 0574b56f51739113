//! The checkout does not trust links to it or pages of other stores. With Trusted Types, no script of the checkout's page
//! turns text into markup or code, except inert markup. Every text of a shop or the gateway is shown as text: it adds no element,
//! runs no script, opens no foreign link, reverses no amount, and stays in the frame. The proxy rejects most of it; the widget does
//! not rely on that.

use std::fmt::Write as _;

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, Engine, World, eventually};

use crate::gallery::{Gallery, wide};
use crate::helpers::{end, shop_page, wait_for_warning};
use crate::states::OUTSIDE;

async fn token_value(browser: &Browser, token: &str) -> Value {
    let script = format!(
        "return document.querySelector('florin-checkout').style.getPropertyValue('--florin-{token}')"
    );
    browser.evaluate(&script).await
}

#[tokio::test]
async fn a_page_shows_no_order_of_another_store_and_pages_in_one_tab_keep_their_orders() {
    let (world, browser) = (World::start().await, Browser::open().await);
    let checkout = world.customer().open("ebook").await;
    let page = |store: &str| {
        let (proxy, token) = (world.proxy_url(), checkout.token());
        format!("{proxy}/pay?store={store}#client_token={token}")
    };
    browser.goto(&page("other")).await;
    browser.wait_for("status-stopped").await;
    wait_for_warning(&browser, "This order is not of the store other.").await;
    browser.goto(&page("demo")).await;
    browser.wait_for("status-open").await;
    // Pages in one tab keep their tokens separate.
    let second = world.customer().open("ebook").await;
    let mut addresses = Vec::new();
    for checkout in [&checkout, &second] {
        let (proxy, token) = (world.proxy_url(), checkout.token());
        let page = format!("{proxy}/pay#client_token={token}");
        browser.goto("about:blank").await;
        browser.goto(&page).await;
        browser.wait_for("status-open").await;
        addresses.push(browser.evaluate("return location.href").await);
    }
    let has_token = |address: &Value| address.to_string().contains("client_token");
    assert!(!addresses.iter().any(has_token), "{addresses:?}");
    browser.goto("about:blank").await;
    browser.goto(addresses[0].as_str().unwrap()).await;
    browser.press("asset-BTC").await;
    checkout.wait_for("awaiting_payment").await;
    second.wait_for("open").await;
    end(world, browser).await;
}

#[tokio::test]
async fn colours_of_a_link_that_hide_the_text_are_not_applied() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    let accent = "&--florin-accent=%23123456";
    let transparent = format!("&--florin-warning=transparent{accent}");
    gallery.show("choosing", &transparent).await;
    assert_eq!(token_value(browser, "accent").await, "#123456");
    let warning = token_value(browser, "warning").await;
    assert_eq!(warning, "", "what shows through hides");
    let white = format!("&--florin-text=%23fafafa{accent}");
    gallery.show("choosing", &white).await;
    eventually("white on white is removed", async || {
        (token_value(browser, "text").await == "").then_some(())
    })
    .await;
    gallery.end().await;
}

#[tokio::test]
async fn attributes_set_later_clear_an_earlier_error() {
    // As after a request of the shop: the element is invalid at first and valid later.
    let late = "<script>
        window.errors = [];
        customElements.whenDefined('florin-checkout').then(() => {
            const element = document.createElement('florin-checkout');
            element.addEventListener('florin-error', ({ detail }) => errors.push(detail.code));
            element.addEventListener('florin-ready', () => { window.isReady = true; });
            document.body.append(element);
            setTimeout(() => {
                element.setAttribute('store', 'demo');
                element.setAttribute('product', 'ebook');
            });
        });</script>";
    let (_site, world, browser) = shop_page(late).await;
    let is_ready = "return window.isReady";
    browser.wait_until("the checkout is shown", is_ready).await;
    let seen = "return [errors, !!document.querySelector('florin-checkout').shadowRoot.querySelector('iframe')]";
    assert_eq!(browser.evaluate(seen).await, json!([[], true]));
    end(world, browser).await;
}

/// Returns the result of each markup in a template; `refused` where the browser threw.
const SETS: &str = "
    return arguments[0].map((markup) => {
        const template = document.createElement('template');
        try {
            template.innerHTML = markup;
            return template.innerHTML;
        } catch (error) {
            return error.name === 'TypeError' ? 'refused' : String(error);
        }
    });";

/// Static markup as the compiler of the screens writes it.
const INERT: [&str; 3] = [
    "<div class=\"a\"><span aria-hidden=\"true\">1 &lt; 2</span><!----></div>",
    "<svg viewBox=\"0 0 24 24\"><path d=\"M4 12h16\"></path></svg>",
    "<p hidden=\"\">onclick src=</p>",
];

const ACTIVE: [&str; 9] = [
    "<img src=\"/icon.svg\">",
    "<p onclick=\"pay()\"></p>",
    "<p title=\"\" onclick=\"pay()\"></p>",
    "<img/src=x/onerror=pay()>",
    "<p\nonclick=pay()></p>",
    "<script>pay()</script>",
    "<a href=\"javascript:pay()\">a</a>",
    "<iframe></iframe>",
    "<svg><use href=\"#a\"></use></svg>",
];

async fn check_trusted_types(engine: Engine) {
    let world = World::start().await;
    let browser = Browser::open_engine(engine, BrowserOptions::default()).await;
    browser.goto(&world.checkout_page()).await;
    browser.wait_for("status-open").await;
    let inert = browser.evaluate_with(SETS, &[json!(INERT)]).await;
    assert_eq!(inert, json!(INERT), "{engine:?}");
    let knows = browser.evaluate("return 'trustedTypes' in window").await;
    if knows == true {
        let refused = browser.evaluate_with(SETS, &[json!(ACTIVE)]).await;
        assert_eq!(
            refused,
            Value::from(vec!["refused"; ACTIVE.len()]),
            "{engine:?}"
        );
        for (what, script) in [
            ("a second policy", "trustedTypes.createPolicy('other', {})"),
            (
                "the policy again",
                "trustedTypes.createPolicy('default', {})",
            ),
            (
                "a script",
                "document.createElement('script').src = '/florin.js'",
            ),
        ] {
            let tried = format!("try {{ {script}; return 'done' }} catch {{ return 'refused' }}");
            let outcome = browser.evaluate(&tried).await;
            assert_eq!(outcome, Value::from("refused"), "{engine:?}: {what}");
        }
    }
    end(world, browser).await;
}

#[tokio::test]
async fn chromium_accepts_only_inert_markup() {
    check_trusted_types(Engine::Chromium).await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn firefox_and_webkit_accept_only_inert_markup() {
    check_trusted_types(Engine::Firefox).await;
    check_trusted_types(Engine::WebKit).await;
}

/// Markup, addresses, and characters that browsers obey.
const TEXTS: [&str; 18] = [
    "<script>window.hacked = 1</script>",
    "\"><img src=x onerror=window.hacked=1>",
    "<svg/onload=window.hacked=1>",
    "' onfocus=window.hacked=1 autofocus tabindex=1 x='",
    "</style><style>*{display:none!important}</style>",
    "&lt;b&gt;&#x202e;&amp;nbsp;",
    "javascript:window.hacked=1",
    " JaVaScRiPt://shop.example/%0awindow.hacked=1",
    "data:text/html,<script>parent.hacked=1</script>",
    "https://shop.example@evil.example/",
    "http://shop.example/",
    "{store} {amount} {id} {constructor} ${7*7} {{7*7}}",
    "Shop\u{202e}2BTC 99.0\u{202d}\u{2066}\u{202a}0",
    "in\u{200b}vis\u{200d}i\u{feff}ble\u{2060}",
    "متجر ٤٢ الهدوء",
    "123 שלום 456 (abc)",
    "👩‍👩‍👧‍👦🏳️‍🌈☕️🇺🇦",
    "nul\0bell\u{7}escape\u{1b}[31m next\u{85}delete\u{7f}",
];

/// These texts, a stack of marks, and texts of ten thousand letters.
fn corpus() -> Vec<String> {
    let stack = ["Z", &"\u{0335}\u{0300}\u{0327}".repeat(30), "!"].concat();
    let long = ["W".repeat(10_000), "no end ".repeat(1_428)];
    let texts = TEXTS.map(str::to_owned).into_iter();
    texts.chain([stack]).chain(long).collect()
}

/// Together these states show every field.
const STATES: [&str; 15] = [
    "giving_many",
    "choosing",
    "choosing_reasons",
    "awaiting_payment",
    "paying_part",
    "hosted",
    "processing",
    "paid",
    "paid_reverted",
    "overpaid",
    "underpaid",
    "failed",
    "expired",
    "blocked",
    "stopped_product",
];

/// The text as shown: without control characters.
fn shown(text: &str) -> String {
    let obeyed =
        |c: &char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|c| !obeyed(c)).collect()
}

/// Returns the elements of a state, how often it shows the text, the targets of its links, whether a script ran, and
/// the amounts whose digits are not written from left to right.
const RENDER_STATE: &str = r"
    const [text] = arguments;
    const root = document.querySelector('florin-checkout').shadowRoot;
    /** Where the signs of the amount stand that a text begins with. */
    const places = (node) => {
        const range = document.createRange();
        const [amount] = node.data.match(/^\D?[\d.,]+/) || [''];
        return [...amount].map((_, at) => {
            range.setStart(node, at);
            range.setEnd(node, at + 1);
            return range.getBoundingClientRect();
        });
    };
    const turned = [...root.querySelectorAll('bdi, .number')].filter((at) => {
        const first = at.checkVisibility() && document.createTreeWalker(at, NodeFilter.SHOW_TEXT).nextNode();
        const signs = first ? places(first) : [];
        return signs.some(({ left, top }, place) => place && top === signs[place - 1].top && left < signs[place - 1].left);
    });
    return {
        // The number of groups of an address varies, and a QR code is shown only for texts that fit.
        elements: [...root.querySelectorAll('*:not(.address *, .qr *)')].map(({ tagName }) => tagName).join(' '),
        outside: document.querySelectorAll('body *').length,
        shown: root.textContent.split(text).length - 1,
        links: [...root.querySelectorAll('[href], [src], [action]')].map((at) => at.href || at.src || at.action),
        hacked: window.hacked ?? null,
        turned: turned.map((at) => at.textContent.slice(0, 60)),
    };";

/// Shows a state with this text in every field, on the loaded page.
async fn render_state(gallery: &Gallery, state: &str, text: &str) -> Value {
    let go = "
        const [state, text] = arguments;
        const element = document.querySelector('florin-checkout');
        delete element.dataset.shown;
        // Removes the purchase of the last text.
        sessionStorage.clear();
        location.hash = new URLSearchParams({ gallery: state, text, at: performance.now() });";
    gallery
        .browser
        .evaluate_with(go, &[json!(state), json!(text)])
        .await;
    gallery.wait_until_settled(state).await;
    gallery
        .browser
        .evaluate_with(RENDER_STATE, &[json!(shown(text))])
        .await
}

/// Returns `true` for allowed links: TLS, this machine, e-mail, wallets.
fn is_known_link(link: &Value) -> bool {
    let link = link.as_str().unwrap_or_default();
    let known = ["https://", "http://127.0.0.1", "mailto:", "bitcoin:"];
    let (place, _) = link.split_once('?').unwrap_or((link, ""));
    known.iter().any(|start| place.starts_with(start)) && !place.contains("evil.example")
}

/// Shows the states with the texts of which `is_wanted(number of the state, number of the text)` is `true`.
async fn check_is_text(is_wanted: impl Fn(usize, usize) -> bool) {
    let gallery = Gallery::open().await;
    gallery.browser.emulate(wide(320)).await;
    let mut found = String::new();
    let corpus = corpus();
    for (number, state) in STATES.into_iter().enumerate() {
        let harmless = render_state(&gallery, state, "Quiet Goods").await;
        let texts = corpus.iter().enumerate();
        for (_, text) in texts.filter(|(text, _)| is_wanted(number, *text)) {
            let what: String = text.escape_debug().take(40).collect();
            let become_ = render_state(&gallery, state, text).await;
            for member in ["elements", "outside", "shown"] {
                if become_[member] != harmless[member] {
                    let (is, was) = (&become_[member], &harmless[member]);
                    let _ = writeln!(found, "{what} in {state}: {member} {is}, not {was}");
                }
            }
            for member in ["hacked", "turned"] {
                if become_[member] != json!(null) && become_[member] != json!([]) {
                    let _ = writeln!(found, "{what} in {state}: {member} {}", become_[member]);
                }
            }
            let links = become_["links"].as_array().unwrap().iter();
            for link in links.filter(|link| !is_known_link(link)) {
                let _ = writeln!(found, "{what} in {state} leads to {link}");
            }
            let outside = gallery.browser.evaluate(OUTSIDE).await;
            for one in outside.as_array().unwrap() {
                let _ = writeln!(found, "{what} in {state} sticks out: {one}");
            }
        }
    }
    assert!(found.is_empty(), "{found}");
    gallery.end().await;
}

/// Each text in a fifth of the states, and in each state a fifth of the texts.
#[tokio::test]
async fn every_text_is_text_in_some_field_of_every_state() {
    check_is_text(|state, text| state % 5 == text % 5).await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn every_text_is_text_in_every_field() {
    check_is_text(|_, _| true).await;
}
