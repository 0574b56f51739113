//! What a screen says and does, on the states of the gallery. `states.txt` has heading, mark, steps and first action of each.

use serde_json::json;
use support::{BrowserOptions, eventually, rows};
use thirtyfour::Key;

use crate::gallery::{Gallery, wide};
use crate::helpers::{
    RECORD_ANNOUNCEMENTS, announced, focused, read_inside, wait_for_value, wait_until_announced,
};

/// The order and the transaction of every state.
const ORDER: &str = "ord_00112233445566778899aabbccddeeff";
const HASH: &str = "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b";

/// A state, a `data-testid` in it, and a part of its text. Two blocks of ten minutes remain for `estimate`.
const TEXTS: &str = "
choosing | asset-USDTTRC20 | USDT · Tron · about\u{a0}1\u{a0}min
choosing | asset-BNB | BNB · seconds
choosing | asset-BTC | BTC · about\u{a0}30\u{a0}min
choosing | asset-BNB | Fastest
choosing_many | asset-LTC | about\u{a0}8\u{a0}min · fee\u{a0}about\u{a0}\u{2066}$0.01\u{2069}
choosing_many | asset-BNB | Lowest fee
choosing | asset-USDTERC20 | USDT · Ethereum
choosing_empty | status-open | No currencies are available right now
choosing_coin | asset-USDTPOL | Temporarily unavailable
choosing_network | network | Does your wallet send USDT on Tron?
choosing_network | network | Send it on Tron only
choosing_network | network | TRC20 / TRON
choosing_network | network | A Tron address looks like this: T••••••
choosing_network | network | Yes, pay on Tron
paying_tether | copy-address | Copy Tron address
paying_warnings | warnings | Coins sent on another network will be lost.
paying_offline | offline | The amount and the address stay valid until the time is up.
processing_email | email-wrong | Enter an email address like name@example.com.
checking_wallet_unseen | wallet-status | Don’t pay again
checking | due | 0.00030973\u{a0}BTC · Bitcoin
processing | confirmations | Confirming 1 of 3
processing | estimate | About 20 minutes to go.
processing | received | 0.00030973\u{a0}BTC received
processing | transaction | 4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b
overpaid | status-overpaid | You paid 0.00009027\u{a0}BTC (≈\u{a0}$5.80) more than the price.
paid_late | late | arrived late, but it was accepted
paid_twice | second_payment | Quiet Goods has been notified and can refund it
paid_reverted | reverted | Quiet Goods has been notified
failed | status-failed | If your wallet shows the money as sent, contact Quiet Goods
blocked_changed | status-blocked | We keep watching the first address.
";

#[tokio::test]
async fn each_state_says_what_has_happened() {
    let gallery = Gallery::open().await;
    for [state, name, words] in rows(TEXTS) {
        gallery.show(state, "").await;
        let text = gallery.browser.text(name).await;
        assert!(text.contains(words), "{state} {words}: {text}");
    }
    gallery.show("paying_tether", "").await;
    let screen = gallery.browser.text("status-awaiting_payment").await;
    assert!(!screen.contains("Ethereum"), "one network: {screen}");
    gallery.show("paying_warnings", "").await;
    gallery.browser.press("warnings-more").await;
    let fee = "Make sure that the network fee is sufficient.";
    gallery.browser.wait_for_text("warnings", fee).await;
    gallery.end().await;
}

#[tokio::test]
async fn a_row_has_one_mark_and_the_last_choice_comes_before_the_lowest_fee() {
    let gallery = Gallery::open().await;
    let marks =
        "return [...named('asset-BNB').querySelectorAll('.best')].map((at) => at.textContent)";
    // It is the fastest too.
    let shown = gallery.read("choosing_many", marks).await;
    assert_eq!(shown, json!(["Lowest fee"]));
    let last = "localStorage.setItem('florin:asset', 'BNB')";
    gallery.browser.evaluate(last).await;
    let shown = gallery.read("choosing_many", marks).await;
    assert_eq!(shown, json!(["Your last choice"]));
    gallery.end().await;
}

