//! The payment screen where page and proxy meet: prices that end, addresses of email, a second device, and a phone. And QR codes: a
//! decoder that shares no code with ours reads from each what the proxy sends, in light and dark colours, small and enlarged.

use serde_json::json;
use support::{Browser, BrowserOptions};
use thirtyfour::Key;

use crate::gallery::{Gallery, wide};
use crate::helpers::{
    RECORD_ANNOUNCEMENTS, change_responses, checkout_page, choose_asset, end, open_dialog,
    open_payment, read_inside, shop_page, wait_for_focus, wait_for_value, wait_until_announced,
};

#[tokio::test]
async fn on_a_phone_amount_code_and_address_need_no_scrolling() {
    let (world, browser) = checkout_page(&[]).await;
    browser.set_viewport(390, 844).await;
    browser.emulate_touch().await;
    browser.reload().await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    let attempt = checkout.view().await["attempt"].clone();
    let link = browser.wait_for("wallet-link").await;
    assert_eq!(
        link.attr("href").await.unwrap().as_deref(),
        attempt["qr_string"].as_str()
    );
    let feet = "
        const foot = (name) => named(name).getBoundingClientRect().bottom;
        return ['amount', 'qr', 'copy-address'].filter((name) => foot(name) > 700)";
    assert_eq!(read_inside(&browser, feet).await, json!([]));
    assert_eq!(browser.scan("qr").await, attempt["qr_string"]);
    // The way to pay is always visible and covers no focused element; once it was used, "I've sent it" is.
    let covered = "
        scrollTo(0, 0);
        const bar = named(name).parentNode;
        if (bar.getBoundingClientRect().bottom > innerHeight + 1) return 'it is out of reach';
        const all = [...inside.querySelectorAll('a[href], button, input, summary')].filter((at) => at.checkVisibility() && !bar.contains(at));
        return all.filter((at) => {
            scrollTo(0, 0);
            at.focus();
            const box = at.getBoundingClientRect();
            const edge = bar.getBoundingClientRect();
            return box.bottom > edge.top && box.top < edge.bottom;
        }).map((at) => at.className || at.id)";
    for name in ["wallet-link", "i-have-paid"] {
        let covered = format!("const name = '{name}';{covered}");
        assert_eq!(read_inside(&browser, &covered).await, json!([]), "{name}");
        // No program of this machine opens the link, and another fragment would be another order.
        let press = "const link = named('wallet-link'); link.removeAttribute('href'); link.click()";
        read_inside(&browser, press).await;
        let place = "inside.querySelector('a.wallet').parentNode.className";
        wait_for_value(&browser, "it has its place", place, "wallet-list").await;
    }

    // An enlarged code closes when the payment is found.
    browser.press("qr").await;
    browser.wait_for("qr-large").await;
    world.sandbox().pay(&checkout, "exact").await;
    browser.wait_for("status-processing").await;
    browser.wait_until_gone("qr-large").await;
    end(world, browser).await;
}

/// A dialog has a lower edge. A frame is as high as what is in it.
#[tokio::test]
async fn on_a_phone_the_way_to_pay_is_at_the_edge_of_a_dialog_and_first_in_a_frame() {
    for (display, expected) in [
        ("modal", json!(["way", false, true])),
        ("frame", json!(["wallet-list", true, true])),
    ] {
        let element = format!(
            "<florin-checkout store=\"demo\" product=\"ebook\" display=\"{display}\"></florin-checkout>"
        );
        let (_site, world, browser) = shop_page(&element).await;
        browser.set_viewport(390, 844).await;
        browser.emulate_touch().await;
        browser.reload().await;
        if display == "modal" {
            open_dialog(&browser).await;
        }
        browser.enter_checkout().await;
        choose_asset(&world, &browser, "BTC").await;
        let place = "
            const [link, amount] = ['wallet-link', 'amount'].map((name) => named(name).getBoundingClientRect());
            return [named('wallet-link').parentNode.className, link.bottom < amount.top, link.bottom <= innerHeight]";
        assert_eq!(read_inside(&browser, place).await, expected, "{display}");
        end(world, browser).await;
    }
}

/// Names of the visible controls of the screen, and its words; an address is one.
const CONTROLS_AND_WORDS: &str = "
    const screen = inside.querySelector('.screen');
    const isVisible = (at) => at.checkVisibility({ visibilityProperty: true });
    const controls = [...screen.querySelectorAll('a[href], button, input, select, summary')].filter(isVisible);
    const walker = document.createTreeWalker(screen, NodeFilter.SHOW_TEXT);
    const words = ['(address)'];
    while (walker.nextNode()) {
        const at = walker.currentNode.parentElement;
        if (isVisible(at) && !at.closest('.address')) words.push(...walker.currentNode.data.split(/\\s+/).filter(Boolean));
    }
    return [controls.map((at) => at.dataset.testid || at.className), words];";

