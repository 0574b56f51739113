//! The tour of `cargo xtask demo`: sales through the shop, the phone, the proxy and the webhook.

use std::time::Duration;

use support::{Browser, Demo, within};

use crate::helpers::axe_findings;

/// A payment that is taken back is found within a minute.
const LONGEST_PLAY: Duration = Duration::from_mins(2);
const ALL_ON: &str = "wallet on, chain on, credited on, webhook on, shipped on";

/// A play, the lights at its end, and how the tour says that it ended.
const OTHER_PLAYS: [(&str, &str, &str); 4] = [
    (
        "play-underpaid",
        "wallet part, chain on, credited part, webhook part, shipped ",
        "Too little came",
    ),
    ("play-late", ALL_ON, "the shop knows that it was late"),
    (
        "play-reverted",
        "wallet on, chain bad, credited bad, webhook bad, shipped bad",
        "warns the shop at once",
    ),
    ("play-killed", ALL_ON, "the payment counted once"),
];

async fn play(browser: &Browser, name: &str, shines: &str, caption: &str) {
    browser.press(name).await;
    let ended = async || {
        browser
            .text("caption")
            .await
            .contains(caption)
            .then_some(())
    };
    assert!(
        within(LONGEST_PLAY, ended).await.is_some(),
        "{name} does not end"
    );
    let lights = "return [...document.querySelectorAll('[data-light]')]
        .map(({ dataset }) => `${dataset.light} ${dataset.state}`).join(', ')";
    let what = format!("the lights of {name} are on");
    browser.wait_for_result(&what, lights, shines).await;
}

#[tokio::test]
async fn one_press_plays_a_sale_that_lights_every_light() {
    let demo = Demo::start_simulated().await;
    let browser = Browser::open().await;
    browser.goto(&demo.tour()).await;
    let shipped = "the shop has the signed webhook";
    play(&browser, "play-sale", ALL_ON, shipped).await;
    assert_eq!(axe_findings(&browser).await, "");

    browser
        .evaluate("document.querySelector('form').target = ''")
        .await;
    browser.press("operator").await;
    let signed_in = "return document.querySelector('[action=\"/logout\"]') !== null";
    browser
        .wait_until("the operator is signed in", signed_in)
        .await;
    browser.end().await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn each_other_play_ends_as_it_says() {
    let demo = Demo::start_simulated().await;
    let browser = Browser::open().await;
    browser.goto(&demo.tour()).await;
    for (name, lights, caption) in OTHER_PLAYS {
        play(&browser, name, lights, caption).await;
    }
    browser.end().await;
}