/// Heading, tab, bar and time of a payment whose rest is due, and whether it has steps.
const REST: &str = "
    const words = (text) => text.replace(/[\\u2066-\\u2069]/g, '').trim();
    const bar = inside.querySelector('progress');
    const time = named('countdown') ?? inside.querySelector('.top p');
    return [inside.querySelector('h2').textContent, document.title, bar.labels[0].textContent, time.textContent]
        .map(words).concat(bar.position.toFixed(3), Boolean(named('steps')));";

#[tokio::test]
async fn the_rest_of_a_payment_is_one_screen_from_its_first_part_on() {
    let gallery = Gallery::open().await;
    let held = "Price held for 14 minutes";
    for (state, time) in [
        ("paying_part", held),
        ("processing_part", held),
        ("underpaid", "No hurry: what you’ve sent is safe."),
    ] {
        let title = "Send 0.00010973\u{a0}BTC more";
        let bar = "0.00020000 of 0.00030973\u{a0}BTC received";
        let tab = format!("{title} · Quiet Goods");
        let expected = json!([title, tab, bar, time, "0.646", false]);
        assert_eq!(gallery.read(state, REST).await, expected, "{state}");
        assert!(gallery.browser.is_visible("remaining").await, "{state}");
    }
    gallery.end().await;
}

#[tokio::test]
async fn each_end_has_a_reference_a_contact_and_a_way_back() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    for end in ["failed", "cancelled", "blocked", "expired", "underpaid"] {
        gallery.show(end, "").await;
        browser.wait_for(&format!("status-{end}")).await;
        for help in ["copy-reference", "return"] {
            assert!(browser.is_visible(help).await, "{end} has no {help}");
        }
        let contacts = "return [...inside.querySelectorAll('[data-testid=help]')].filter((at) => at.checkVisibility({ visibilityProperty: true })).length";
        assert_eq!(read_inside(browser, contacts).await, 1, "{end}");
    }
    for state in ["next_step_failed", "next_step_old"] {
        gallery.show(state, "").await;
        for help in ["help", "return"] {
            assert!(browser.is_visible(help).await, "{state} has no {help}");
        }
    }
    let mail = "
        const [address, fields] = inside.querySelector('.contact [data-testid=help]').href.split('?');
        return [address, ...fields.split('&').map(decodeURIComponent), named('return').href];";
    let body = format!(
        "body=The Quiet Web, an e-book\r\nYour reference: {ORDER}\r\nPart of the payment is missing\r\nTransaction: {HASH}\r\n"
    );
    let expected = json!([
        "mailto:help@quiet-goods.example",
        format!("subject=Quiet Goods · {ORDER}"),
        body,
        format!("http://127.0.0.1:9/thanks?order={ORDER}"),
    ]);
    assert_eq!(gallery.read("underpaid", mail).await, expected);

    let actions = "return [...inside.querySelectorAll('.screen button, .screen a')].slice(0, 2).map((at) => at.textContent);";
    let expected = json!(["Get a new price", "Choose another currency"]);
    assert_eq!(gallery.read("expired", actions).await, expected);
    browser.emulate(wide(390)).await;
    let widths =
        "return ['.screen', '.primary'].map((at) => inside.querySelector(at).offsetWidth);";
    let widths = read_inside(browser, widths).await;
    assert_eq!(
        widths[0], widths[1],
        "on a phone the first action is as wide as the screen"
    );
    gallery.end().await;
}

