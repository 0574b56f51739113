//! An element with invalid attributes, an unreachable proxy, a proxy of another version, or a copied loader: the problem is
//! shown, and requests are retried. And the payment module (the screens after the asset choice): prefetched during the choice, with
//! retries when it is missing.

use std::net::SocketAddr;

use serde_json::{Value, json};
use support::circumstances::Kind;
use support::{Browser, World};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::displays::MODAL;
use crate::helpers::{
    HAS_BUTTON, WITHOUT_OFFER, checkout_page, choose_asset, end, open_dialog, orders, page_with,
    read_inside, shop_page, wait_for_focus, wait_for_value,
};

/// Attributes, and what is named of them. The page of the last has German texts, the event has the English ones.
const INVALID: &str = r#"
store="demo" product="ebook" donation="coffee"
Set exactly one of
Set now: product, donation.

product="ebook" quantity="0" amount="five" display="popup" theme="neon" locale="de_AT"
product="ebook" also needs store.
quantity="0" must be a whole number
amount="five" also needs donation
amount="five" must be an amount
display="popup" must be one of: frame, inline, modal, redirect.
theme="neon" must be one of: auto, light, dark, contrast
locale="de_AT" must be a language tag

store="demo" donation="coffee" quantity="2"
quantity="2" also needs product.

store="demo" locale="de"
Set now: none.
"#;

#[tokio::test]
async fn invalid_attributes_are_all_named_and_no_request_is_sent() {
    let (site, world) = World::with_site().await;
    let browser = Browser::open().await;
    let listen = "addEventListener('florin-error', ({ detail }) => (window.detail = detail))";
    browser.run_before_every_page(listen).await;
    for row in INVALID.trim().split("\n\n") {
        let (attributes, named) = row.split_once('\n').unwrap();
        let element = format!("<florin-checkout {attributes}></florin-checkout>");
        let (policy, body) = Kind::Before("").page(&world.proxy_url(), &element);
        site.serve(&policy, &body);
        browser.goto(site.url()).await;
        let code = "window.detail?.code";
        wait_for_value(&browser, "the error", code, "invalid_attributes").await;
        let message = browser.evaluate("return window.detail.message").await;
        let message = message.as_str().unwrap().to_owned();
        let shown = read_inside(&browser, "return inside.textContent").await;
        let text = browser.console_warnings().await;
        assert_eq!(text.len(), 1, "{text:#?}");
        let logged = text[0].replace("\\\"", "\"");
        for words in named.lines() {
            assert!(message.contains(words), "{words} in {message}");
            if !attributes.contains("locale=\"de\"") {
                let is_shown = shown.as_str().unwrap().contains(words);
                assert!(is_shown, "{words} in {shown}");
                assert!(logged.contains(words), "{words} in {logged}");
            }
        }
        let asked = "performance.getEntriesByType('resource').filter(({ name }) => /\\/v1\\/|\\/pay|host-|widget/.test(name)).length";
        wait_for_value(&browser, "no request was sent", asked, 0).await;
    }
    assert_eq!(orders(&world).await, [] as [Value; 0]);
    end(world, browser).await;
}

#[tokio::test]
async fn an_unreachable_proxy_is_retried_until_it_answers() {
    let (_site, mut world, browser) = shop_page(MODAL).await;
    wait_for_value(&browser, "the button is there", HAS_BUTTON, true).await;
    world.front_link.cut().await;
    open_dialog(&browser).await;
    // Nothing but the loader has been loaded.
    let text = "inside.querySelector('.fl-notice')?.textContent.includes('couldn’t be loaded') && inside.querySelector('.fl-notice button').textContent";
    wait_for_value(&browser, "the next step", text, "Try again").await;
    world.front_link.restore().await;
    browser.enter_checkout().await;
    browser.wait_for("status-open").await;
    browser.leave_checkout().await;
    let notice = "inside.querySelector('.fl-notice')";
    wait_for_value(&browser, "the notice is gone", notice, Value::Null).await;
    end(world, browser).await;
}

