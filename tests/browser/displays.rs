//! The displays of the element in a real browser: frame, inline and redirect, what they share, and that nothing leaks; and
//! `display="modal"`: a button, and a dialog that keeps its invoice.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use support::{Browser, World};
use thirtyfour::Key;

use crate::helpers::{
    HAS_BUTTON, IS_OPEN, end, open_dialog, orders, page_with, read_inside, shop_page, tag_frame,
    wait_for_value,
};

#[tokio::test]
async fn a_redirect_leads_to_the_checkouts_own_page() {
    let element = "<florin-checkout store=\"demo\" product=\"ebook\" display=\"redirect\" theme=\"dark\"></florin-checkout>";
    let (_site, world, browser) = shop_page(element).await;
    let ready = "inside?.querySelector('a')?.textContent";
    wait_for_value(&browser, "the link", ready, "Pay with crypto").await;
    browser
        .evaluate("document.querySelector('florin-checkout').open()")
        .await;
    let path = "return location.pathname";
    browser
        .wait_for_result("the checkout's own page", path, "/pay")
        .await;
    browser.wait_for("status-open").await;
    let theme = "inside.querySelector('.theme').dataset.theme";
    wait_for_value(&browser, "the shop's theme", theme, "dark").await;
    end(world, browser).await;
}

#[tokio::test]
async fn a_hidden_frame_gets_the_height_of_its_content() {
    let element =
        "<div hidden><florin-checkout store=\"demo\" product=\"ebook\"></florin-checkout></div>";
    let (site, world) = page_with(element).await;
    let browser = Browser::open().await;
    browser.set_viewport(320, 700).await;
    browser.goto(site.url()).await;
    browser.enter_checkout().await;
    let is_built = "return Boolean(document.querySelector('florin-checkout').shadowRoot.querySelector('[data-testid=asset-BTC]'))";
    browser
        .wait_until("the list is in the hidden frame", is_built)
        .await;
    browser.leave_checkout().await;
    browser
        .evaluate("document.querySelector('div').hidden = false")
        .await;
    browser.enter_checkout().await;
    browser.wait_for("status-open").await;
    let beyond = "return document.documentElement.scrollHeight <= innerHeight";
    browser.wait_until("the frame has grown", beyond).await;
    browser.leave_checkout().await;
    let height = "return inside.querySelector('iframe').clientHeight";
    let height = read_inside(&browser, height).await.as_i64().unwrap();
    assert!(height > 480, "{height}");
    end(world, browser).await;
}

#[tokio::test]
async fn the_loader_can_be_imported_without_a_page() {
    let (site, world) = page_with("").await;
    let proxy = world.proxy_url();
    site.serve(
        "",
        &format!(
            "<script type=\"module\">import '{proxy}/florin.js'</script>\
             <florin-checkout store=\"demo\" donation=\"coffee\" amount=\"8\"></florin-checkout>"
        ),
    );
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    browser.enter_checkout().await;
    browser.wait_for_text("status-open", "$8.00").await;
    browser.leave_checkout().await;
    let work = "
        const [proxy, done] = arguments;
        const source = `try { importScripts('${proxy}/florin.js'); postMessage('read') } catch (error) { postMessage(String(error)) }`;
        window.received = '';
        new Worker(URL.createObjectURL(new Blob([source]))).onmessage = ({ data }) => (window.received = data);";
    browser.evaluate_with(work, &[json!(proxy)]).await;
    wait_for_value(&browser, "a worker reads it", "window.received", "read").await;
    assert_eq!(browser.console_warnings().await, [""; 0]);
    let loader = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dist/florin.js");
    if let Ok(run) = Command::new("node").arg(loader).output() {
        assert!(run.status.success(), "{run:?}");
    }
    end(world, browser).await;
}

const INLINE: &str =
    "<florin-checkout store=\"demo\" product=\"ebook\" display=\"inline\"></florin-checkout>";