/// In the frame, which has a way to another page beside all else.
#[tokio::test]
async fn the_screen_of_a_usual_payment_has_ten_controls_and_seventy_five_words_at_most() {
    let frame =
        "<florin-checkout store=\"demo\" product=\"ebook\" display=\"frame\"></florin-checkout>";
    let (_site, world, browser) = shop_page(frame).await;
    browser.enter_checkout().await;
    choose_asset(&world, &browser, "USDTTRC20").await;
    browser.wait_for("wallet-page").await;
    let counted = read_inside(&browser, CONTROLS_AND_WORDS).await;
    let [controls, words] = [0, 1].map(|at| counted[at].as_array().unwrap().len());
    assert!(
        controls <= 10 && words <= 75,
        "{controls}, {words}: {counted}"
    );
    end(world, browser).await;
}

/// Names of what is visible on the screen, from top to bottom.
const SEQUENCE: &str = "
    const all = [...inside.querySelectorAll('.screen :is([data-testid], [part])')].filter((at) => at.checkVisibility({ visibilityProperty: true }));
    const top = (at) => Math.round(at.getBoundingClientRect().top + scrollY);
    return all.sort((one, other) => top(one) - top(other)).map((at) => at.dataset.testid || at.part.value);";

#[tokio::test]
async fn the_gallery_has_the_layout_of_a_real_order_on_a_phone() {
    let (world, browser) = checkout_page(&[]).await;
    browser.set_viewport(390, 844).await;
    browser.emulate_touch().await;
    browser.reload().await;
    let mut real = Vec::new();
    for asset in ["BTC", "USDTTRC20"] {
        choose_asset(&world, &browser, asset).await;
        browser.wait_for("i-have-paid").await;
        real.push(read_inside(&browser, SEQUENCE).await);
        browser.press("other-asset").await;
    }
    let gallery = Gallery { world, browser };
    for (state, real) in ["awaiting_payment", "paying_tether"].iter().zip(real) {
        gallery.load(state).await;
        let shown = read_inside(&gallery.browser, SEQUENCE).await;
        assert_eq!(shown, real, "{state}");
    }
    gallery.end().await;
}

/// Names, upper edges and widths of what a phone offers, in the order of the document.
const OFFERED: &str = "
    const all = [...inside.querySelectorAll('.instructions :is(a, button, [data-testid=address])')];
    return all.filter((at) => at.checkVisibility({ visibilityProperty: true })).map((at) => {
        const { top, width } = at.getBoundingClientRect();
        return [at.dataset.testid || at.id, top, width];
    });";

#[tokio::test]
async fn a_phone_has_its_own_handler_first_then_apps_then_code_and_address() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    browser.emulate_touch().await;
    gallery.show("paying_phone", "").await;
    let links = "return ['wallet-link', 'wallet-app-MetaMask'].map((name) => named(name).getAttribute('href'))";
    let code = Gallery::attempt("paying_phone", "qr_string");
    let app = code.replace("ethereum:", "https://link.metamask.io/send/");
    assert_eq!(read_inside(browser, links).await, json!([code, app]));
    for width in [320, 390, 768] {
        browser.set_viewport(width, 844).await;
        let offered = read_inside(browser, OFFERED).await;
        let offered = offered.as_array().unwrap();
        let place = |name: &str| offered.iter().position(|one| one[0] == name).unwrap();
        let number = |name: &str, member: usize| offered[place(name)][member].as_f64().unwrap();
        let order = ["wallet-link", "wallet-app-MetaMask", "copy-address"];
        assert!(order.is_sorted_by_key(|name| place(name)), "{offered:?}");
        // Two of the first are beside each other where there is room.
        let tops = order.map(|name| number(name, 1));
        assert!(tops.is_sorted(), "{offered:?}");
        for other in ["address", "copy-amount"] {
            assert!(tops[1] < number(other, 1), "{other}");
        }
        for name in &order[..2] {
            assert!(number(name, 2) > 200.0, "{name}: {offered:?}");
        }
    }
    browser.tab_to("wallet-link").await;
    browser.type_keys(Key::Tab).await;
    wait_for_focus(browser, "wallet-app-MetaMask").await;
    // In a wallet's own browser, that wallet is the way.
    browser.set_viewport(390, 844).await;
    gallery.show("paying_wallet_phone", "").await;
    assert!(!browser.is_visible("wallet-app-MetaMask").await);
    let is_first = "(() => {
        const top = (selector) => inside.querySelector(selector).getBoundingClientRect().top;
        return ['[data-testid=address]', '[data-testid=qr]', 'a.wallet'].every((other) => top('.wallet-button') < top(other));
    })()";
    wait_for_value(browser, "the wallet is first", is_first, true).await;
    // No program of this machine opens the link; then one opens late.
    gallery.show("paying_phone_none", "").await;
    let none = browser.text("wallet-none").await;
    assert_eq!(none, "No wallet opened? Copy the amount and the address.");
    let leave = "Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));";
    browser.evaluate(leave).await;
    assert!(!browser.is_visible("wallet-none").await);
    gallery.end().await;
}