/// A server that gives this response to everything, as a reverse proxy while the proxy restarts, or the sign-in page of a
/// network.
async fn something_else(status: &'static str) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let response = format!(
                "HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: 6\r\nconnection: close\r\n\r\n<p>No."
            );
            let _ = stream.write_all(response.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    (address, serving)
}

#[tokio::test]
async fn a_frame_that_shows_something_else_is_tried_again_and_no_origin_is_named() {
    let (site, mut world) = page_with(MODAL).await;
    let browser = Browser::open().await;
    for status in ["502 Bad Gateway", "200 OK"] {
        browser.goto(site.url()).await;
        let is_fetched = "performance.getEntriesByType('resource').some(({ name, responseEnd }) => name.includes('dialog-') && responseEnd)";
        wait_for_value(&browser, "the dialog's script", is_fetched, true).await;
        let (other, serving) = something_else(status).await;
        world.front_link.redirect(other).await;
        open_dialog(&browser).await;
        let is_loaded =
            "performance.getEntriesByType('resource').some(({ name }) => name.includes('/pay?'))";
        wait_for_value(&browser, "the frame's page", is_loaded, true).await;
        // Before the element asks why the frame is silent.
        world.front_link.redirect(world.listen_address()).await;
        serving.abort();
        let notice = "inside.querySelector('.fl-notice')?.textContent.includes('Trying again in 2 seconds.')";
        wait_for_value(&browser, "the next try", notice, true).await;
        browser.enter_checkout().await;
        browser.wait_for("status-open").await;
        browser.leave_checkout().await;
        let console = browser.console_warnings().await.join("\n");
        assert!(!console.contains("origins ="), "{status}: {console}");
    }
    end(world, browser).await;
}

/// The text of the loader, and the same of a version whose modules the proxy does not have.
async fn loaders(world: &World) -> (String, String) {
    let url = format!("{}/florin.js", world.proxy_url());
    let response = world.http().get(url).send().await.unwrap();
    let text = response.text().await.unwrap();
    let ends = text.match_indices(".js").map(|(end, _)| end);
    let versions = ends.filter_map(|end| text.get(end - 9..end)?.strip_prefix('-'));
    let is_hash = |version: &&str| version.bytes().all(|digit| digit.is_ascii_hexdigit());
    let version = versions.filter(is_hash).collect::<Vec<_>>();
    assert_eq!(version.len(), 1, "{version:?}");
    (text.clone(), text.replace(version[0], "00000000"))
}

#[tokio::test]
async fn a_copied_loader_works_from_any_place_and_goes_on_after_an_upgrade() {
    let (site, world) = World::with_site().await;
    let (text, removed) = loaders(&world).await;
    let joined = format!("window.first = 1;\n{text}\nwindow.last = 2;");
    let browser = Browser::open().await;
    for (script, inline, display) in [
        // Under its own name.
        (None, "", "modal"),
        (Some(joined), "", "inline"),
        (None, text.as_str(), "frame"),
        (Some(removed.clone()), "", "modal"),
        (Some(removed.clone()), "", "inline"),
    ] {
        let name = if script.is_some() {
            "shop.js"
        } else {
            "florin.js"
        };
        site.set_script(name, Some(script.as_ref().unwrap_or(&text)));
        let tag = if inline.is_empty() {
            format!("<script src=\"/{name}\" async></script>")
        } else {
            format!("<script>{inline}</script>")
        };
        let element = format!(
            "<florin-checkout store=\"demo\" product=\"ebook\" display=\"{display}\"></florin-checkout>"
        );
        site.serve("", &[tag, element].concat());
        browser.goto(site.url()).await;
        if display == "modal" {
            open_dialog(&browser).await;
        }
        if display != "inline" {
            browser.enter_checkout().await;
        }
        browser.wait_for("status-open").await;
        browser.leave_checkout().await;
        let console = browser.console_warnings().await.join("\n");
        let is_removed = script.is_some_and(|script| script == removed);
        assert_eq!(is_removed, !console.is_empty(), "{display}: {console}");
    }
    // Without the address of its proxy, it says what to do.
    let bare = text.replace(&world.proxy_url(), "");
    site.set_script("shop.js", Some(&bare));
    site.serve("", "<script src=\"/shop.js\"></script>");
    browser.goto(site.url()).await;
    let console = browser.console_warnings().await;
    assert_eq!(console.len(), 1, "{console:#?}");
    assert!(console[0].contains("load it from your proxy"));
    end(world, browser).await;
}