/// Each of them shows an offer until the first press.
#[tokio::test]
async fn two_elements_of_one_product_share_one_program_and_open_one_order() {
    let (_site, world, browser) = shop_page(&INLINE.repeat(2)).await;
    for number in [0, 1] {
        let row = format!(
            "document.querySelectorAll('florin-checkout')[{number}].shadowRoot?.querySelector('[data-testid=asset-BTC]')"
        );
        let press = format!("({row} ? ({row}.click(), true) : false)");
        wait_for_value(&browser, "the list is there", &press, true).await;
        let paying = format!(
            "Boolean(document.querySelectorAll('florin-checkout')[{number}].shadowRoot.querySelector('[data-testid=status-awaiting_payment]'))"
        );
        wait_for_value(&browser, "the payment is there", &paying, true).await;
    }
    for file in ["florin.js", "host-", "widget_bg-", "widget-", "first-"] {
        let times = format!(
            "performance.getEntriesByType('resource').filter(({{ name }}) => name.includes('/{file}') || name.includes('/assets/{file}')).length"
        );
        wait_for_value(&browser, file, &times, 1).await;
    }
    assert_eq!(orders(&world).await.len(), 1);
    end(world, browser).await;
}

/// A frame in the tag works under a policy without scripts; florin.js adopts it where it stands.
#[tokio::test]
async fn a_frame_in_the_tag_sells_with_and_without_the_script() {
    let (site, world) = World::with_site().await;
    let proxy = world.proxy_url();
    let browser = Browser::open().await;
    for (policy, product, is_adopted) in [("script-src 'none'", "ebook", false), ("", "mug", true)]
    {
        let frame = tag_frame(&world, product);
        let page = format!(
            "<script>addEventListener('florin-paid', () => (window.isPaid = true))</script>
             <script src=\"{proxy}/florin.js\" async></script>
             <florin-checkout store=\"demo\" product=\"{product}\" style=\"--florin-radius: 3px\">{frame}</florin-checkout>"
        );
        site.serve(policy, &page);
        browser.goto(site.url()).await;
        browser.enter_checkout().await;
        if is_adopted {
            // The frame follows the element.
            browser.wait_for_text("status-open", "12.50").await;
            browser.leave_checkout().await;
            let change = "document.querySelector('florin-checkout').setAttribute('quantity', 2)";
            browser.evaluate(change).await;
            browser.enter_checkout().await;
            browser.wait_for_text("status-open", "25.00").await;
        }
        browser.press("asset-BTC").await;
        browser.wait_for("status-awaiting_payment").await;
        let radius =
            "document.querySelector('florin-checkout').style.getPropertyValue('--florin-radius')";
        let expected = if is_adopted { "3px" } else { "" };
        wait_for_value(&browser, "the tokens", radius, expected).await;
        if is_adopted {
            let invoice = browser.text("address").await;
            let invoice = world.sandbox().invoice_of(&invoice).await;
            world.sandbox().pay_invoice(&invoice, "exact").await;
            world.sandbox().mine(3).await;
            browser.wait_for("status-paid").await;
        }
        browser.leave_checkout().await;
        let pages = "[performance.getEntriesByType('resource').filter(({ name }) => name.includes('/pay?')).length, document.querySelector('iframe').style.height !== '', Boolean(window.isPaid)]";
        let seen = json!([1, is_adopted, is_adopted]);
        wait_for_value(&browser, "the shop's page", pages, seen).await;
    }
    end(world, browser).await;
}

/// Over HTTP/1.1 a browser has six connections to a host.
#[tokio::test]
async fn each_of_eight_checkouts_on_a_page_can_be_paid() {
    const CHECKOUTS: usize = 8;
    let (site, world) = page_with("").await;
    let frame = |number: usize| {
        let token = world.token_signer().token(&format!("tea-{number}"), "7.50");
        let page = format!("{}/pay?store=demo#order_token={token}", world.proxy_url());
        format!("<iframe data-testid=\"tea-{number}\" src=\"{page}\" height=\"700\"></iframe>")
    };
    let frames: Vec<String> = (0..CHECKOUTS).map(frame).collect();
    site.serve("", &frames.concat());
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    let enter = async |number: usize| {
        browser.leave_checkout().await;
        browser.enter_frame(&format!("tea-{number}")).await;
    };
    let mut addresses = Vec::new();
    for number in 0..CHECKOUTS {
        enter(number).await;
        browser.press("asset-BTC").await;
        browser.wait_for("status-awaiting_payment").await;
        addresses.push(browser.text("address").await);
    }
    for address in &addresses {
        let invoice = world.sandbox().invoice_of(address).await;
        world.sandbox().pay_invoice(&invoice, "exact").await;
    }
    world.sandbox().mine(3).await;
    for number in 0..CHECKOUTS {
        enter(number).await;
        browser.wait_for("status-paid").await;
    }
    end(world, browser).await;
}

