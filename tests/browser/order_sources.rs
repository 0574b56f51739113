//! The order sources of the element in a real browser: order token and donation, whose amount the customer enters; and the gateway's
//! hosted page, in a frame of the checkout or in the whole window, whose result the proxy alone reports.

use serde_json::{Value, json};
use support::{Browser, World, eventually};
use thirtyfour::Key;

use crate::gallery::Gallery;
use crate::helpers::{checkout_page, choose_asset, end, orders, read_inside, wait_for_value};

#[tokio::test]
async fn an_order_token_is_removed_from_the_url_and_survives_a_reload() {
    let (world, browser) = (World::start().await, Browser::open().await);
    let token = world.token_signer().token("letter-1", "27.50");
    let page = format!("{}/pay#order_token={token}", world.proxy_url());
    browser.goto(&page).await;
    browser.wait_for("status-open").await;
    let address = browser.evaluate("return location.href").await;
    assert!(!address.as_str().unwrap().contains(&token), "{address}");
    browser.reload().await;
    browser.wait_for("status-open").await;
    assert_eq!(orders(&world).await.len(), 0);
    let checkout = choose_asset(&world, &browser, "BTC").await;
    // Another page of the same token finds the order.
    browser.evaluate("sessionStorage.clear()").await;
    browser.goto("about:blank").await;
    browser.goto(&page).await;
    browser.wait_for("status-awaiting_payment").await;
    assert_eq!(only_order(&world).await["id"], checkout.order);
    end(world, browser).await;
}

#[tokio::test]
async fn an_order_token_is_posted_into_the_frame_and_stands_in_no_address() {
    let (site, world) = World::with_site().await;
    let browser = Browser::open().await;
    let note = "window.landed = location.href";
    browser.run_before_every_page(note).await;
    let token = world.token_signer().token("letter-1", "27.50");
    // A policy that forbids it leaves the token to the fragment, until the page has read it.
    for (policy, is_in_fragment) in [("", false), ("form-action 'self'", true)] {
        let page = format!(
            "<script>window.entries = history.length</script>
             <script src=\"{}/florin.js\" async></script>
             <florin-checkout store=\"demo\" order-token=\"{token}\"></florin-checkout>",
            world.proxy_url()
        );
        site.serve(policy, &page);
        browser.goto(site.url()).await;
        browser.enter_checkout().await;
        browser.wait_for_text("status-open", "27.50").await;
        let seen = format!(
            "return [landed.includes('{token}'), location.href.includes('{token}'), performance.getEntriesByType('resource').some(({{ name }}) => name.endsWith('/offer'))]"
        );
        let expected = json!([is_in_fragment, false, is_in_fragment]);
        assert_eq!(browser.evaluate(&seen).await, expected, "{policy}");
        browser.evaluate("location.reload()").await;
        browser.enter_checkout().await;
        let is_new = "return performance.getEntriesByType('navigation')[0].type === 'reload'";
        browser.wait_until("the frame loads again", is_new).await;
        browser.wait_for_text("status-open", "27.50").await;
        browser.leave_checkout().await;
        let moved = "const { body } = document; body.append(body.querySelector('florin-checkout')); return history.length <= entries";
        assert_eq!(browser.evaluate(moved).await, json!(true), "{policy}");
        browser.enter_checkout().await;
        browser.wait_for_text("status-open", "27.50").await;
        browser.leave_checkout().await;
    }
    assert_eq!(orders(&world).await.len(), 0);
    end(world, browser).await;
}

