//! Layout shift: from the first paint to the end of a purchase no content of the shop or the checkout moves by itself.

use std::time::Duration;

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, StoreSite, World, pause};

use crate::helpers::{choose_asset, end, open_dialog};

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
    florin-checkout[display='modal'] { display: inline-block; min-height: 44px }
</style>";

/// A shop page that reserves the checkout's space, with text above and below it.
async fn shop(display: &str) -> (StoreSite, World) {
    let site = StoreSite::open().await;
    let world = World::start_for(&site).await;
    let proxy = world.proxy_url();
    site.serve(
        "",
        &format!(
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">{RESERVED_HEIGHT}
             <script src=\"{proxy}/florin.js\" async></script>
             <h1>A shop</h1>
             <florin-checkout store=\"demo\" product=\"mug\" display=\"{display}\">Pay 12 USD</florin-checkout>
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

/// `display` is one of the element's, or `page`: the checkout's own.
async fn check_purchase_has_no_shift(display: &str, window: (u32, u32)) {
    let (site, world) = shop(display).await;
    let options = BrowserOptions {
        size: window,
        motion: true,
        ..BrowserOptions::default()
    };
    let browser = Browser::open_with(options).await;
    browser.run_before_every_page(RECORD_SHIFTS).await;
    let in_a_frame = matches!(display, "frame" | "modal");
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
    check_purchase_has_no_shift("frame", PHONE).await;
    check_purchase_has_no_shift("inline", LAPTOP).await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn nothing_moves_in_any_display_on_a_laptop_and_on_a_phone() {
    for display in ["frame", "inline", "modal", "page"] {
        for window in [LAPTOP, PHONE] {
            check_purchase_has_no_shift(display, window).await;
        }
    }
}

/// The order arrives after the screens have started without it.
#[tokio::test]
async fn nothing_moves_when_an_order_arrives_late() {
    let world = World::start().await;
    let browser = Browser::open_with(BrowserOptions {
        size: PHONE,
        ..BrowserOptions::default()
    })
    .await;
    browser.run_before_every_page(RECORD_SHIFTS).await;
    let late = "(() => {
        const fetched = window.fetch;
        window.fetch = async (request, options) => {
            const response = await fetched(request, options);
            if (options?.method === 'POST') await new Promise(done => (window.release = done));
            return response;
        };
    })();";
    browser.run_before_every_page(late).await;
    browser.goto(&world.checkout_page()).await;
    let begun = "return document.querySelector('florin-checkout')?.shadowRoot?.querySelector('.summary .live .bar')?.className";
    browser
        .wait_until("the screens start without the order", begun)
        .await;
    browser.evaluate("window.release()").await;
    browser.wait_for("asset-BTC").await;
    // Time for a shift that must not happen: the observer is called after the paint.
    pause(Duration::from_millis(500)).await;
    assert_eq!(shifts(&browser).await, json!([]));
    end(world, browser).await;
}
