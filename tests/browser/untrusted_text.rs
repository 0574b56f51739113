//! Every text of a shop or the gateway is shown as text: it adds no element, runs no script, opens no foreign link,
//! reverses no amount, and stays in the frame. The proxy rejects most of it; the widget does not rely on that.

use std::fmt::Write as _;

use serde_json::{Value, json};
use support::{Browser, World};

use crate::gallery::{Gallery, wide};
use crate::states::OUTSIDE;

/// Descriptions and texts.
fn corpus() -> Vec<(&'static str, String)> {
    let texts = [
        ("a script", "<script>window.hacked = 1</script>"),
        ("an image", "\"><img src=x onerror=window.hacked=1>"),
        ("a drawing", "<svg/onload=window.hacked=1>"),
        (
            "an attribute",
            "' onfocus=window.hacked=1 autofocus tabindex=1 x='",
        ),
        (
            "a sheet",
            "</style><style>*{display:none!important}</style>",
        ),
        ("entities", "&lt;b&gt;&#x202e;&amp;nbsp;"),
        ("a scheme", "javascript:window.hacked=1"),
        (
            "a disguised scheme",
            " JaVaScRiPt://shop.example/%0awindow.hacked=1",
        ),
        (
            "a document",
            "data:text/html,<script>parent.hacked=1</script>",
        ),
        ("another host", "https://shop.example@evil.example/"),
        ("a page without TLS", "http://shop.example/"),
        (
            "a template",
            "{store} {amount} {id} {constructor} ${7*7} {{7*7}}",
        ),
        (
            "overrides",
            "Shop\u{202e}2BTC 99.0\u{202d}\u{2066}\u{202a}0",
        ),
        ("no width", "in\u{200b}vis\u{200d}i\u{feff}ble\u{2060}"),
        ("right to left", "متجر ٤٢ الهدوء"),
        ("both ways", "123 שלום 456 (abc)"),
        ("emoji", "👩‍👩‍👧‍👦🏳️‍🌈☕️🇺🇦"),
        (
            "controls",
            "nul\0bell\u{7}escape\u{1b}[31m next\u{85}delete\u{7f}",
        ),
    ];
    let mut texts: Vec<_> = texts.map(|(what, text)| (what, text.to_owned())).into();
    texts.push((
        "a stack",
        ["Z", &"\u{0335}\u{0300}\u{0327}".repeat(30), "!"].concat(),
    ));
    texts.push(("ten thousand letters", "W".repeat(10_000)));
    texts.push(("ten thousand words", "no end ".repeat(1_428)));
    texts
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
        .evaluate(go, &[json!(state), json!(text)])
        .await;
    gallery.wait_until_settled(state).await;
    gallery
        .browser
        .evaluate(RENDER_STATE, &[json!(shown(text))])
        .await
}

/// Returns `true` for allowed links: TLS, this machine, e-mail, wallets.
fn is_known_link(link: &Value) -> bool {
    let link = link.as_str().unwrap_or_default();
    let known = ["https://", "http://127.0.0.1", "mailto:", "bitcoin:"];
    let (place, _) = link.split_once('?').unwrap_or((link, ""));
    known.iter().any(|start| place.starts_with(start)) && !place.contains("evil.example")
}

/// Shows every state with every one of these texts.
async fn check_is_text(texts: &[(&'static str, String)]) {
    let gallery = Gallery::open().await;
    gallery.browser.emulate(wide(320)).await;
    let mut found = String::new();
    for state in STATES {
        let harmless = render_state(&gallery, state, "Quiet Goods").await;
        for (what, text) in texts {
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
            let outside = gallery.browser.evaluate(OUTSIDE, &[]).await;
            for one in outside.as_array().unwrap() {
                let _ = writeln!(found, "{what} in {state} sticks out: {one}");
            }
        }
    }
    assert!(found.is_empty(), "{found}");
    gallery.end().await;
}

#[tokio::test]
async fn markup_and_addresses_in_every_field_are_text() {
    check_is_text(&corpus()[..12]).await;
}

#[tokio::test]
async fn unusual_characters_in_every_field_are_text() {
    check_is_text(&corpus()[12..]).await;
}

#[tokio::test]
async fn a_shops_title_sent_by_the_proxy_is_text() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.emulate(wide(320)).await;
    // The longest title of an order token.
    let titles = corpus().into_iter().map(|(_, text)| text);
    let titles = titles.filter(|text| text.chars().count() <= 120);
    for (number, title) in titles.enumerate() {
        let mut claims = world
            .token_signer()
            .claims(&format!("hostile-{number}"), "19.90");
        claims["title"] = json!(title);
        let token = world.token_signer().sign(&claims);
        browser.goto("about:blank").await;
        let page = format!("{}/pay#order_token={token}", world.proxy_url());
        browser.goto(&page).await;
        browser.wait_for("asset-BTC").await;
        let become_ = browser
            .evaluate(RENDER_STATE, &[json!(shown(&title))])
            .await;
        assert_eq!(become_["shown"], 1, "{title:?}: {become_}");
        assert_eq!(become_["hacked"], Value::Null, "{title:?}");
        assert_eq!(become_["turned"], json!([]), "{title:?}");
        let elements = become_["elements"].as_str().unwrap();
        for strange in ["IMG", "SCRIPT", "STYLE"] {
            assert!(!elements.contains(strange), "{title:?}: {elements}");
        }
        let links = become_["links"].as_array().unwrap();
        assert!(links.iter().all(is_known_link), "{links:?}");
        assert_eq!(browser.evaluate(OUTSIDE, &[]).await, json!([]), "{title:?}");
    }
    browser.end().await;
    world.end().await;
}