#[tokio::test]
async fn a_donation_of_an_amount_that_the_customer_enters_is_paid() {
    let (world, browser) = (World::start().await, Browser::open().await);
    browser.goto(&world.shop_url()).await;
    browser.press("to-donate").await;
    browser.enter_checkout().await;
    let offered = browser.text("status-giving").await;
    for words in ["$2.00", "$500.00", "$3.00", "$5.00", "$10.00"] {
        assert!(offered.contains(words), "{words} in {offered}");
    }
    browser.fill("give-other", "35,5").await;
    browser.type_keys(Key::Enter).await;
    let checkout = choose_asset(&world, &browser, "LTC").await;
    let view = checkout.view().await;
    assert_eq!(view["amount"], "35.50");
    browser.reload().await;
    browser.enter_checkout().await;
    browser.wait_for("status-awaiting_payment").await;
    world.sandbox().settle(&checkout, "exact").await;
    browser.wait_for("status-paid").await;
    world.wait_for_deliveries().await;
    let kinds = world.webhooks.event_types(&checkout.order);
    assert_eq!(kinds.last().unwrap(), "donation.paid");
    end(world, browser).await;
}

#[tokio::test]
async fn a_page_without_a_known_order_says_so_and_opens_none() {
    let (world, browser) = (World::start().await, Browser::open().await);
    let gone = "This order is no longer available.";
    for (more, words) in [
        // Regression: without an order in its URL the page once showed a parser error about `null`.
        ("", gone),
        ("#client_token=%E2%80%AE", gone),
        ("&product=mugg", "The shop does not sell this."),
    ] {
        browser.goto("about:blank").await;
        let page = format!("{}/pay?store=demo{more}", world.proxy_url());
        browser.goto(&page).await;
        let text = browser.text("status-stopped").await;
        assert!(text.contains(words), "{more}: {text}");
        assert!(!text.contains("already paid"), "there is no order: {text}");
        assert!(!text.contains("Trying again"), "{more}: {text}");
        let shop = "return [inside.querySelector('.store')?.textContent, named('return').textContent, named('help').href]";
        let known = json!([
            "Quiet Goods",
            "Return to Quiet Goods",
            "mailto:help@quiet-goods.example?subject=Quiet%20Goods&body=%0D%0A"
        ]);
        assert_eq!(read_inside(&browser, shop).await, known, "{more}");
    }
    assert_eq!(orders(&world).await, [] as [Value; 0]);
    end(world, browser).await;
}

/// The response to a choice is lost: the repeated request, of another asset and after a reload as well, finds the same order.
#[tokio::test]
async fn a_lost_response_opens_no_second_order() {
    let lose_responses = "
        const fetched = window.fetch;
        window.fetch = async (request, options) => {
            const response = await fetched(request, options);
            if (options?.method === 'POST' && !localStorage.heals) throw new TypeError('the response is lost');
            return response;
        };";
    let (world, browser) = checkout_page(&[lose_responses]).await;
    browser.press("asset-BTC").await;
    browser.wait_for("press-again").await;
    assert_eq!(only_order(&world).await["status"], "awaiting_payment");
    browser.press("asset-LTC").await;
    browser.wait_for("press-again").await;
    browser.evaluate("localStorage.heals = 'yes'").await;
    browser.reload().await;
    browser.wait_for("status-awaiting_payment").await;
    only_order(&world).await;
    let kept =
        "return Object.keys(sessionStorage).filter(key => key.startsWith('idempotency:')).length";
    assert_eq!(
        browser.evaluate(kept).await,
        json!(0),
        "the next purchase is another order"
    );
    end(world, browser).await;
}

/// What the page shows is what the proxy has read, for the shop that may embed it: nothing in the fragment changes it.
#[tokio::test]
async fn a_fragment_does_not_change_what_the_query_names() {
    let (world, browser) = (World::start().await, Browser::open().await);
    let page = format!(
        "{}/pay?store=other&product=ebook#store=demo&quantity=3&product=mug",
        world.proxy_url()
    );
    browser.goto(&page).await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    assert_eq!(orders(&world).await, [] as [Value; 0]);
    let others = world.other_store().get("/v1/orders").await.with(200).body;
    let order = (
        &others["orders"][0]["title"],
        &others["orders"][0]["amount"],
    );
    assert_eq!(order, (&json!("Another e-book"), &json!("7.00")));
    end(world, browser).await;
}