/// Counts listeners of the window and the document, timers, and event streams.
const COUNT: &str = r"
    const listeners = new Set(), timers = new Set(), streams = new Set();
    const { addEventListener, removeEventListener } = EventTarget.prototype;
    // Weak references: nothing is kept that the page would free.
    const keys = new WeakMap();
    let next = 0;
    const name = (target, type, listener) => {
        if (!keys.has(listener)) keys.set(listener, next++);
        return `${target === window ? 'window' : 'document'} ${type} ${keys.get(listener)}`;
    };
    EventTarget.prototype.addEventListener = function (type, listener, options) {
        if ((this === window || this === document || !this) && listener) {
            const key = name(this ?? window, type, listener);
            listeners.add(key);
            options?.signal && addEventListener.call(options.signal, 'abort', () => listeners.delete(key));
        }
        return addEventListener.call(this ?? window, type, listener, options);
    };
    EventTarget.prototype.removeEventListener = function (type, listener, options) {
        listeners.delete(name(this ?? window, type, listener));
        return removeEventListener.call(this ?? window, type, listener, options);
    };
    for (const kind of ['Timeout', 'Interval']) {
        const [set, clear] = [window['set' + kind], window['clear' + kind]];
        window['set' + kind] = (act, time, ...more) => {
            const id = set((...given) => { if (kind === 'Timeout') timers.delete(id); act(...given); }, time, ...more);
            // Loading a file has this limit, and belongs to the page.
            if (time !== 30000) timers.add(id);
            return id;
        };
        window['clear' + kind] = (id) => { timers.delete(id); clear(id); };
    }
    const fetched = window.fetch;
    window.fetch = (request, options) => {
        const signal = options?.signal ?? request.signal;
        if (String(request.url ?? request).endsWith('/events')) {
            streams.add(signal);
            addEventListener.call(signal, 'abort', () => streams.delete(signal));
        }
        return fetched(request, options);
    };
    const { instantiateStreaming } = WebAssembly;
    WebAssembly.instantiateStreaming = async (...given) => {
        const made = await instantiateStreaming.apply(WebAssembly, given);
        // By its content, because names are minified.
        const exported = Object.values(made.instance.exports);
        window.program = exported.find((one) => one instanceof WebAssembly.Memory);
        return made;
    };
    window.held = () => ({
        listeners: listeners.size,
        timers: timers.size,
        streams: streams.size,
        elements: document.getElementsByTagName('*').length,
        memory: window.program?.buffer.byteLength,
    });";

/// Shows the element eight times on one page whose script removes it; returns what is held after each, with nodes and listeners.
async fn held_after_removals(element: &str, removes: &str) -> Vec<(Value, (u64, u64))> {
    let (site, world) = page_with("").await;
    let browser = Browser::open().await;
    // The script's own timer is not counted.
    browser.run_before_every_page(removes).await;
    browser.run_before_every_page(COUNT).await;
    browser.goto(site.url()).await;
    let mut after = Vec::new();
    for turn in 1..=8 {
        let again = "document.body.insertAdjacentHTML('beforeend', arguments[0])";
        browser.evaluate_with(again, &[json!(element)]).await;
        let condition = format!("the element is removed {turn} times");
        wait_for_value(&browser, &condition, "window.removed", turn).await;
        let rest = "[window.held().streams, window.held().timers]";
        wait_for_value(&browser, "nothing is active", rest, json!([0, 0])).await;
        let held = browser.evaluate("return window.held()").await;
        after.push((held, browser.nodes_and_listeners().await));
    }
    end(world, browser).await;
    after
}

/// Removes each element once its payment and the stream about it are there.
const REMOVE_WITH_STREAM: &str = "
    window.removed = 0;
    setInterval(() => {
        const element = document.querySelector('florin-checkout');
        const isThere = element?.shadowRoot?.querySelector('[data-testid=status-awaiting_payment]');
        if (!isThere || !held().streams) return;
        element.remove();
        removed += 1;
    }, 20);";

#[tokio::test]
async fn a_removed_element_frees_everything() {
    let element = INLINE.replace("display", "asset=\"BTC\" display");
    let after = held_after_removals(&element, REMOVE_WITH_STREAM).await;
    // The first rounds fill what the page keeps: the program and its memory.
    assert_eq!(after[3].0, after[7].0, "{after:#?}");
    assert!(after[3].0["memory"].is_number(), "{after:#?}");
}