#[tokio::test]
async fn two_devices_follow_one_order_and_its_stored_email_is_not_requested_again() {
    let (world, laptop, checkout) = open_payment("BTC", &[]).await;
    let attempt = checkout.view().await["attempt"].clone();
    let has_link = "return inside.innerHTML.includes('client_token')";
    assert_eq!(read_inside(&laptop, has_link).await, false);
    laptop.press("handoff").await;
    let link = laptop.scan("handoff-qr").await;
    assert_eq!(laptop.text("link").await, link);

    let phone = Browser::open().await;
    phone.goto(&link).await;
    phone.wait_for("status-awaiting_payment").await;
    assert_eq!(phone.text("address").await, attempt["address"]);
    let here = phone.evaluate("return location.href").await;
    assert!(!here.as_str().unwrap().contains("token"), "{here}");

    // After closing, the link is not on the page.
    laptop.press("handoff").await;
    laptop.wait_until_gone("link").await;
    assert_eq!(read_inside(&laptop, has_link).await, false);

    phone.press("i-have-paid").await;
    laptop.wait_for("status-checking").await;
    world.sandbox().pay(&checkout, "exact").await;
    laptop.wait_for("status-processing").await;
    laptop.fill("email", "me@nowhere.example").await;
    laptop.press("email-receipt").await;
    laptop.wait_for("email-saved").await;
    // The address of the receipt is not requested again.
    let kept = phone.text("email-kept").await;
    assert_eq!(kept, "Email saved for your receipt");
    assert!(!phone.is_visible("email").await);
    assert_eq!(checkout.view().await["email_kept"], true);
    world.sandbox().mine(3).await;
    for screen in [&laptop, &phone] {
        screen.wait_for("status-paid").await;
    }
    phone.end().await;
    end(world, laptop).await;
}

#[tokio::test]
async fn in_the_last_minute_a_new_quote_is_offered_before_the_address() {
    let soon = "
        if (!order.attempt) return;
        window.opened ??= performance.now();
        order.attempt.expires_in_seconds = Math.ceil(64 - (performance.now() - window.opened) / 1000);";
    let scripts = [RECORD_ANNOUNCEMENTS, &change_responses(soon)];
    let (world, browser, checkout) = open_payment("BTC", &scripts).await;
    read_inside(&browser, "named('copy-address').focus()").await;
    wait_until_announced(&browser, "1 minute left to pay").await;
    let words = browser.text("guard").await;
    assert!(words.contains("your money isn’t lost"), "{words}");
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
    let left = browser.text("countdown").await;
    assert!(left.contains("0:"), "{left}");
    // The focus is not lost when the address disappears.
    let focused = "inside.activeElement?.tagName";
    wait_for_value(&browser, "the guard has the focus", focused, "H3").await;
    browser.press("guard-anyway").await;
    assert_eq!(browser.text("address").await, checkout.address().await);
    wait_for_focus(&browser, "copy-amount").await;
    assert!(!browser.is_visible("guard").await);
    end(world, browser).await;
}

#[tokio::test]
async fn after_a_payment_no_new_quote_is_offered() {
    let late = "if (order.attempt) order.attempt.expires_in_seconds = 48;";
    let (world, browser, checkout) = open_payment("BTC", &[&change_responses(late)]).await;
    browser.wait_for("guard").await;
    world.sandbox().pay(&checkout, "half").await;
    browser.wait_for("remaining").await;
    assert!(!browser.is_visible("guard").await);
    browser.wait_for("address").await;
    end(world, browser).await;
}