/// The field's state, its description, and the focus.
const FIELD: &str = "
    const field = inside.querySelector('#amount');
    return [field.ariaInvalid, field.getAttribute('aria-describedby').split(' ').map(id => inside.getElementById(id).textContent), inside.activeElement === field, inside.querySelector('.banners').textContent];";

async fn open_donation(world: &World, browser: &Browser, locale: &str) {
    let page = format!(
        "{}/pay?store=demo&donation=coffee&locale={locale}",
        world.proxy_url()
    );
    browser.goto(&page).await;
    browser.wait_for("status-giving").await;
}

#[tokio::test]
async fn an_input_error_is_shown_at_its_field() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    gallery.show("giving", "&locale=en").await;
    let bounds = "From \u{2066}$2\u{2069} to \u{2066}$500\u{2069}.";
    let refused = "Please enter an amount between \u{2066}$2\u{2069} and \u{2066}$500\u{2069}.";
    let before = json!([null, [bounds, ""], false, ""]);
    assert_eq!(read_inside(browser, FIELD).await, before);
    for typed in ["1.99", "", "five"] {
        browser.fill("give-other", typed).await;
        browser.press("give-go").await;
        let after = json!(["true", [bounds, refused], true, ""]);
        eventually(&format!("{typed:?} is rejected at the field"), async || {
            (read_inside(browser, FIELD).await == after).then_some(())
        })
        .await;
        assert!(browser.is_visible("give-error").await);
    }
    // The currency's sign is placed as in the language.
    let order = "const field = inside.querySelector('.money'); return [named('give-sign').textContent.includes('$'), field.firstChild.tagName]";
    for (locale, first) in [("en", "LABEL"), ("ar", "INPUT")] {
        gallery.show("giving", &format!("&locale={locale}")).await;
        let order = read_inside(browser, order).await;
        assert_eq!(order, json!([true, first]), "{locale}");
    }
    gallery.end().await;
}

/// The table of notations is in `widget/src/format/typed_amount.rs`.
#[tokio::test]
async fn an_amount_is_read_as_the_page_writes_it_and_asked_where_it_could_be_two() {
    let (world, browser) = (World::start().await, Browser::open().await);
    open_donation(&world, &browser, "de").await;
    browser.fill("give-other", "1.000,00 $").await;
    browser.press("give-go").await;
    browser.wait_for_text("give-error", "500,00").await;
    browser.fill("give-other", "2,500").await;
    browser.press("give-go").await;
    let meanings = browser.text("give-meanings").await;
    assert!(
        meanings.contains("2,50") && meanings.contains("2.500,00"),
        "{meanings}"
    );
    assert!(!browser.is_visible("give-error").await);
    browser.press("give-2.50").await;
    browser.wait_for_text("status-open", "2,50").await;
    end(world, browser).await;
}

#[tokio::test]
async fn a_suggested_amount_is_one_press_and_shown_as_pressed() {
    let slowly = "
        const fetched = window.fetch;
        window.fetch = async (request, options) => {
            if (String(request).includes('&amount=')) await new Promise(done => window.goOn = done);
            return fetched(request, options);
        };";
    let (world, browser) = (World::start().await, Browser::open().await);
    browser.run_before_every_page(slowly).await;
    open_donation(&world, &browser, "en").await;
    let pressed =
        "[...inside.querySelectorAll('[aria-pressed=true]')].map(at => at.dataset.testid)";
    wait_for_value(&browser, "none is pressed", pressed, json!([])).await;
    browser.tab_to("give-5.00").await;
    browser.type_keys(Key::Space).await;
    let five = json!(["give-5.00"]);
    wait_for_value(&browser, "it is pressed", pressed, five).await;
    browser.evaluate("window.goOn()").await;
    browser.wait_for_text("status-open", "$5.00").await;
    end(world, browser).await;
}

