//! Every state of the gallery: what is read and in which order, no finding of axe-core, target sizes, zoom, and no layout shift. And
//! from the first paint to the end of a purchase no content of the shop or the checkout moves by itself.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, Engine, StoreSite, World, pause};

use crate::gallery::{Gallery, wide};
use crate::helpers::{WITHOUT_OFFER, axe_findings, choose_asset, end, open_dialog, tag_frame};

/// One line for a state: `name | heading | mark | steps, the current one in brackets | first action`. A dash where
/// there is none.
const EXPECTED: &str = include_str!("states.txt");

/// Returns heading, mark, steps and first action of the screen.
const SHOWN: &str = "
    const main = document.querySelector('florin-checkout').shadowRoot.querySelector('.main');
    const seen = (selector) => [...main.querySelectorAll(selector)].filter((at) => at.checkVisibility({ visibilityProperty: true }));
    const words = (at) => at?.textContent.replace(/[\\u2066-\\u2069]/g, '').replace(/\\s+/g, ' ').trim() || '-';
    const mark = seen('.mark, .tick')[0];
    const steps = seen('.steps > li').map((step) => {
        const text = words(step.querySelector('p'));
        return step.className === 'now' ? `[${text}]` : text;
    });
    return [
        words(seen('h2')[0]),
        mark?.getAttribute('class') || '-',
        steps.join(', ') || '-',
        words(seen('.primary')[0]),
    ].join(' | ');";

