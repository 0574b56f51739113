//! The demo with a chain: a customer pays on its page, by the wallet that the demo puts there.

use serde_json::json;
use support::{Browser, Demo};

/// Answers each question of the demo's wallet with yes, and keeps it.
const AGREES: &str = "
    window.questions = [];
    window.confirm = (question) => (window.questions.push(question), true);";

#[tokio::test]
async fn one_press_and_a_confirmation_in_the_wallet_pay_usdt_in_the_demo() {
    let demo = Demo::start().await;
    let browser = Browser::open().await;
    browser.run_before_every_page(AGREES).await;
    browser.goto(&demo.wallet_page()).await;
    browser.press("asset-USDTERC20").await;
    browser.press("network-confirm").await;
    browser.press("wallet-Demo Wallet").await;
    let count = "return window.questions.length";
    browser
        .wait_for_result("the wallet has asked to connect and to send", count, 2)
        .await;
    browser.wait_for("status-processing").await;
    demo.mine(5).await;
    browser.wait_for("status-paid").await;
    assert_eq!(browser.evaluate(count).await, json!(2));
    let asked = browser.evaluate("return window.questions[1]").await;
    let asked = asked.as_str().unwrap();
    assert!(asked.contains(" units of the token\n"), "{asked}");
    browser.end().await;
}