#[tokio::test]
async fn a_browser_without_parts_of_its_own_shows_the_checkout_or_says_that_it_cannot() {
    let lacks = "Object.defineProperty(navigator, 'languages', { value: undefined }); delete Intl.DisplayNames;";
    let (world, browser) = checkout_page(&[lacks]).await;
    browser.wait_for("status-open").await;
    browser.end().await;
    let browser = Browser::open().await;
    let fails = "
        Intl.Locale = Intl.RelativeTimeFormat = undefined;
        Object.defineProperty(navigator, 'languages', { get: () => { throw new Error('none') } });
        addEventListener('florin-error', ({ detail }) => (window.code = detail.code));";
    browser.run_before_every_page(fails).await;
    browser.goto(&world.checkout_page()).await;
    wait_for_value(&browser, "the event", "window.code", "load_failed").await;
    let button = "inside.querySelector('.fl-notice button')?.textContent";
    wait_for_value(&browser, "the button", button, "Try again").await;
    end(world, browser).await;
}

/// Drops every response with the program's file until `window.healed`.
const LOSE_THE_PROGRAM: &str = "
    const fetched = window.fetch;
    window.fetch = async (request, options) => {
        const isProgram = String(request.url ?? request).includes('widget_bg');
        if (isProgram && window.heals) window.again ??= performance.now() - window.heals;
        if (isProgram && !window.heals) throw new TypeError('the response is lost');
        return fetched(request, options);
    };
    window.notices = [];
    setInterval(() => {
        const notice = document.querySelector('florin-checkout')?.shadowRoot?.querySelector('.fl-notice p');
        if (notice && !window.notices.includes(notice.textContent)) window.notices.push(notice.textContent);
    }, 50);";

#[tokio::test]
async fn a_missing_file_is_requested_again_with_growing_pauses() {
    let (world, browser) = checkout_page(&[LOSE_THE_PROGRAM]).await;
    for pause in ["Trying again in 2 seconds.", "Trying again in 4 seconds."] {
        let text = format!("window.notices.includes('{pause}')");
        wait_for_value(&browser, pause, &text, true).await;
    }
    browser
        .evaluate("window.heals = performance.now(); dispatchEvent(new Event('online'))")
        .await;
    browser.wait_for("status-open").await;
    let at_once = "window.again < 1500";
    wait_for_value(&browser, "it was asked at once", at_once, true).await;
    assert_eq!(orders(&world).await.len(), 0, "nothing was chosen");
    choose_asset(&world, &browser, "BTC").await;
    end(world, browser).await;
}

#[tokio::test]
async fn a_page_of_another_version_asks_for_a_reload() {
    let older = "
        if (!sessionStorage.getItem('mended')) {
            const fetched = window.fetch;
            window.fetch = async (request, options) => {
                const isOurs = (request.url ?? String(request)).includes('/v1/checkout/offer');
                const response = await fetched(request, options);
                if (!isOurs) return response;
                const { store } = await response.json();
                return new Response(JSON.stringify({ store }), { status: 200, headers: response.headers });
            };
        }";
    let (world, browser) = checkout_page(&[WITHOUT_OFFER, older]).await;
    let words = "This page is out of date. Reload it";
    browser.wait_for_text("status-stopped", words).await;
    let mend = "sessionStorage.setItem('mended', 1)";
    browser.evaluate(mend).await;
    browser.press("retry").await;
    browser.wait_for("status-open").await;
    end(world, browser).await;
}

/// Records the requests of the module's files and the event `florin-ready`.
const RECORD: &str = "
    const fetched = window.fetch;
    window.steps = [];
    addEventListener('florin-ready', () => steps.push('ready'));
    window.fetch = (request, options) => {
        const url = String(request.url ?? request);
        const [, kind] = /payment-\\w+\\.(wasm|css|json)$/.exec(url) ?? [];
        if (kind === (window.kind ?? 'wasm')) {
            steps.push('module');
            if (window.breaks) return breaks(url, fetched);
        }
        return fetched(request, options);
    };";