/// Returns the controls that are smaller than a touch target.
const TOO_SMALL: &str = "
    const root = document.querySelector('florin-checkout').shadowRoot;
    const all = [...root.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex=\"0\"], [role=button]')];
    const hit = (at) => {
        // A field's label is part of its target.
        const boxes = [at, ...(at.labels || [])].map((one) => one.getBoundingClientRect());
        const least = (side) => Math.max(...boxes.map((box) => box[side]));
        return Math.min(least('width'), least('height'));
    };
    return all.filter((at) => at.checkVisibility({ visibilityProperty: true }) && hit(at) < 43.5)
        .map((at) => `${at.tagName}.${at.className} \"${at.textContent.trim() || at.id}\" ${Math.round(hit(at))} px`);";

/// Returns how much the page is wider than the window, and which elements overflow or are cut off.
pub(crate) const OUTSIDE: &str = "
    const root = document.querySelector('florin-checkout').shadowRoot;
    const width = document.documentElement.clientWidth;
    const seen = [...root.querySelectorAll('*')].filter((at) => at.checkVisibility({ visibilityProperty: true }) && !at.closest('.unseen, svg'));
    // A field scrolls its own text.
    const cut = (at) => at.localName !== 'input' && getComputedStyle(at).overflowX !== 'visible' && at.scrollWidth > at.clientWidth + 1;
    const out = seen.filter((at) => {
        const box = at.getBoundingClientRect();
        return box.width && (box.right > width + 1 || box.left < -1 || cut(at));
    });
    const wide = document.scrollingElement.scrollWidth - width;
    return [...(wide > 1 ? [`the page is ${wide} px too wide`] : []), ...out.slice(0, 4).map((at) => `${at.tagName}.${at.className} \"${at.textContent.trim().slice(0, 40)}\"`)];";

/// Returns the visible texts, without countdowns.
const READABLE: &str = "
    const root = document.querySelector('florin-checkout').shadowRoot;
    const texts = new Set();
    for (const at of root.querySelectorAll('*')) {
        if (!at.checkVisibility({ visibilityProperty: true })) continue;
        const box = at.getBoundingClientRect();
        const own = [...at.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data).join('').trim();
        if (own && !/\\d\\s*(:\\d|s|m|sec|min)/.test(own) && box.width && box.height) texts.add(own);
    }
    return [...texts];";

/// Returns `true` if the QR code is below or beside the amount, the helpers are below the code, and nothing covers the
/// address; `null` without a code.
const IS_LAID_OUT: &str = "
    const root = document.querySelector('florin-checkout').shadowRoot;
    const [amount, code, aids] = ['.amount', '.code', '.aids'].map((name) => root.querySelector(name)?.getBoundingClientRect());
    // After a wallet has sent, there is nothing to send.
    if (!code?.height) return null;
    const [qr] = [...root.querySelectorAll('.enlarge')].filter((at) => at.checkVisibility()).map((at) => at.getBoundingClientRect());
    const covered = [...root.querySelectorAll('.destination *')].map((at) => at.getBoundingClientRect())
        .some((at) => qr && at.left < qr.right - 1 && qr.left < at.right - 1 && at.top < qr.bottom - 1 && qr.top < at.bottom - 1);
    return amount.top < code.bottom && code.bottom <= aids.top && !covered;";

/// What a walk through the states found.
#[derive(Default)]
struct Found {
    /// The lines of the snapshot.
    shown: String,
    /// One finding on a line.
    findings: String,
    /// The QR codes whose place was checked.
    codes: u32,
}

impl Found {
    fn add(&mut self, place: &str, findings: &Value) {
        for finding in findings.as_array().unwrap() {
            let _ = writeln!(self.findings, "{place}: {finding}");
        }
    }

    async fn add_axe(&mut self, place: &str, browser: &Browser) {
        for finding in axe_findings(browser).await.lines() {
            let _ = writeln!(self.findings, "{place}: {finding}");
        }
    }

    /// Checks the same state in narrower windows too, of which two are the wide one at 200 and 400 percent.
    async fn check_widths(&mut self, state: &str, browser: &Browser) {
        // One command to the driver for each width.
        let parts = [IS_LAID_OUT, TOO_SMALL, OUTSIDE, READABLE];
        let parts = parts.map(|script| format!("(() => {{ {script} }})()"));
        let script = format!("return [{}]", parts.join(", "));
        let mut whole = Vec::new();
        for width in [1280, 768, 640, 500, 320] {
            browser.emulate(wide(width)).await;
            let found = browser.evaluate(&script).await;
            let place = format!("{state} at {width}");
            match found[0].as_bool() {
                Some(true) => self.codes += 1,
                Some(false) => {
                    self.add(&place, &json!(["amount, QR code or helpers are elsewhere"]));
                }
                None => {}
            }
            self.add(&place, &found[1]);
            let read = found[3].as_array().unwrap();
            for text in whole.iter().filter(|text| !read.contains(text)) {
                let _ = writeln!(self.findings, "{place} lost {text}");
            }
            if width == 1280 {
                whole.clone_from(read);
            } else {
                self.add(&place, &found[2]);
            }
        }
    }
}

/// Shows each state once for all checks in English, since that takes longer than most of them; and in dark colours and Arabic those
/// of which `is_also_dark(its number)` is `true`.
async fn check_states(is_also_dark: impl Fn(usize) -> bool) {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    let dark = BrowserOptions {
        dark: true,
        ..wide(1270)
    };
    let mut found = Found::default();
    for (number, state) in Gallery::states().into_iter().enumerate() {
        browser.emulate(wide(1270)).await;
        gallery.show(&state, "").await;
        let line = browser.evaluate(SHOWN).await;
        let _ = writeln!(found.shown, "{state} | {}", line.as_str().unwrap());
        found.add_axe(&state, browser).await;
        found.check_widths(&state, browser).await;
        if is_also_dark(number) {
            browser.emulate(dark).await;
            gallery.show(&state, "&locale=ar").await;
            let place = format!("{state} in dark colours and Arabic");
            found.add_axe(&place, browser).await;
        }
    }
    gallery.end().await;
    assert!(found.findings.is_empty(), "{}", found.findings);
    assert!(found.codes > 60, "{} codes were checked", found.codes);
    let shown = found.shown;
    assert_eq!(shown, EXPECTED, "shown:\n{shown}");
}

#[tokio::test]
async fn every_state_is_readable_operable_and_whole_at_every_width() {
    check_states(|number| number.is_multiple_of(3)).await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn every_state_is_readable_in_both_colours_and_from_right_to_left() {
    check_states(|_| true).await;
}

/// Firefox computes names, roles and colours by itself.
#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn axe_finds_nothing_in_any_state_in_firefox() {
    let browser = Browser::open_engine(Engine::Firefox, wide(1270)).await;
    let world = World::start().await;
    let gallery = Gallery { world, browser };
    gallery.begin().await;
    let mut found = Found::default();
    for state in Gallery::states() {
        gallery.show(&state, "").await;
        found.add_axe(&state, &gallery.browser).await;
    }
    gallery.end().await;
    assert!(found.findings.is_empty(), "{}", found.findings);
}

/// Returns what has moved since the page was loaded.
const MOVED: &str = "
    const [done] = arguments;
    new PerformanceObserver((list) => done(list.getEntries().flatMap(({ value, sources }) =>
        [value.toFixed(4), ...sources.map(({ previousRect: from, currentRect: to }) =>
            `${from.width}×${from.height} at ${from.x} ${from.y} to ${to.width}×${to.height} at ${to.x} ${to.y}`)]))).observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => done([]), 150);";

