//! The displays of the element in a real browser: frame, inline, modal and redirect; what they share, what they leave
//! behind, and what they do with attributes that are wrong or a proxy that is away.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tests::{Browser, Site, Wishes, World, eventually};
use thirtyfour::Key;

/// A shop's page with the loader and these elements.
async fn page_with(elements: &str) -> (Site, World) {
    let site = Site::open().await;
    let world = World::start_with(Wishes {
        origins: vec![site.url().to_owned()],
        ..Wishes::default()
    })
    .await;
    let script = format!(
        "<script src=\"{}/florin.js\" async></script>",
        world.proxy_url()
    );
    site.shows("", &[&script, elements].concat());
    (site, world)
}

async fn orders(world: &World) -> Vec<Value> {
    let orders = world.store().gets("/v1/orders").await.with(200).body;
    orders["orders"].as_array().unwrap().clone()
}

/// Waits until a script on the page, where `element` and `inside` are the checkout and its shadow root, says this.
async fn says(browser: &Browser, what: &str, expression: &str, value: &Value) {
    let script = format!(
        "const element = document.querySelector('florin-checkout');
         const inside = element?.shadowRoot;
         return {expression}"
    );
    eventually(what, async || {
        (browser.runs(&script, &[]).await == *value).then_some(())
    })
    .await;
}

const MODAL: &str = "<p>Above</p><florin-checkout store=\"demo\" product=\"ebook\" display=\"modal\">Pay <b>now</b>\
     </florin-checkout><p style=\"height: 3000px\">Below</p>";
const IS_OPEN: &str = "inside?.querySelector('dialog')?.open";

/// Presses the element's button by the keyboard.
async fn opens_the_dialog(browser: &Browser) {
    says(
        browser,
        "the button is there",
        "Boolean(inside?.querySelector('[part=button]'))",
        &json!(true),
    )
    .await;
    browser.runs("document.querySelector('florin-checkout').shadowRoot.querySelector('[part=button]').focus()", &[]).await;
    browser.types(Key::Enter).await;
    says(browser, "the dialog is open", IS_OPEN, &json!(true)).await;
}

