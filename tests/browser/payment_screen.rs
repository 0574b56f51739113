//! The payment screen: amount, address, and what helps to pay.

use std::time::Duration;

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, Checkout, World, eventually, within};
use thirtyfour::Key;

use crate::helpers::{choose_asset, open_ebook_checkout};

/// Opens the checkout page and chooses this asset.
pub(crate) async fn open_payment(
    world: &World,
    options: BrowserOptions,
    asset: &str,
) -> (Browser, Checkout, Value) {
    let browser = Browser::open_with(options).await;
    browser.goto(&world.checkout_page()).await;
    let checkout = choose_asset(world, &browser, asset).await;
    let attempt = checkout.view().await["attempt"].clone();
    (browser, checkout, attempt)
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Waits until the text of `name` holds `words`.
pub(crate) async fn wait_for_text(browser: &Browser, name: &str, words: &str) {
    browser.wait_for_text(name, words).await;
}

#[tokio::test]
async fn pressing_the_amount_copies_the_bare_number() {
    let world = World::start().await;
    let browser = Browser::open().await;
    open_ebook_checkout(&world, &browser).await;
    let checkout = choose_asset(&world, &browser, "USDTTRC20").await;
    let attempt = checkout.view().await["attempt"].clone();
    let width = "return document.querySelector('florin-checkout').shadowRoot.querySelector('[data-testid=\"copy-address\"]').offsetWidth";
    let before = browser.evaluate(width, &[]).await;
    browser.press("amount").await;
    eventually("the amount is in the clipboard", async || {
        (browser.clipboard().await == text(&attempt["amount_in_crypto"])).then_some(())
    })
    .await;
    // The network is copied with the address, and a confirmation replaces the label.
    let text = browser.text("copy-address").await;
    assert!(text.contains("Copy Tron address"), "{text}");
    browser.press("copy-address").await;
    eventually("the copy is confirmed", async || {
        let copied = browser
            .wait_for("copy-address")
            .await
            .attr("data-copied")
            .await;
        copied.unwrap().map(|_| ())
    })
    .await;
    assert_eq!(browser.evaluate(width, &[]).await, before);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn without_clipboard_access_the_text_is_selected_and_the_page_explains_it() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser
        .run_before_every_page(
            "navigator.clipboard.writeText = () => Promise.reject(new Error('denied'))",
        )
        .await;
    browser.goto(&world.checkout_page()).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    let address = checkout.address().await;
    browser.press("copy-address").await;
    wait_for_text(&browser, "status-awaiting_payment", "The text is selected").await;
    let selected = "return document.getSelection().toString().replace(/\\s/g, '')";
    assert_eq!(browser.evaluate(selected, &[]).await, address);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_pasted_address_is_compared_at_once() {
    let world = World::start().await;
    let (browser, _, attempt) = open_payment(&world, BrowserOptions::default(), "USDTERC20").await;
    let address = text(&attempt["address"]);
    browser.press("compare").await;
    browser.fill("paste-back", &address.to_lowercase()).await;
    wait_for_text(&browser, "pasted", "The address matches.").await;
    browser
        .fill("paste-back", text(&attempt["qr_string"]))
        .await;
    wait_for_text(&browser, "pasted", "The address matches.").await;
    browser.fill("paste-back", &address[..9]).await;
    wait_for_text(&browser, "pasted", "only part").await;
    let forged = format!("{}00{}", &address[..20], &address[22..]);
    browser.fill("paste-back", &forged).await;
    wait_for_text(&browser, "pasted", "This is a different address.").await;
    let regions = "return [...document.querySelector('florin-checkout').shadowRoot.querySelectorAll('[role=status]')].map(at => at.textContent.trim())";
    let text = browser.evaluate(regions, &[]).await;
    let warning = "This is a different address. Don’t send to it; copy it again from this page.";
    assert_eq!(text, json!([warning]));
    let marks = "return [...document.querySelector('florin-checkout').shadowRoot.querySelectorAll('mark')].map(m => m.textContent).join()";
    assert_eq!(browser.evaluate(marks, &[]).await, "00");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn the_page_names_the_host_that_checked_the_address() {
    let world = World::start().await;
    let (browser, ..) = open_payment(&world, BrowserOptions::default(), "LTC").await;
    let url = world.proxy_url();
    let host = url.split_once("://").unwrap().1;
    let line = browser.text("verified").await;
    assert_eq!(line, format!("Address verified by {host}"));
    browser.press("verified").await;
    wait_for_text(&browser, "verified-aid", "valid on Litecoin").await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn on_a_phone_amount_code_and_address_need_no_scrolling() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.set_viewport(390, 844).await;
    browser.emulate_touch().await;
    browser.goto(&world.checkout_page()).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    let attempt = checkout.view().await["attempt"].clone();
    let link = browser.wait_for("wallet-link").await;
    assert_eq!(
        link.attr("href").await.unwrap().as_deref(),
        attempt["qr_string"].as_str()
    );
    let feet = r#"
        const root = document.querySelector('florin-checkout').shadowRoot;
        const foot = (name) => root.querySelector(`[data-testid="${name}"]`).getBoundingClientRect().bottom;
        return ['amount', 'qr', 'wallet-link', 'copy-address'].filter((name) => foot(name) > 700)"#;
    assert_eq!(browser.evaluate(feet, &[]).await, json!([]));
    assert_eq!(browser.scan("qr").await, attempt["qr_string"]);
    browser.press("qr").await;
    assert_eq!(browser.scan("qr-large").await, attempt["qr_string"]);
    browser.press("qr-close").await;
    browser.wait_until_gone("qr-large").await;

    // The button "I have paid" is always visible and covers no focused element.
    let covered = r"
        scrollTo(0, 0);
        const root = document.querySelector('florin-checkout').shadowRoot;
        const bar = root.querySelector('.confirm').getBoundingClientRect();
        if (bar.bottom > innerHeight + 1) return 'it is out of reach';
        const all = [...root.querySelectorAll('a[href], button, input, summary')].filter((at) => at.checkVisibility() && !at.closest('.confirm'));
        return all.filter((at) => {
            scrollTo(0, 0);
            at.focus();
            const box = at.getBoundingClientRect();
            const edge = root.querySelector('.confirm').getBoundingClientRect();
            return box.bottom > edge.top && box.top < edge.bottom;
        }).map((at) => at.className || at.id)";
    assert_eq!(browser.evaluate(covered, &[]).await, json!([]));
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_wide_screen_shows_the_code_beside_the_address() {
    let world = World::start().await;
    let (browser, ..) = open_payment(&world, BrowserOptions::default(), "BTC").await;
    assert!(browser.is_visible("qr").await);
    let beside = r#"
        const root = document.querySelector('florin-checkout').shadowRoot;
        const box = (name) => root.querySelector(`[data-testid="${name}"]`).getBoundingClientRect();
        return box('qr').right < box('address').left && box('qr').top < box('address').top"#;
    assert_eq!(browser.evaluate(beside, &[]).await, json!(true));
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn the_exchanges_name_of_the_network_is_shown() {
    let world = World::start().await;
    let (browser, _, attempt) = open_payment(&world, BrowserOptions::default(), "USDTTRC20").await;
    assert!(browser.is_visible("exchange").await);
    browser.press("exchange").await;
    let words = browser.text("exchange-aid").await;
    let exactly = format!(
        "Withdraw enough for {}\u{a0}USDT to arrive",
        text(&attempt["amount_in_crypto"])
    );
    for part in [
        "TRC20 / TRON",
        &exactly,
        "your exchange’s minimum withdrawal",
        "A late payment isn’t lost",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn two_devices_follow_one_order() {
    let world = World::start().await;
    let (laptop, checkout, attempt) = open_payment(&world, BrowserOptions::default(), "BTC").await;
    let links = "return document.querySelector('florin-checkout').shadowRoot.innerHTML.includes('client_token')";
    assert_eq!(laptop.evaluate(links, &[]).await, json!(false));
    laptop.press("handoff").await;
    let link = laptop.scan("handoff-qr").await;
    assert_eq!(laptop.text("link").await, link);

    let phone = Browser::open().await;
    phone.goto(&link).await;
    phone.wait_for("status-awaiting_payment").await;
    assert_eq!(phone.text("address").await, attempt["address"]);
    let here = phone.evaluate("return location.href", &[]).await;
    assert!(!text(&here).contains("token"), "{here}");

    // After closing, the link is not on the page.
    laptop.press("handoff").await;
    laptop.wait_until_gone("link").await;
    assert_eq!(laptop.evaluate(links, &[]).await, json!(false));

    phone.press("i-have-paid").await;
    laptop.wait_for("status-checking").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    for screen in [&laptop, &phone] {
        screen.wait_for("status-paid").await;
    }
    laptop.end().await;
    phone.end().await;
    world.end().await;
}

#[tokio::test]
async fn in_the_last_minute_a_new_quote_is_offered_before_the_address() {
    let world = World::start().await;
    let (browser, checkout, attempt) = open_payment(&world, BrowserOptions::default(), "BTC").await;
    let held = browser.text("countdown").await;
    assert!(held.contains("Price held for 1"), "{held}");
    assert!(held.contains("minutes"), "{held}");
    // The page counts by its own clock: a reload applies the moved clock.
    world.skip(Duration::from_secs(13 * 60 + 45));
    browser.reload().await;
    browser.wait_for("copy-address").await;
    let focus = r#"
        const root = document.querySelector('florin-checkout').shadowRoot;
        root.querySelector('[data-testid="copy-address"]').focus()"#;
    browser.evaluate(focus, &[]).await;
    let guard = within(Duration::from_mins(1), async || {
        browser.is_visible("guard").await.then_some(())
    });
    guard.await.expect("in the last minute the guard is shown");
    for gone in [
        "address",
        "qr",
        "amount",
        "copy-address",
        "copy-amount",
        "wallet-link",
    ] {
        assert!(!browser.is_visible(gone).await, "{gone}");
    }
    let words = browser.text("guard").await;
    assert!(words.contains("your money isn’t lost"), "{words}");
    let left = browser.text("countdown").await;
    assert!(left.contains("0:"), "{left}");
    // The focus is not lost when the address disappears.
    eventually("the focus is on the guard", async || {
        let focused =
            "return document.querySelector('florin-checkout').shadowRoot.activeElement?.tagName";
        (browser.evaluate(focused, &[]).await == "H3").then_some(())
    })
    .await;

    browser.press("guard-anyway").await;
    assert_eq!(browser.text("address").await, attempt["address"]);
    let focused =
        "return document.querySelector('florin-checkout').shadowRoot.activeElement?.dataset.testid";
    browser
        .wait_for_result(
            "the focus is on the address",
            focused,
            &json!("copy-amount"),
        )
        .await;
    assert!(!browser.is_visible("guard").await);
    browser.reload().await;
    browser.wait_for("guard").await;
    let still = "return document.querySelector('florin-checkout').shadowRoot.getAnimations().every(({ playState }) => playState === 'finished')";
    browser
        .wait_for_result("the screen's transition has ended", still, &json!(true))
        .await;
    browser.press("new-quote").await;
    eventually("another address is shown", async || {
        let address = browser.is_visible("address").await
            && browser.text("address").await != text(&attempt["address"]);
        address.then_some(())
    })
    .await;
    let held = browser.text("countdown").await;
    assert!(held.contains("Price held for 1"), "{held}");

    // A payment to the old address is still found.
    let old = world.sandbox().invoice_of(text(&attempt["address"])).await;
    world.sandbox().pay_invoice(&old, "exact").await;
    world.sandbox().mine(3).await;
    browser.wait_for("status-paid").await;
    checkout.wait_for("paid").await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn after_a_payment_no_new_quote_is_offered() {
    let world = World::start().await;
    let (browser, checkout, attempt) = open_payment(&world, BrowserOptions::default(), "BTC").await;
    world.sandbox().pay(&checkout, "half").await;
    browser.wait_for("remaining").await;
    world.skip(Duration::from_secs(14 * 60 + 5));
    eventually("the last minute is shown", async || {
        let left = checkout.view().await["attempt"]["expires_in_seconds"].as_u64();
        (left? < 60).then_some(())
    })
    .await;
    browser.reload().await;
    browser.wait_for("remaining").await;
    assert!(!browser.is_visible("guard").await);
    assert_eq!(browser.text("address").await, attempt["address"]);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn an_invalid_email_is_reported_at_its_field() {
    let world = World::start().await;
    let (browser, checkout, _) = open_payment(&world, BrowserOptions::default(), "BTC").await;
    browser.press("compare").await;
    browser.fill("paste-back", "nothing of an address").await;
    browser.fill("email", "me@nowhere").await;
    browser.press("i-have-paid").await;
    wait_for_text(
        &browser,
        "email-wrong",
        "Enter an email address like name@example.com.",
    )
    .await;
    let field = browser.wait_for("email").await;
    assert_eq!(
        field.attr("aria-invalid").await.unwrap().as_deref(),
        Some("true")
    );
    assert_eq!(
        field.prop("value").await.unwrap().as_deref(),
        Some("me@nowhere")
    );
    assert_eq!(checkout.view().await["status"], "awaiting_payment");
    browser.fill("email", "me@nowhere.example").await;
    eventually("nothing is wrong any more", async || {
        // Without text it has no size and is not visible.
        let words = browser
            .evaluate(
                "return document.querySelector('florin-checkout').shadowRoot.querySelector('#email-wrong').textContent",
                &[],
            )
            .await;
        (words == "").then_some(())
    })
    .await;
    browser.press("i-have-paid").await;
    browser.wait_for("status-checking").await;
    eventually("the gateway knows the address of the receipt", async || {
        let invoices = world.sandbox().invoices().await;
        (invoices[0]["email"] == "me@nowhere.example").then_some(())
    })
    .await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_stored_email_is_not_requested_again_and_can_be_changed() {
    let world = World::start().await;
    let (browser, checkout, _) = open_payment(&world, BrowserOptions::default(), "BTC").await;
    browser.fill("email", "me@nowhere.example").await;
    browser.type_keys(Key::Tab).await;
    browser.wait_for("email-saved").await;
    browser.reload().await;
    let kept = browser.text("email-kept").await;
    assert!(kept.contains("Email saved for your receipt"), "{kept}");
    assert!(!browser.is_visible("email").await);
    browser.press("email-change").await;
    eventually("the field has the focus", async || {
        let focused =
            "return document.querySelector('florin-checkout').shadowRoot.activeElement?.id";
        (browser.evaluate(focused, &[]).await == "email").then_some(())
    })
    .await;
    // An empty field deletes nothing.
    browser.press("i-have-paid").await;
    browser.wait_for("status-checking").await;
    assert_eq!(checkout.view().await["email_kept"], true);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn the_whole_screen_fits_into_the_frame_of_a_shop() {
    let (world, browser) = (World::start().await, Browser::open().await);
    browser.set_viewport(1270, 740).await;
    browser.goto(&world.checkout_page()).await;
    let height = "return document.documentElement.scrollHeight";
    for asset in ["USDTTRC20", "BTC"] {
        choose_asset(&world, &browser, asset).await;
        assert_eq!(browser.evaluate(height, &[]).await, json!(740), "{asset}");
        browser.press("other-asset").await;
    }
    browser.end().await;
    world.end().await;
}