#[tokio::test]
async fn facts_links_and_the_page_icon_are_those_of_the_state() {
    let gallery = Gallery::open().await;
    let icon = "return new URL(document.querySelector('link[rel=icon]').href).pathname.split('/').pop().replace(/-[0-9a-f]{8}(?=\\.svg)/, '')";
    for (state, expected) in [
        ("choosing", "icon.svg"),
        ("underpaid", "problem-icon.svg"),
        ("paid", "paid-icon.svg"),
    ] {
        assert_eq!(gallery.read(state, icon).await, expected, "{state}");
    }
    let facts = "return Object.fromEntries([...inside.querySelectorAll('.fact')].map((row) =>
        [row.querySelector('dt').textContent, row.querySelector('dd').textContent.trim()]))";
    let facts = read_inside(&gallery.browser, facts).await;
    for (name, value) in [
        ("Amount", "0.00030973\u{a0}BTC ≈ $19.90"),
        ("Network", "Bitcoin"),
        ("Time", "2026"),
        ("Reference", ORDER),
        ("Transaction", HASH),
    ] {
        assert!(facts[name].as_str().unwrap().contains(value), "{facts}");
    }
    let column = "return [...inside.querySelectorAll('.facts .copy')].map((at) => at.getBoundingClientRect().right);";
    let column = read_inside(&gallery.browser, column).await;
    assert_eq!(column[0], column[1], "the copy buttons are in one column");

    let link = "const { href, target, rel } = named('explorer'); return [href, target, rel]";
    let expected = json!([
        format!("https://explorer.example/tx/{HASH}"),
        "_blank",
        "noopener noreferrer"
    ]);
    let shown = gallery.read("processing", link).await;
    assert_eq!(shown, expected, "the explorer opens in a new window");

    let beside = "const box = (name) => named(name).getBoundingClientRect();
        return box('qr').right < box('address').left && box('qr').top < box('address').top";
    let is_beside = gallery.read("awaiting_payment", beside).await;
    assert_eq!(
        is_beside, true,
        "on a wide screen the code is beside the address"
    );
    gallery.end().await;
}

#[tokio::test]
async fn a_press_copies_the_bare_value_or_selects_it_and_says_so() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    let note = "navigator.clipboard.writeText = async (text) => { window.copied = text; }";
    browser.evaluate(note).await;
    let tether = |member| Gallery::attempt("paying_tether", member);
    for (state, name, value) in [
        ("paying_tether", "amount", tether("amount_in_crypto")),
        ("paying_tether", "copy-address", tether("address")),
        ("processing", "copy-transaction", HASH.to_owned()),
        ("paid", "copy-transaction", HASH.to_owned()),
        ("underpaid", "copy-reference", ORDER.to_owned()),
    ] {
        gallery.show(state, "").await;
        let width = format!("return named('{name}').offsetWidth");
        let before = read_inside(browser, &width).await;
        browser.evaluate("window.copied = null").await;
        browser.press(name).await;
        let copied = "return window.copied";
        browser
            .wait_for_result(&format!("{name} copies"), copied, json!(value))
            .await;
        if name == "copy-address" {
            let is_confirmed = "inside.querySelector('#copy-address').dataset.copied";
            wait_for_value(browser, "it says so", is_confirmed, "true").await;
            assert_eq!(read_inside(browser, &width).await, before);
        }
    }
    let deny = "navigator.clipboard.writeText = () => Promise.reject(new Error('denied'))";
    browser.evaluate(deny).await;
    gallery.show("awaiting_payment", "").await;
    browser.press("copy-address").await;
    browser
        .wait_for_text("status-awaiting_payment", "The text is selected")
        .await;
    let selected = "return document.getSelection().toString().replace(/\\s/g, '')";
    let address = Gallery::attempt("awaiting_payment", "address");
    assert_eq!(browser.evaluate(selected).await, address);
    gallery.end().await;
}