#[tokio::test]
async fn a_dialog_that_is_closed_keeps_its_invoice() {
    let (site, world) = page_with(MODAL).await;
    let browser = Browser::open().await;
    browser.goes_to(site.url()).await;
    let listen = "window.closings = 0; addEventListener('florin-close', () => window.closings++)";
    browser.runs(listen, &[]).await;
    opens_the_dialog(&browser).await;
    let locked = "getComputedStyle(document.documentElement).overflow";
    says(
        &browser,
        "the page behind stands still",
        locked,
        &json!("hidden"),
    )
    .await;
    browser.enters_the_checkout().await;
    browser.presses("asset-BTC").await;
    let address = browser.reads("address").await;

    // The key is pressed within the frame, and heard around it.
    browser.types(Key::Escape).await;
    browser.leaves_the_checkout().await;
    says(&browser, "Escape closes", IS_OPEN, &json!(false)).await;
    let focused = "inside.activeElement.getAttribute('part')";
    says(
        &browser,
        "the focus is back on the button",
        focused,
        &json!("button"),
    )
    .await;
    says(
        &browser,
        "the page scrolls again",
        locked,
        &json!("visible"),
    )
    .await;

    // What is closed is not gone: the same frame shows the same invoice.
    opens_the_dialog(&browser).await;
    browser.enters_the_checkout().await;
    assert_eq!(browser.reads("address").await, address);
    browser.leaves_the_checkout().await;
    browser.clicks_at(4, 500).await;
    says(&browser, "a click beside it closes", IS_OPEN, &json!(false)).await;
    browser
        .runs("document.querySelector('florin-checkout').open()", &[])
        .await;
    says(&browser, "open() opens", IS_OPEN, &json!(true)).await;
    let press = "document.querySelector('florin-checkout').shadowRoot.querySelector('[aria-label=Close]').click()";
    browser.runs(press, &[]).await;
    says(&browser, "the button closes", IS_OPEN, &json!(false)).await;
    browser
        .runs("document.querySelector('florin-checkout').open()", &[])
        .await;
    browser
        .runs("document.querySelector('florin-checkout').close()", &[])
        .await;
    says(&browser, "close() closes", IS_OPEN, &json!(false)).await;
    says(
        &browser,
        "the page heard of each",
        "window.closings",
        &json!(4),
    )
    .await;
    assert_eq!(orders(&world).await.len(), 1);
    assert_eq!(browser.complaints().await, [""; 0]);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_dialog_asks_for_nothing_before_it_is_opened_and_holds_nothing_when_it_is_removed() {
    let (site, world) = page_with(MODAL).await;
    let browser = Browser::open().await;
    browser.goes_to(site.url()).await;
    let words = "element.textContent";
    says(&browser, "the shop's own words", words, &json!("Pay now")).await;
    let frames = "inside?.querySelectorAll('iframe').length";
    says(&browser, "no frame yet", frames, &json!(0)).await;
    assert_eq!(orders(&world).await, [] as [Value; 0]);
    opens_the_dialog(&browser).await;
    browser
        .runs("document.querySelector('florin-checkout').remove()", &[])
        .await;
    let locked = "getComputedStyle(document.documentElement).overflow";
    says(
        &browser,
        "the page scrolls again",
        locked,
        &json!("visible"),
    )
    .await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_dialog_fills_a_phone_and_leaves_a_desk_its_edge() {
    let (site, world) = page_with(MODAL).await;
    let browser = Browser::open().await;
    for (width, height, expected) in [
        (320, 600, [0, 52, 320, 600]),
        (1270, 740, [24, 76, 1246, 716]),
    ] {
        browser.has_a_screen_of(width, height).await;
        browser.goes_to(site.url()).await;
        opens_the_dialog(&browser).await;
        let place = "(({ left, top, right, bottom }) => [left, top, right, bottom])(inside.querySelector('iframe').getBoundingClientRect())";
        says(
            &browser,
            &format!("the place at {width}"),
            place,
            &json!(expected),
        )
        .await;
        browser.enters_the_checkout().await;
        browser.sees("status-open").await;
        let wide = "return document.documentElement.scrollWidth - innerWidth";
        assert!(
            browser.runs(wide, &[]).await.as_f64().unwrap() <= 0.0,
            "{width}"
        );
        browser.leaves_the_checkout().await;
    }
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_redirect_leads_to_the_checkouts_own_page() {
    let element = "<florin-checkout store=\"demo\" product=\"ebook\" display=\"redirect\" theme=\"dark\"></florin-checkout>";
    let (site, world) = page_with(element).await;
    let browser = Browser::open().await;
    for press in [
        "document.querySelector('florin-checkout').shadowRoot.querySelector('a').click()",
        "document.querySelector('florin-checkout').open()",
    ] {
        browser.goes_to(site.url()).await;
        let ready = "inside?.querySelector('a')?.textContent";
        says(&browser, "the link", ready, &json!("Pay with crypto")).await;
        browser.runs(press, &[]).await;
        eventually("the checkout's own page", async || {
            let at = browser.runs("return location.pathname", &[]).await;
            (at == "/pay").then_some(())
        })
        .await;
        browser.sees("status-open").await;
        let theme = "inside.querySelector('.theme').dataset.theme";
        says(&browser, "as the shop likes it", theme, &json!("dark")).await;
    }
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_frame_that_was_hidden_is_as_high_as_what_it_shows() {
    let element =
        "<div hidden><florin-checkout store=\"demo\" product=\"ebook\"></florin-checkout></div>";
    let (site, world) = page_with(element).await;
    let browser = Browser::open().await;
    browser.has_a_screen_of(320, 700).await;
    browser.goes_to(site.url()).await;
    eventually("the order is opened behind the scenes", async || {
        (orders(&world).await.len() == 1).then_some(())
    })
    .await;
    browser
        .runs("document.querySelector('div').hidden = false", &[])
        .await;
    browser.enters_the_checkout().await;
    browser.sees("status-open").await;
    let beyond = "return document.documentElement.scrollHeight - innerHeight";
    eventually("the frame has grown", async || {
        (browser.runs(beyond, &[]).await.as_i64()? <= 0).then_some(())
    })
    .await;
    browser.leaves_the_checkout().await;
    let height = "return document.querySelector('florin-checkout').shadowRoot.querySelector('iframe').clientHeight";
    let height = browser.runs(height, &[]).await.as_i64().unwrap();
    assert!(height > 480, "{height}");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn the_loader_can_be_imported_and_is_silent_where_there_is_no_page() {
    let (site, world) = page_with("").await;
    let proxy = world.proxy_url();
    site.shows(
        "",
        &format!(
            "<script type=\"module\">import '{proxy}/florin.js'</script>\
             <florin-checkout store=\"demo\" product=\"ebook\"></florin-checkout>"
        ),
    );
    let browser = Browser::open().await;
    browser.goes_to(site.url()).await;
    browser.enters_the_checkout().await;
    browser.sees("status-open").await;
    browser.leaves_the_checkout().await;
    let work = "
        const [proxy, done] = arguments;
        const source = `try { importScripts('${proxy}/florin.js'); postMessage('read') } catch (error) { postMessage(String(error)) }`;
        window.heard = '';
        new Worker(URL.createObjectURL(new Blob([source]))).onmessage = ({ data }) => (window.heard = data);";
    browser.runs(work, &[json!(proxy)]).await;
    says(
        &browser,
        "a worker reads it",
        "window.heard",
        &json!("read"),
    )
    .await;
    assert_eq!(browser.complaints().await, [""; 0]);
    let loader = Path::new(env!("CARGO_MANIFEST_DIR")).join("../widget/florin.js");
    if let Ok(run) = Command::new("node").arg(loader).output() {
        assert!(run.status.success(), "{run:?}");
    }
    browser.end().await;
    world.end().await;
}

const INLINE: &str =
    "<florin-checkout store=\"demo\" product=\"ebook\" display=\"inline\"></florin-checkout>";

#[tokio::test]
async fn several_elements_share_one_program() {
    let (site, world) = page_with(&[INLINE, &INLINE.replace("ebook", "mug")].concat()).await;
    let browser = Browser::open().await;
    browser.goes_to(site.url()).await;
    let both = "[...document.querySelectorAll('florin-checkout')].filter((one) => one.shadowRoot?.querySelector('[data-testid=status-open]')).length";
    says(&browser, "both are there", both, &json!(2)).await;
    for file in ["florin.js", "host-", "widget_bg-", "widget-", "florin-"] {
        let times = format!(
            "performance.getEntriesByType('resource').filter(({{ name }}) => name.includes('/{file}') || name.includes('/assets/{file}')).length"
        );
        says(&browser, file, &times, &json!(1)).await;
    }
    browser.end().await;
    world.end().await;
}

/// Counts what a page holds: listeners of the window and the document, timers, and streams of events.
const COUNT: &str = r"
    const listeners = new Set(), timers = new Set(), streams = new Set();
    const { addEventListener, removeEventListener } = EventTarget.prototype;
    const keys = new Map();
    const name = (target, type, listener) => {
        if (!keys.has(listener)) keys.set(listener, keys.size);
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
            timers.add(id);
            return id;
        };
        window['clear' + kind] = (id) => { timers.delete(id); clear(id); };
    }
    const fetched = window.fetch;
    window.fetch = (request, options) => {
        const signal = options?.signal ?? request.signal;
        if (String(request.url ?? request).endsWith('/events')) streams.add(signal);
        return fetched(request, options);
    };
    const { instantiateStreaming } = WebAssembly;
    WebAssembly.instantiateStreaming = async (...given) => {
        const made = await instantiateStreaming.apply(WebAssembly, given);
        // By what it is: names are made short.
        const exported = Object.values(made.instance.exports);
        window.program = exported.find((one) => one instanceof WebAssembly.Memory);
        return made;
    };
    window.held = () => ({
        listeners: listeners.size,
        timers: timers.size,
        streams: [...streams].filter((signal) => !signal.aborted).length,
        elements: document.getElementsByTagName('*').length,
        memory: window.program?.buffer.byteLength,
    });";

#[tokio::test]
async fn what_is_removed_leaves_nothing_behind() {
    let (site, world) = page_with(INLINE).await;
    let browser = Browser::open().await;
    browser.runs_before_every_page(COUNT).await;
    browser.goes_to(site.url()).await;
    let open = "element?.shadowRoot?.querySelector('[data-testid=status-open]') !== null && window.held().streams";
    let mut after = Vec::new();
    for turn in 0..20 {
        says(
            &browser,
            &format!("the checkout, {turn} times removed"),
            open,
            &json!(1),
        )
        .await;
        browser
            .runs("document.querySelector('florin-checkout').remove()", &[])
            .await;
        says(
            &browser,
            "its stream is closed",
            "window.held().streams",
            &json!(0),
        )
        .await;
        // What was on its way when it was removed ends by itself.
        says(
            &browser,
            "its timers have ended",
            "window.held().timers",
            &json!(0),
        )
        .await;
        after.push(browser.runs("return window.held()", &[]).await);
        let again = "document.body.insertAdjacentHTML('beforeend', arguments[0])";
        browser.runs(again, &[json!(INLINE)]).await;
    }
    // The first rounds fill what is kept for the page's life: the program and its room.
    assert_eq!(after[3], after[19], "{after:#?}");
    assert!(after[3]["memory"].is_number(), "{after:#?}");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn wrong_attributes_are_named_all_at_once_and_ask_for_nothing() {
    for (attributes, named) in [
        (
            "store=\"demo\" product=\"ebook\" donation=\"coffee\"",
            &["exactly one of", "(named: product, donation)"][..],
        ),
        ("store=\"demo\"", &["(named: none)"]),
        ("product=\"ebook\"", &["product=\"ebook\" needs store"]),
        (
            "store=\"demo\" product=\"ebook\" quantity=\"0\" amount=\"five\" display=\"popup\" theme=\"neon\" locale=\"de_AT\"",
            &[
                "quantity=\"0\" is not a whole number",
                "amount=\"five\" needs donation",
                "amount=\"five\" is not an amount",
                "display=\"popup\" is not frame, inline, modal or redirect",
                "theme=\"neon\" is not auto, light, dark, contrast",
                "locale=\"de_AT\" is not a language tag",
            ],
        ),
        (
            "store=\"demo\" donation=\"coffee\" quantity=\"2\"",
            &["quantity=\"2\" needs product"],
        ),
    ] {
        let (site, world) =
            page_with(&format!("<florin-checkout {attributes}></florin-checkout>")).await;
        let browser = Browser::open().await;
        let listen =
            "addEventListener('florin-error', ({ detail }) => (window.code = detail.code))";
        browser.runs_before_every_page(listen).await;
        browser.goes_to(site.url()).await;
        says(
            &browser,
            "the error",
            "window.code",
            &json!("invalid_attributes"),
        )
        .await;
        let shown = browser
            .runs(
                "return document.querySelector('florin-checkout').shadowRoot.textContent",
                &[],
            )
            .await;
        let said = browser.complaints().await;
        assert_eq!(said.len(), 1, "{said:#?}");
        for words in named {
            assert!(
                shown.as_str().unwrap().contains(words),
                "{words} in {shown}"
            );
            let logged = said[0].replace("\\\"", "\"");
            assert!(logged.contains(words), "{words} in {logged}");
        }
        let asked = "performance.getEntriesByType('resource').filter(({ name }) => /\\/v1\\/|\\/pay|host-|widget/.test(name)).length";
        says(&browser, "nothing was asked for", asked, &json!(0)).await;
        assert_eq!(orders(&world).await, [] as [Value; 0]);
        browser.end().await;
        world.end().await;
    }
}

#[tokio::test]
async fn a_proxy_that_is_away_is_asked_again_until_it_answers() {
    let (site, mut world) = page_with(MODAL).await;
    let browser = Browser::open().await;
    browser.goes_to(site.url()).await;
    says(
        &browser,
        "the button is there",
        "Boolean(inside?.querySelector('[part=button]'))",
        &json!(true),
    )
    .await;
    world.front_wire.cut().await;
    opens_the_dialog(&browser).await;
    let said = "inside.querySelector('.fl-notice')?.textContent.includes('could not be loaded') && inside.querySelector('.fl-notice').textContent.includes('Trying again in')";
    says(&browser, "what comes next is said", said, &json!(true)).await;
    world.front_wire.mend().await;
    browser.enters_the_checkout().await;
    browser.sees("status-open").await;
    browser.leaves_the_checkout().await;
    says(
        &browser,
        "the notice is gone",
        "inside.querySelector('.fl-notice')",
        &Value::Null,
    )
    .await;
    browser.end().await;
    world.end().await;
}

/// Every answer of the program's file is lost until the page heals.
const LOSE_THE_PROGRAM: &str = "
    const fetched = window.fetch;
    window.fetch = async (request, options) => {
        const isProgram = String(request.url ?? request).includes('widget_bg');
        if (isProgram && window.heals) window.again ??= performance.now() - window.heals;
        if (isProgram && !window.heals) throw new TypeError('the answer is lost');
        return fetched(request, options);
    };
    window.said = [];
    setInterval(() => {
        const notice = document.querySelector('florin-checkout')?.shadowRoot?.querySelector('.fl-notice p');
        if (notice && !window.said.includes(notice.textContent)) window.said.push(notice.textContent);
    }, 50);";

#[tokio::test]
async fn a_file_that_did_not_come_is_asked_for_again_with_growing_pauses() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.runs_before_every_page(LOSE_THE_PROGRAM).await;
    browser.goes_to(&world.checkout_page()).await;
    for pause in [
        "Trying again in 2 seconds.",
        "Trying again in 4 seconds.",
        "Trying again in 8 seconds.",
    ] {
        let said = format!("window.said.includes('{pause}')");
        says(&browser, pause, &said, &json!(true)).await;
    }
    browser
        .runs(
            "window.heals = performance.now(); dispatchEvent(new Event('online'))",
            &[],
        )
        .await;
    browser.sees("status-open").await;
    says(
        &browser,
        "it was asked at once",
        "window.again < 1500",
        &json!(true),
    )
    .await;
    assert_eq!(orders(&world).await.len(), 1, "one order, however often");
    browser.end().await;
    world.end().await;
}