/// Removes each element at its first event, while its first screen is still being built.
const REMOVE_AT_ONCE: &str = "
    window.removed = 0;
    addEventListener('florin-resize', ({ target }) => {
        target.remove();
        removed += 1;
    });";

#[tokio::test]
async fn an_element_removed_by_its_first_event_frees_everything() {
    let after = held_after_removals(INLINE, REMOVE_AT_ONCE).await;
    let (held, (nodes, listeners)) = &after[3];
    let (held_at_last, _) = &after[7];
    assert_eq!(held, held_at_last, "{after:#?}");
    // The browser may free an element later than the others. Two that leak would hold hundreds of nodes and dozens of
    // listeners in each of the last rounds.
    let last = || after[5..].iter().map(|(_, counts)| counts);
    let nodes_at_last = last().map(|(nodes, _)| nodes).min().unwrap();
    let listeners_at_last = last().map(|(_, listeners)| listeners).min().unwrap();
    assert!(nodes_at_last < &(nodes + 50), "{after:#?}");
    assert!(listeners_at_last < &(listeners + 4), "{after:#?}");
}

/// An element on a page that scrolls.
pub(crate) const MODAL: &str = "<p>Above</p><florin-checkout store=\"demo\" product=\"ebook\" display=\"modal\">Pay <b>now</b>\
     </florin-checkout><p style=\"height: 3000px\">Below</p>";

#[tokio::test]
async fn a_link_or_script_around_the_element_takes_no_press_of_it() {
    let card = |display: &str| {
        format!(
            "<a href=\"/elsewhere\"><div onclick=\"window.taken = true\">\
                 <florin-checkout store=\"demo\" product=\"ebook\" display=\"{display}\">Pay <b data-testid=\"word\">now</b>\
                 </florin-checkout></div></a>"
        )
    };
    let (site, world, browser) = shop_page(&card("modal")).await;
    wait_for_value(&browser, "the button", HAS_BUTTON, true).await;
    browser.press("word").await;
    wait_for_value(&browser, "the dialog is open", IS_OPEN, true).await;
    browser.click_at(4, 500).await;
    wait_for_value(&browser, "a press beside it closes", IS_OPEN, false).await;
    let taken = "[location.pathname, window.taken ?? false]";
    wait_for_value(&browser, "the page stays", taken, json!(["/", false])).await;
    let script = format!(
        "<script src=\"{}/florin.js\" async></script>",
        world.proxy_url()
    );
    site.serve("", &[&script, &*card("redirect")].concat());
    browser.goto(site.url()).await;
    wait_for_value(&browser, "the link", HAS_BUTTON, true).await;
    browser.press("word").await;
    let path = "return location.pathname";
    browser
        .wait_for_result("the checkout's page", path, "/pay")
        .await;
    end(world, browser).await;
}

#[tokio::test]
async fn a_dialog_sends_no_request_before_it_opens_and_keeps_its_invoice_when_closed() {
    let (_site, world, browser) = shop_page(MODAL).await;
    let listen = "window.closings = 0; addEventListener('florin-close', () => window.closings++)";
    browser.evaluate(listen).await;
    let words = "element.textContent";
    wait_for_value(&browser, "the shop's own words", words, "Pay now").await;
    let frames = "inside?.querySelectorAll('iframe').length";
    wait_for_value(&browser, "no frame yet", frames, 0).await;
    assert_eq!(orders(&world).await, [] as [Value; 0]);
    open_dialog(&browser).await;
    let locked = "getComputedStyle(document.documentElement).overflow";
    wait_for_value(&browser, "the page behind stands still", locked, "hidden").await;
    browser.enter_checkout().await;
    browser.press("asset-BTC").await;
    let address = browser.text("address").await;

    // The key is pressed inside the frame and handled outside.
    browser.type_keys(Key::Escape).await;
    browser.leave_checkout().await;
    wait_for_value(&browser, "Escape closes", IS_OPEN, false).await;
    let focused = "inside.activeElement.getAttribute('part')";
    let what = "the focus is back on the button";
    wait_for_value(&browser, what, focused, "button").await;
    wait_for_value(&browser, "the page scrolls again", locked, "visible").await;

    // The frame is kept and shows the same invoice.
    open_dialog(&browser).await;
    browser.enter_checkout().await;
    assert_eq!(browser.text("address").await, address);
    browser.leave_checkout().await;
    browser.click_at(4, 500).await;
    wait_for_value(&browser, "a click beside it closes", IS_OPEN, false).await;
    let open = "document.querySelector('florin-checkout').open()";
    browser.evaluate(open).await;
    wait_for_value(&browser, "open() opens", IS_OPEN, true).await;
    let press = "document.querySelector('florin-checkout').shadowRoot.querySelector('[aria-label=Close]').click()";
    browser.evaluate(press).await;
    wait_for_value(&browser, "the button closes", IS_OPEN, false).await;
    browser.evaluate(open).await;
    let close = "document.querySelector('florin-checkout').close()";
    browser.evaluate(close).await;
    wait_for_value(&browser, "close() closes", IS_OPEN, false).await;
    let closings = "window.closings";
    wait_for_value(&browser, "an event for each", closings, 4).await;
    assert_eq!(orders(&world).await.len(), 1);
    assert_eq!(browser.console_warnings().await, [""; 0]);

    // Removed while it is open, it locks nothing.
    open_dialog(&browser).await;
    let remove = "document.querySelector('florin-checkout').remove()";
    browser.evaluate(remove).await;
    wait_for_value(&browser, "the page scrolls", locked, "visible").await;
    end(world, browser).await;
}