/// Loads each state of which `is_wanted(its number, width)` is `true`.
async fn check_nothing_moves(is_wanted: impl Fn(usize, u32) -> bool) {
    let gallery = Gallery::open().await;
    let mut found = String::new();
    for width in [1270, 390] {
        gallery.browser.emulate(wide(width)).await;
        let states = Gallery::settled_states().into_iter().enumerate();
        for (_, state) in states.filter(|(number, _)| is_wanted(*number, width)) {
            gallery.load(&state).await;
            let moved = gallery.browser.evaluate_async(MOVED).await;
            if moved != json!([]) {
                let _ = writeln!(found, "{state} at {width}: {moved}");
            }
        }
    }
    assert!(found.is_empty(), "{found}");
    gallery.end().await;
}

#[tokio::test]
async fn nothing_moves_while_every_second_state_is_loaded() {
    check_nothing_moves(|number, width| number % 4 == if width == 1270 { 0 } else { 2 }).await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn nothing_moves_while_any_state_is_loaded_at_each_width() {
    check_nothing_moves(|_, _| true).await;
}

/// Records every layout shift of the page or frame: what moved and how far. Shifts within half a second after an input
/// are the customer's.
///
/// Source: Layout Instability, WICG draft of 2025: `hadRecentInput` and its 500 ms.
const RECORD_SHIFTS: &str = "
    window.shifts = [];
    const name = node => node?.nodeType === 1 ? node.tagName + '.' + node.className : String(node?.nodeName);
    const box = rect => [rect.x, rect.y, rect.width, rect.height].map(Math.round).join(' ');
    new PerformanceObserver(list => list.getEntries().forEach(shift => {
        if (shift.hadRecentInput) return;
        const moved = shift.sources.map(at => `${name(at.node)}: ${box(at.previousRect)} → ${box(at.currentRect)}`);
        window.shifts.push(`${Math.round(shift.startTime)} ms, ${shift.value.toFixed(4)}: ${moved.join('; ')}`);
    })).observe({ type: 'layout-shift', buffered: true });
    window.paints = () => performance.getEntriesByName('first-contentful-paint').length;
";

/// The space that a shop reserves according to docs/guide/embedding.md.
const RESERVED_HEIGHT: &str = "<style>
    florin-checkout { display: block; min-height: 800px }
    florin-checkout > iframe { display: block; width: 100%; min-height: 740px; border: 0 }
    florin-checkout[display='modal'] { display: inline-block; min-height: 44px }
</style>";

/// A shop page that reserves the checkout's space, with text above and below it.
async fn shop(display: &str) -> (StoreSite, World) {
    let (site, world) = World::with_site().await;
    let proxy = world.proxy_url();
    let (attribute, content) = match display {
        "tag" => (String::new(), tag_frame(&world, "mug")),
        _ => (format!("display=\"{display}\""), "Pay 12 USD".to_owned()),
    };
    site.serve(
        "",
        &format!(
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">{RESERVED_HEIGHT}
             <script src=\"{proxy}/florin.js\" async></script>
             <h1>A shop</h1>
             <florin-checkout store=\"demo\" product=\"mug\" {attribute}>{content}</florin-checkout>
             <p>Delivery within three days.</p>"
        ),
    );
    (site, world)
}

/// What has moved, two frames after the first paint or later: shifts are recorded after the frame that has them.
async fn shifts(browser: &Browser) -> Value {
    const READ: &str = "
        const [done] = [...arguments].slice(-1);
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(window.shifts))));";
    let is_painted = "return window.paints() > 0";
    browser.wait_until("the page is painted", is_painted).await;
    browser.evaluate_async(READ).await
}