/// Program and style of the module; the gallery has what is shown without its texts.
const KINDS: [&str; 2] = ["wasm", "css"];

/// Drops requests of the file until `window.healed`.
const LOSE: &str = "window.breaks = (url, fetched) => {
    if (window.heals) return fetched(url);
    throw new TypeError('the response is lost');
};";

/// The first page of the tab requests a file that this proxy no longer has, as after a deployment.
const DEPLOY: &str = "if (!sessionStorage.deployed) {
    sessionStorage.deployed = 'true';
    window.breaks = (url, fetched) => fetched(url.replace(/payment-\\w+/, 'payment-00000000'));
}";

fn lost(kind: &str) -> String {
    format!("window.kind = '{kind}'")
}

async fn open_checkout(world: &World, scripts: &[&str]) -> Browser {
    let browser = Browser::open().await;
    for script in scripts {
        browser.run_before_every_page(script).await;
    }
    browser.goto(&world.checkout_page()).await;
    browser.wait_for("status-open").await;
    browser
}

const STEPS: &str = "return window.steps";

#[tokio::test]
async fn the_module_is_loaded_during_the_choice_and_at_once_for_a_paid_order() {
    let world = World::start().await;
    let browser = open_checkout(&world, &[RECORD]).await;
    let expected = json!(["ready", "module"]);
    browser
        .wait_for_result("the module is requested", STEPS, expected)
        .await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    browser.reload().await;
    browser.wait_for("status-awaiting_payment").await;
    assert_eq!(browser.evaluate(STEPS).await, json!(["module", "ready"]));
    end(world, browser).await;
}

#[tokio::test]
async fn a_missing_file_is_retried_automatically_and_by_a_button() {
    let world = World::start().await;
    for (kind, is_pressed) in KINDS.into_iter().zip([true, false]) {
        let browser = open_checkout(&world, &[&lost(kind), RECORD, LOSE]).await;
        let is_repeated = "return window.steps.length > 2";
        browser.wait_until("a second try", is_repeated).await;
        // Nothing is shown while nothing is missing.
        assert!(browser.is_visible("asset-BTC").await);
        browser.press("asset-BTC").await;
        let text = browser.text("status-next_step").await;
        assert!(text.contains("The next step couldn’t be loaded."), "{text}");
        assert!(text.contains("Try again"), "{text}");
        browser.evaluate("window.heals = true").await;
        if is_pressed {
            // A pause before the next try by itself would hide a button that does nothing.
            let tries = "return window.steps.length";
            let before = browser.evaluate(tries).await;
            browser.press("retry").await;
            let after = browser.evaluate(tries).await;
            assert!(after.as_u64() > before.as_u64(), "{before} {after}");
        }
        browser.wait_for("status-awaiting_payment").await;
        browser.wait_for("address").await;
        browser.end().await;
    }
    world.end().await;
}

#[tokio::test]
async fn after_try_again_the_focus_is_on_the_heading_of_the_new_step() {
    let world = World::start().await;
    let browser = open_checkout(&world, &[RECORD]).await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    // From here on the page opens with the order's attempt.
    browser.run_before_every_page(LOSE).await;
    browser.reload().await;
    browser.wait_for("retry").await;
    browser.evaluate("window.heals = true").await;
    browser.press("retry").await;
    browser.wait_for("status-awaiting_payment").await;
    wait_for_focus(&browser, "Pay with Bitcoin").await;
    end(world, browser).await;
}

#[tokio::test]
async fn a_page_of_a_removed_version_asks_for_a_reload_and_keeps_the_order() {
    let world = World::start().await;
    let browser = open_checkout(&world, &[RECORD, DEPLOY]).await;
    browser.press("asset-BTC").await;
    let text = browser.text("status-next_step").await;
    assert!(text.contains("This page is out of date."), "{text}");
    browser.press("reload").await;
    browser.wait_for("status-awaiting_payment").await;
    browser.wait_for("address").await;
    end(world, browser).await;
}