#[tokio::test]
async fn a_dialog_fills_a_phone_and_leaves_a_margin_on_a_desktop() {
    let (site, world) = page_with(MODAL).await;
    let browser = Browser::open().await;
    for (width, height, expected) in [
        (320, 600, [0, 52, 320, 600]),
        (1270, 740, [24, 76, 1246, 716]),
    ] {
        browser.set_viewport(width, height).await;
        browser.goto(site.url()).await;
        open_dialog(&browser).await;
        let place = "(({ left, top, right, bottom }) => [left, top, right, bottom].map(Math.round))(inside.querySelector('iframe').getBoundingClientRect())";
        let what = format!("the place at {width}");
        wait_for_value(&browser, &what, place, json!(expected)).await;
        browser.enter_checkout().await;
        browser.wait_for("status-open").await;
        let fits = "return document.documentElement.scrollWidth <= innerWidth";
        assert_eq!(browser.evaluate(fits).await, true, "{width}");
        browser.leave_checkout().await;
    }
    end(world, browser).await;
}

/// A shop's page in a phone and on a desktop: the frame, and the same inline.
#[tokio::test]
async fn a_list_is_as_high_as_its_width_allows_and_has_the_same_corners_in_both_displays() {
    let elements = "<style>html { scrollbar-width: none }</style>
        <florin-checkout store=\"demo\" product=\"ebook\"></florin-checkout>
        <florin-checkout store=\"demo\" product=\"mug\" display=\"inline\"></florin-checkout>";
    let (site, world) = page_with(elements).await;
    let browser = Browser::open().await;
    for (width, most) in [(300, 720), (356, 720), (1136, 400)] {
        // The margins of the page.
        browser.set_viewport(width + 16, 740).await;
        browser.goto(site.url()).await;
        browser.enter_checkout().await;
        browser.wait_for("status-open").await;
        let list = "
            const box = (at) => at.getBoundingClientRect();
            const [found] = inside.querySelectorAll('.rows > .options');
            const isBeside = (row) => box(row.querySelector('.cost')).top < box(row.querySelector('b')).bottom;
            return [innerWidth, [...found.querySelectorAll('.option')].every(isBeside), box(found).height];";
        let list = read_inside(&browser, list).await;
        assert_eq!([&list[0], &list[1]], [&json!(width), &json!(true)]);
        assert!(list[2].as_f64().unwrap() <= f64::from(most), "{list}");
        browser.leave_checkout().await;
        let corners = "
            const [frame, inline] = ['iframe', '.florin:not([aria-busy])'].map((part, number) => {
                const found = document.querySelectorAll('florin-checkout')[number].shadowRoot?.querySelector(part);
                const { borderRadius, outline } = found ? getComputedStyle(found) : {};
                return borderRadius + ' ' + outline;
            });
            return frame === inline && frame.startsWith('16px ');";
        browser
            .wait_until("inline has the corners of the frame", corners)
            .await;
    }
    end(world, browser).await;
}
