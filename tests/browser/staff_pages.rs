//! The pages for a store's staff: from a link in the shop to a decision by keyboard, and no finding of axe-core on a phone and on
//! a desktop, in both colour schemes.

use serde_json::json;
use support::{Browser, BrowserOptions, World};

use crate::axe::page_findings;
use crate::helpers::end;
use crate::operators_pages::{accept_by_keyboard, options, wait_for_heading, with_orders};

const PAGES: [&str; 4] = [
    "/staff/",
    "/staff/orders",
    "/staff/settlements",
    "/staff/stores",
];

/// A link for a person who may decide.
async fn link(world: &World) -> String {
    let wanted = json!({ "person": "Zoë", "role": "write" });
    let made = world.store().post("/v1/staff_links", &wanted).await;
    made.with(201).text_at("/url")
}

/// Follows the link from a page of another site, as in a shop's back office, and presses its button by keyboard.
async fn sign_in(browser: &Browser, world: &World) {
    let shop = world.shop_url().replace("127.0.0.1", "localhost");
    browser.goto(&shop).await;
    let go = "location.assign(arguments[0])";
    browser.evaluate_with(go, &[json!(link(world).await)]).await;
    wait_for_heading(browser, "Quiet Goods").await;
    // The button has the focus.
    browser.type_keys("\u{e007}".to_owned()).await;
    wait_for_heading(browser, "Needs a person").await;
}

#[tokio::test]
async fn axe_finds_nothing_on_any_page_of_staff() {
    let world = World::start().await;
    let order = with_orders(&world).await;
    let browser = Browser::open_with(BrowserOptions::default()).await;
    sign_in(&browser, &world).await;
    let order = format!("/staff/orders/{order}");
    let unopened = link(&world).await.replace(&world.proxy_url(), "");
    let more = [&*order, &*unopened, "/staff/open/0"];
    let mut found = Vec::new();
    for (width, dark) in [(390, false), (390, true), (1270, false), (1270, true)] {
        browser.emulate(options(width, dark)).await;
        for page in PAGES.into_iter().chain(more) {
            browser.goto(&format!("{}{page}", world.proxy_url())).await;
            let name = format!("{page} at {width}, dark {dark}");
            found.extend(page_findings(&browser, &name).await);
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    end(world, browser).await;
}

#[tokio::test]
async fn staff_comes_from_the_shops_site_and_decides_by_keyboard() {
    let world = World::start().await;
    let order = with_orders(&world).await;
    let browser = Browser::open_with(BrowserOptions::default()).await;
    sign_in(&browser, &world).await;
    let page = format!("{}/staff/orders/{order}", world.proxy_url());
    accept_by_keyboard(&browser, &page).await;
    // The cookie is out of reach of scripts, and no page of the checkout gets it.
    let cookies = "return document.cookie";
    assert_eq!(browser.evaluate(cookies).await, "");
    end(world, browser).await;
}