#[tokio::test]
async fn helps_compare_a_pasted_address_and_name_its_check_and_the_exchanges_network() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    gallery.show("paying_ether", "").await;
    let address = Gallery::attempt("paying_ether", "address");
    browser.press("verified").await;
    let phrase = "Quiet Goods will never ask for your recovery phrase.";
    browser.wait_for_text("verified-aid", phrase).await;
    browser.press("compare").await;
    // `widget/src/format/address.rs` has every way to write one.
    let other = format!("{}zz{}", &address[..20], &address[22..]);
    for (pasted, verdict) in [
        (&address, "The address matches."),
        (&other, "This is a different address."),
    ] {
        browser.fill("paste-back", pasted).await;
        browser.wait_for_text("pasted", verdict).await;
    }
    let warning = "This is a different address. Don’t send to it; copy it again from this page.";
    let regions =
        "return [...inside.querySelectorAll('[role=status]')].map(at => at.textContent.trim())";
    assert_eq!(read_inside(browser, regions).await, json!([warning]));
    let marks = "return [...inside.querySelectorAll('mark')].map(m => m.textContent).join()";
    assert_eq!(read_inside(browser, marks).await, "zz");

    gallery.show("awaiting_payment", "").await;
    let url = gallery.world.proxy_url();
    let host = url.split_once("://").unwrap().1;
    let line = browser.text("verified").await;
    assert_eq!(line, format!("Address verified by {host}"));
    browser.press("verified").await;
    browser
        .wait_for_text("verified-aid", "valid on Bitcoin")
        .await;
    gallery.show("paying_tether", "").await;
    browser.press("exchange").await;
    let words = browser.text("exchange-aid").await;
    let amount = Gallery::attempt("paying_tether", "amount_in_crypto");
    for part in [
        "TRC20 / TRON",
        &format!("Withdraw enough for {amount}\u{a0}USDT to arrive"),
        "your exchange’s minimum withdrawal",
        "A late payment isn’t lost",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    gallery.end().await;
}

#[tokio::test]
async fn an_invalid_email_is_reported_at_its_field() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    let wrong = "Enter an email address like name@example.com.";
    for state in ["paying_email_first", "processing", "paid"] {
        gallery.show(state, "").await;
        browser.fill("email", "me@nowhere").await;
        browser.press("email-receipt").await;
        assert_eq!(browser.text("email-wrong").await, wrong, "{state}");
        let field = "return [named('email').ariaInvalid, named('email').value]";
        let field = read_inside(browser, field).await;
        assert_eq!(field, json!(["true", "me@nowhere"]));
        let has_address = browser.is_visible("address").await;
        assert!(!has_address, "{state}: the address comes after the email");
        browser.fill("email", "me@shop.example").await;
        let words = "inside.querySelector('#email-wrong').textContent";
        wait_for_value(browser, "nothing is wrong any more", words, "").await;
        browser.press("email-receipt").await;
        if state == "paying_email_first" {
            browser.wait_for("address").await;
            let focused = "inside.activeElement?.tagName";
            wait_for_value(browser, "the heading has the focus", focused, "H2").await;
        } else {
            let saved = browser.text("email-saved").await;
            assert_eq!(saved, "Email saved for your receipt: me@shop.example");
        }
    }
    gallery.end().await;
}

#[tokio::test]
async fn a_refund_address_is_checked_at_its_field_and_can_be_changed() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    gallery.show("overpaid", "").await;
    browser.fill("refund-address", "0x5aAeb6").await;
    browser.press("refund-address-save").await;
    let wrong = "This isn’t a BTC address on Bitcoin. Copy it again from your wallet.";
    browser.wait_for_text("refund-address-wrong", wrong).await;
    for address in ["tb1qmine", "tb1qother"] {
        browser.fill("refund-address", address).await;
        browser.press("refund-address-save").await;
        let saved = format!("Quiet Goods has your address for the refund: {address}");
        browser.wait_for_text("refund-address-saved", &saved).await;
        browser.press("refund-address-change").await;
        let field = "inside.querySelector('#refund-address')?.value";
        wait_for_value(browser, "the field has the address", field, address).await;
    }
    // The same address is kept as it is.
    browser.press("refund-address-save").await;
    browser.wait_for("refund-address-change").await;
    gallery.end().await;
}