/// `display` is one of the element's, `tag` for a frame in the tag, or `page`: the checkout's own.
async fn check_purchase_has_no_shift(display: &str, window: (u32, u32)) {
    let (site, world) = shop(display).await;
    let options = BrowserOptions {
        size: window,
        motion: true,
        ..BrowserOptions::default()
    };
    let browser = Browser::open_with(options).await;
    browser.run_before_every_page(RECORD_SHIFTS).await;
    let in_a_frame = matches!(display, "tag" | "frame" | "modal");
    if display == "page" {
        browser.goto(&world.checkout_page()).await;
    } else {
        browser.goto(site.url()).await;
    }
    if display == "modal" {
        open_dialog(&browser).await;
    }
    if in_a_frame {
        browser.enter_checkout().await;
    }
    let mut moved = Vec::new();
    browser.wait_for("asset-BTC").await;
    moved.push(("choosing", shifts(&browser).await));
    let checkout = choose_asset(&world, &browser, "BTC").await;
    browser.wait_for("countdown").await;
    moved.push(("paying", shifts(&browser).await));
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    browser.wait_for("status-processing").await;
    moved.push(("following", shifts(&browser).await));
    world.sandbox().mine(2).await;
    browser.wait_for("status-paid").await;
    browser.wait_for("print-receipt").await;
    // Time for a shift that must not happen: the observer is called after the paint.
    pause(Duration::from_millis(500)).await;
    moved.push(("paid", shifts(&browser).await));
    if in_a_frame {
        browser.leave_checkout().await;
        if display == "modal" {
            let button = "return document.querySelector('florin-checkout').shadowRoot.querySelector('.fl-open').textContent";
            let paid = "\u{2713} Paid";
            browser.wait_for_result("its button", button, paid).await;
        }
        moved.push(("the shop's page", shifts(&browser).await));
    }
    for (screen, shifts) in &moved {
        assert_eq!(*shifts, json!([]), "{screen}, {display} at {window:?}");
    }
    end(world, browser).await;
}

const LAPTOP: (u32, u32) = (1280, 1100);
/// The narrowest window of Chromium.
const PHONE: (u32, u32) = (500, 844);

#[tokio::test]
async fn nothing_moves_in_a_frame_on_a_phone_and_inline_on_a_laptop() {
    check_purchase_has_no_shift("tag", PHONE).await;
    check_purchase_has_no_shift("frame", PHONE).await;
    check_purchase_has_no_shift("inline", LAPTOP).await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn nothing_moves_in_any_display_on_a_laptop_and_on_a_phone() {
    for display in ["tag", "frame", "inline", "modal", "page"] {
        for window in [LAPTOP, PHONE] {
            check_purchase_has_no_shift(display, window).await;
        }
    }
}

/// The offer arrives after the screens have started without it.
#[tokio::test]
async fn nothing_moves_when_an_offer_arrives_late() {
    let world = World::start().await;
    let browser = Browser::open_with(BrowserOptions {
        size: PHONE,
        ..BrowserOptions::default()
    })
    .await;
    browser.run_before_every_page(RECORD_SHIFTS).await;
    browser.run_before_every_page(WITHOUT_OFFER).await;
    let late = "(() => {
        const fetched = window.fetch;
        window.fetch = async (request, options) => {
            const response = await fetched(request, options);
            if (String(request).includes('/offer')) await new Promise(done => (window.release = done));
            return response;
        };
    })();";
    browser.run_before_every_page(late).await;
    browser.goto(&world.checkout_page()).await;
    let begun = "return document.querySelector('florin-checkout')?.shadowRoot?.querySelector('.summary .live .bar')?.className";
    browser
        .wait_until("the screens start without the offer", begun)
        .await;
    browser.evaluate("window.release()").await;
    browser.wait_for("asset-BTC").await;
    // Time for a shift that must not happen: the observer is called after the paint.
    pause(Duration::from_millis(500)).await;
    assert_eq!(shifts(&browser).await, json!([]));
    end(world, browser).await;
}
