//! The pages for a store's staff: from a link in the shop to a decision by keyboard, and no finding of axe-core on a phone and on
//! a desktop, in both colour schemes.

use std::path::Path;

use serde_json::json;
use support::{Browser, BrowserOptions, World, eventually};

use crate::axe::axe_findings;
use crate::operators_pages::{options, pictures, wait_for_heading, with_orders};

const PAGES: [(&str, &str); 4] = [
    ("/staff/", "first"),
    ("/staff/orders", "orders"),
    ("/staff/settlements", "settlements"),
    ("/staff/stores", "webhook"),
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
    browser.evaluate(go, &[json!(link(world).await)]).await;
    wait_for_heading(browser, "Quiet Goods").await;
    // The button has the focus.
    browser.type_keys("\u{e007}".to_owned()).await;
    wait_for_heading(browser, "Needs a person").await;
}

/// What is wrong with the page that is shown: its width, and what axe-core finds.
async fn findings(browser: &Browser, name: &str) -> Vec<String> {
    let too_wide = "return document.documentElement.scrollWidth > innerWidth";
    let too_wide = browser.evaluate(too_wide, &[]).await == true;
    let found = axe_findings(browser).await;
    let found = found.lines().map(|finding| format!("{name}: {finding}"));
    let too_wide = too_wide.then(|| format!("{name}: wider than the window"));
    too_wide.into_iter().chain(found).collect()
}

#[tokio::test]
async fn axe_finds_nothing_on_any_page_of_staff() {
    let world = World::start().await;
    let order = with_orders(&world).await;
    let browser = Browser::open_with(BrowserOptions::default()).await;
    sign_in(&browser, &world).await;
    let order = format!("/staff/orders/{order}");
    let unopened = link(&world).await.replace(&world.proxy_url(), "");
    let more = [
        (&*order, "order"),
        (&*unopened, "link"),
        ("/staff/open/0", "ended"),
    ];
    let mut found = Vec::new();
    for (width, dark) in [(390, false), (390, true), (1270, false), (1270, true)] {
        browser.emulate(options(width, dark)).await;
        for (page, name) in PAGES.into_iter().chain(more) {
            browser.goto(&format!("{}{page}", world.proxy_url())).await;
            let shade = if dark { "dark" } else { "light" };
            let name = format!("staff-{name}-{width}-{shade}");
            found.extend(findings(&browser, &name).await);
            if let Some(folder) = pictures() {
                let file = format!("{folder}/{name}.png");
                let options = options(width, dark);
                browser.save_picture(options, Path::new(&file)).await;
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn staff_comes_from_the_shops_site_and_decides_by_keyboard() {
    let world = World::start().await;
    let order = with_orders(&world).await;
    let browser = Browser::open_with(BrowserOptions::default()).await;
    sign_in(&browser, &world).await;
    let page = format!("{}/staff/orders/{order}", world.proxy_url());
    browser.goto(&page).await;
    let scripts = "return document.scripts.length";
    assert_eq!(browser.evaluate(scripts, &[]).await, 0);
    let focus = "document.querySelector('textarea').focus()";
    browser.evaluate(focus, &[]).await;
    // The text, Tab to the first button, Enter.
    let text = "the rest came by bank\u{e004}\u{e007}";
    browser.type_keys(text.to_owned()).await;
    eventually("the order is paid", async || {
        let badge = "return document.querySelector('main .badge')?.textContent";
        (browser.evaluate(badge, &[]).await == "paid").then_some(())
    })
    .await;
    // The cookie is out of reach of scripts, and no page of the checkout gets it.
    let cookies = "return document.cookie";
    assert_eq!(browser.evaluate(cookies, &[]).await, "");
    browser.end().await;
    world.end().await;
}
