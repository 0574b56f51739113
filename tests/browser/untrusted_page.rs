//! The checkout does not trust links to it or pages of other stores. With Trusted Types, no script of the checkout's page
//! turns text into markup or code, except inert markup.

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, Engine, World, eventually};

use crate::gallery::Gallery;
use crate::helpers::{end, shop_page, wait_for_warning};

/// Returns the value of a theme token of the checkout.
async fn token_value(browser: &Browser, token: &str) -> Value {
    let script = format!(
        "return document.querySelector('florin-checkout').style.getPropertyValue('--florin-{token}')"
    );
    browser.evaluate(&script).await
}

#[tokio::test]
async fn a_page_of_one_store_shows_no_order_of_another() {
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
async fn pages_in_one_tab_keep_their_tokens_separate() {
    let (world, browser) = (World::start().await, Browser::open().await);
    let [first, second] = [
        world.customer().open("ebook").await,
        world.customer().open("ebook").await,
    ];
    let mut addresses = Vec::new();
    for checkout in [&first, &second] {
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
    first.wait_for("awaiting_payment").await;
    second.wait_for("open").await;
    end(world, browser).await;
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