#[tokio::test]
async fn the_whole_screen_fits_into_the_frame_of_a_shop() {
    let (world, browser) = checkout_page(&[]).await;
    browser.set_viewport(1270, 740).await;
    browser.reload().await;
    let height = "return document.documentElement.scrollHeight";
    for asset in ["USDTTRC20", "BTC"] {
        choose_asset(&world, &browser, asset).await;
        assert_eq!(browser.evaluate(height).await, json!(740), "{asset}");
        browser.press("other-asset").await;
    }
    end(world, browser).await;
}

/// By its `data-testid`, else by its class.
async fn wait_for_class_in_focus(browser: &Browser, name: &str) {
    let focus = "inside.activeElement?.dataset.testid || inside.activeElement?.className || null";
    wait_for_value(browser, name, focus, json!(name)).await;
}

#[tokio::test]
async fn codes_are_readable_enlarged_of_the_bare_address_in_dark_colours_and_on_a_small_phone() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    let dark = BrowserOptions {
        dark: true,
        ..BrowserOptions::default()
    };
    browser.emulate(dark).await;
    gallery.show("awaiting_payment", "").await;
    browser.press("qr").await;
    let code = Gallery::attempt("awaiting_payment", "qr_string");
    assert_eq!(browser.scan("qr-large").await, code);
    let dialog = "
        const dialog = inside.querySelector('dialog');
        // Without the scroll bar, which nothing covers.
        const { width } = document.documentElement.getBoundingClientRect();
        const corners = [[1, 1], [width - 2, innerHeight - 2]];
        const isOver = ([x, y]) => dialog.contains(dialog.getRootNode().elementFromPoint(x, y));
        return [dialog.matches(':modal'), getComputedStyle(dialog).backgroundColor, corners.map(isOver)]";
    let shown = read_inside(browser, dialog).await;
    assert_eq!(shown, json!([true, "rgb(255, 255, 255)", [true, true]]));
    wait_for_class_in_focus(browser, "qr-close").await;
    browser.type_keys(Key::Escape).await;
    browser.wait_until_gone("qr-large").await;
    wait_for_class_in_focus(browser, "enlarge").await;

    browser.type_keys(Key::Enter).await;
    browser.wait_for("qr-large").await;
    browser.type_keys(Key::Enter).await;
    browser.wait_until_gone("qr-large").await;
    wait_for_class_in_focus(browser, "enlarge").await;

    // Enlarged, the code may have the address alone; amount and address are below it.
    let ether = |member| Gallery::attempt("paying_ether", member);
    gallery.show("paying_ether", "").await;
    browser.press("qr").await;
    browser.press("qr-address-only").await;
    let hint = "Enter the amount yourself";
    browser.wait_for_text("status-awaiting_payment", hint).await;
    assert_eq!(browser.scan("qr-bare").await, ether("address"));
    assert!(!browser.is_visible("qr-large").await);
    let due = browser.text("qr-due").await;
    for part in ["amount_in_crypto", "address"] {
        assert!(due.contains(&ether(part)), "{due}");
    }
    let labels = "return [...inside.querySelectorAll('dialog .qr svg')].map(svg => svg.getAttribute('aria-label'))";
    let labels = read_inside(browser, labels).await;
    assert_eq!(labels[1], "QR code of the ETH address on Ethereum");
    let label = labels[0].as_str().unwrap();
    for part in [&*ether("amount_in_crypto"), "ETH", "Ethereum"] {
        assert!(label.contains(part), "{label}");
    }
    browser.press("qr-with-amount").await;
    browser.wait_for("qr-large").await;
    assert!(!browser.is_visible("qr-bare").await);
    browser.press("qr-large").await;
    browser.wait_until_gone("qr-large").await;

    for options in [dark, wide(320)] {
        browser.emulate(options).await;
        for state in [
            "awaiting_payment",
            "paying_tether",
            "paying_bare",
            "paying_ether",
            "paying_cash",
            "paying_wallet_token",
        ] {
            gallery.show(state, "").await;
            let expected = |member| Gallery::attempt(state, member);
            assert_eq!(browser.scan("qr").await, expected("qr_string"), "{state}");
            assert_eq!(browser.text("address").await, expected("address"));
        }
        let colours = "return ['.qr', '.florin'].map((at) => getComputedStyle(inside.querySelector(at)).backgroundColor)";
        let colours = read_inside(browser, colours).await;
        let white = json!("rgb(255, 255, 255)");
        assert_eq!(colours[0], white, "a code is dark on white");
        let is_dark = colours[1] != white;
        assert_eq!(is_dark, options.dark, "the page: {colours}");
    }
    gallery.end().await;
}