#[tokio::test]
async fn the_age_of_the_view_counts_up_and_is_not_announced() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    browser.run_before_every_page(RECORD_ANNOUNCEMENTS).await;
    // No response comes for an hour.
    gallery.load("checking").await;
    let seconds = |text: &str| text.split(' ').nth(2)?.parse::<u32>().ok();
    let first = browser.text("checked").await;
    assert!(
        first.starts_with("Last checked ") && first.ends_with(" ago"),
        "{first}"
    );
    eventually("the age grows", async || {
        let now = seconds(&browser.text("checked").await)?;
        (now >= seconds(&first)? + 3).then_some(())
    })
    .await;
    let announced = announced(browser).await.concat();
    assert!(!announced.contains("Last checked"), "{announced}");
    gallery.end().await;
}

/// The least contrast of the texts in the row of Bitcoin. axe-core passes over what is disabled.
const CONTRAST: &str = "
    const light = rgb => { const [r, g, b] = rgb.match(/[\\d.]+/g).map(v => rgb.startsWith('color(') ? +v : v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const row = named('asset-BTC');
    const ground = light(getComputedStyle(row).backgroundColor);
    return Math.min(...[...row.querySelectorAll('b, small')].filter(at => at.textContent).map(at => {
        let seen = 1;
        for (let up = at; up !== row.parentNode; up = up.parentNode) seen *= getComputedStyle(up).opacity;
        if (seen < 1) return 0;
        const ink = light(getComputedStyle(at).color);
        return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
    }));";

#[tokio::test]
async fn an_unavailable_asset_announces_its_reason_and_a_search_what_it_finds() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    browser.run_before_every_page(RECORD_ANNOUNCEMENTS).await;
    gallery.load("choosing_reasons").await;
    assert!(!browser.is_visible("asset-BTC").await, "it is folded");
    read_inside(browser, "named('unavailable').open = true").await;
    // The ticker stays beside the reason.
    let reason = "BTC · from \u{2066}$64.25\u{2069}";
    let name = read_inside(browser, "return named('asset-BTC').innerText").await;
    assert!(name.as_str().unwrap().contains(reason), "{name}");
    browser.tab_to("asset-BTC").await;
    browser.type_keys(Key::Enter).await;
    wait_until_announced(browser, reason).await;
    assert!(browser.is_visible("status-open").await, "nothing is opened");
    for dark in [false, true] {
        let options = BrowserOptions { dark, ..wide(1270) };
        browser.emulate(options).await;
        // Greyed out and still readable: WCAG 2.2, 1.4.3.
        let ratio = read_inside(browser, CONTRAST).await.as_f64().unwrap();
        assert!(ratio >= 4.5, "{ratio} (dark: {dark})");
    }

    gallery.load("choosing_many").await;
    let shown = "return rows.length";
    // Each word is in the name, the symbol, the network or the code.
    for (typed, found) in [
        ("teth", 5),
        ("usdterc20", 1),
        (" Usdt  tron ", 1),
        ("tethertron", 0),
    ] {
        browser.fill("search", typed).await;
        assert_eq!(read_inside(browser, shown).await, found, "{typed}");
    }
    let nothing = "No currency matches “\u{2068}dollars\u{2069}”.";
    for (typed, found, sentence) in [
        ("trc20", 2, "Search currencies: 2"),
        ("dollars", 0, nothing),
    ] {
        browser.fill("search", typed).await;
        wait_until_announced(browser, sentence).await;
        assert_eq!(read_inside(browser, shown).await, found, "{typed}");
    }
    let screen = browser.text("status-open").await;
    assert!(screen.contains(nothing), "{screen}");
    // Escape clears the field and closes no dialog; in an empty field it closes the dialog.
    let record = "window.pressed = []; addEventListener('keydown', event => window.pressed.push(event), true)";
    browser.evaluate(record).await;
    let all = "return [named('search').value, rows.length, window.pressed.map(event => event.defaultPrevented)]";
    for prevented in [&[true][..], &[true, false]] {
        browser.type_keys(Key::Escape).await;
        let expected = json!(["", 21, prevented]);
        assert_eq!(read_inside(browser, all).await, expected);
        assert_eq!(focused(browser).await, "search");
    }
    gallery.end().await;
}
