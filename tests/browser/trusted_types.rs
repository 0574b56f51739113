//! Trusted Types: no script of the checkout's page turns text into markup or code, except inert markup.

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, Engine, World};

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
    let inert = browser.evaluate(SETS, &[json!(INERT)]).await;
    assert_eq!(inert, json!(INERT), "{engine:?}");
    let knows = browser
        .evaluate("return 'trustedTypes' in window", &[])
        .await;
    if knows == true {
        let refused = browser.evaluate(SETS, &[json!(ACTIVE)]).await;
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
            let outcome = browser.evaluate(&tried, &[]).await;
            assert_eq!(outcome, Value::from("refused"), "{engine:?}: {what}");
        }
    }
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn chromium_accepts_only_inert_markup() {
    check_trusted_types(Engine::Chromium).await;
}

#[tokio::test]
async fn firefox_accepts_only_inert_markup() {
    check_trusted_types(Engine::Firefox).await;
}

#[tokio::test]
async fn webkit_accepts_only_inert_markup() {
    check_trusted_types(Engine::WebKit).await;
}