async fn only_order(world: &World) -> Value {
    let orders = orders(world).await;
    assert_eq!(orders.len(), 1, "{orders:#?}");
    orders[0].clone()
}

/// Opens a hosted order in a frame, or on the checkout's page in the whole window.
async fn open_hosted_checkout(world: &World, display: &str) -> Browser {
    let browser = Browser::open().await;
    browser.goto(&world.shop_url()).await;
    browser.press("to-hosted").await;
    browser.press(display).await;
    if display == "hosted-redirect-way" {
        let link = "const link = document.querySelector('florin-checkout')?.shadowRoot?.querySelector('a');
            link?.focus();
            return Boolean(link)";
        browser.wait_until("the link has the focus", link).await;
        browser.type_keys(thirtyfour::Key::Enter).await;
    } else {
        browser.enter_checkout().await;
    }
    browser.wait_for("status-hosted").await;
    browser
}

fn page_of(world: &World, order: &Value) -> String {
    let reference = order["reference"].as_str().unwrap();
    format!("{}/cart/{reference}?display=frame", world.shop_url())
}

#[tokio::test]
async fn a_hosted_page_in_a_frame_can_be_closed_opened_again_and_paid() {
    let world = World::start().await;
    let browser = open_hosted_checkout(&world, "hosted-frame-way").await;
    let frame = "const frame = inside.querySelector('iframe');
        return [frame.sandbox.value, new URL(frame.src).origin, frame.clientHeight]";
    let expected = json!([
        "allow-scripts allow-same-origin allow-forms allow-popups",
        world.sandbox_url(),
        740
    ]);
    assert_eq!(read_inside(&browser, frame).await, expected);
    let is_whole =
        "const page = document.documentElement; return page.scrollHeight === page.clientHeight";
    let what = "the frame has the height of its content";
    browser.wait_until(what, is_whole).await;
    browser.enter_frame("hosted-frame").await;
    browser.press("hosted-leave").await;
    browser.enter_checkout().await;
    let words = browser.text("status-cancelled").await;
    assert!(words.contains("You haven’t paid yet"), "{words}");
    // The shop's page is unchanged: the framed page may not navigate it.
    browser.leave_checkout().await;
    let at = browser.evaluate("return location.pathname").await;
    assert!(at.as_str().unwrap().starts_with("/cart/"), "{at}");
    browser.enter_checkout().await;
    browser.press("new-session").await;
    browser.wait_for("status-hosted").await;
    browser.enter_frame("hosted-frame").await;
    browser.press("hosted-LTC").await;
    browser.press("hosted-pay").await;
    browser.enter_checkout().await;
    browser.wait_for("status-paid").await;
    browser.wait_for("print-receipt").await;
    let order = only_order(&world).await;
    world
        .wait_until_paid_in_shop(order["id"].as_str().unwrap())
        .await;
    end(world, browser).await;
}

#[tokio::test]
async fn in_the_whole_window_the_customer_goes_there_and_back() {
    let world = World::start().await;
    let browser = open_hosted_checkout(&world, "hosted-redirect-way").await;
    let frames = "return inside.querySelectorAll('iframe').length";
    assert_eq!(read_inside(&browser, frames).await, 0);
    let order = only_order(&world).await;
    let id = order["id"].as_str().unwrap();
    browser.press("hosted-link").await;
    let is_there = format!("return location.href.startsWith('{}')", world.sandbox_url());
    browser.wait_until("the hosted page", &is_there).await;
    browser.press("hosted-BTC").await;
    browser.press("hosted-pay").await;
    browser.press("hosted-back").await;
    let thanks = browser.text("thanks").await;
    assert!(thanks.starts_with("Thank you"), "{thanks}");
    world.wait_until_paid_in_shop(id).await;
    // The page in the background learns it by polling.
    browser.goto(&page_of(&world, &order)).await;
    browser.enter_checkout().await;
    browser.wait_for("status-paid").await;
    end(world, browser).await;
}
