//! A payment by a wallet that takes another course: another asset meanwhile, a reload, a second page, a call that no block has, and
//! a wallet that does not answer. `tests/wallet` has transactions that fail, vanish or are replaced.
//!
//! And payment by a wallet of Tron, which builds and signs with tronWeb. The sandbox has no chain of Tron: the test pays there what
//! the node has taken.

use serde_json::{Value, json};
use support::{
    Browser, BrowserOptions, Chain, Checkout, Engine, StoreSite, TronNode, World, eventually,
};

use crate::helpers::{choose_asset, end, read_inside};
use crate::wallets::{
    WALLET, asked, choose, choose_at, confirm, serve_with_wallet, wait_for_state, wait_until_sent,
};

async fn wait_until_asked(browser: &Browser, method: &str) {
    let is_asked = format!("return testWallet.asked.some(({{ method }}) => method === '{method}')");
    browser.wait_until(method, &is_asked).await;
}

/// The wallet waits for `release()` before this request.
fn waits_before(method: &str) -> String {
    format!("testWallet.before.{method} = new Promise((done) => (window.release = done));")
}

/// As `choose`, where the gateway sees nothing of the chain: the page knows the transaction by the wallet alone.
async fn unseen(asset: &str, set: &str) -> (StoreSite, Chain, World, Browser, Checkout) {
    let (chain, (site, world)) = (Chain::start().await, World::with_site().await);
    choose_at((site, chain, world), asset, set).await
}

const LOOK: &str = "return inside.querySelector('.wallet-button').className.split(' ')[0]";

#[tokio::test]
async fn a_payment_of_the_asset_before_does_not_mark_the_one_that_is_shown() {
    let wait = waits_before("eth_sendTransaction");
    let (_site, chain, world, browser, checkout) = unseen("ETH", &wait).await;
    browser.press(WALLET).await;
    wait_for_state(&browser, "confirm").await;
    browser.press("other-asset").await;
    choose_asset(&world, &browser, "BTC").await;
    browser.evaluate("release()").await;
    let passed_on = "return performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/v1/checkout/paid'))";
    browser
        .wait_until("the transaction is passed on", passed_on)
        .await;
    let view = checkout.view().await;
    assert_eq!(view["status"], "awaiting_payment");
    assert_eq!(view["attempt"]["crypto_code"], "BTC");
    assert_eq!(view["attempt"]["marked_as_paid"], false);
    assert_eq!(view["attempt"]["transaction_hint"], Value::Null);
    // Another asset that the wallet pays: a payment is on its way, and the customer reads so.
    browser.press("other-asset").await;
    choose_asset(&world, &browser, "USDTERC20").await;
    wait_for_state(&browser, "again").await;
    let text = browser.text("wallet-status").await;
    assert!(text.contains("already sent a payment"), "{text}");
    // To pay again is possible, and not the main action.
    browser.wait_for(WALLET).await;
    assert_eq!(read_inside(&browser, LOOK).await, "secondary");
    assert_eq!(chain.sent().await, 1);
    end(world, browser).await;
}

#[tokio::test]
async fn a_reload_while_the_wallet_is_open_warns_before_a_second_payment() {
    let wait = waits_before("eth_sendTransaction");
    let (_site, chain, world, browser, _) = choose("ETH", &wait).await;
    browser.press(WALLET).await;
    wait_until_asked(&browser, "eth_sendTransaction").await;
    browser.reload().await;
    wait_for_state(&browser, "unclear").await;
    assert!(browser.text("wallet-status").await.contains("Test Wallet"));
    assert_eq!(asked(&browser, "eth_requestAccounts").await, 0);
    // To decline another one says nothing of the first.
    let declines = "Object.assign(testWallet, { before: {}, errors: { eth_sendTransaction: Object.assign(new Error('no'), { code: 4001 }) } })";
    browser.evaluate(declines).await;
    browser.press(WALLET).await;
    wait_for_state(&browser, "refused").await;
    browser.reload().await;
    wait_for_state(&browser, "unclear").await;
    assert_eq!(chain.sent().await, 0);
    end(world, browser).await;
}

#[tokio::test]
async fn a_second_page_of_the_browser_does_not_ask_at_the_same_time() {
    let (_site, chain, world, browser, checkout) = choose("ETH", "").await;
    let order = checkout.view().await["id"].clone();
    // As another page holds it while its wallet is open.
    let hold = "navigator.locks.request('florin:sent:' + arguments[0], () => new Promise((done) => (window.letGo = done)))";
    browser
        .evaluate_with(&format!("void {hold}"), std::slice::from_ref(&order))
        .await;
    browser.press(WALLET).await;
    wait_for_state(&browser, "pending").await;
    assert_eq!(asked(&browser, "eth_sendTransaction").await, 0);
    // That page has been asked for a payment whose outcome is not known; here, the first press says so.
    let keep = "letGo(); localStorage.setItem('florin:sent:' + arguments[0], JSON.stringify({ key: 'other', address: 'other', wallet: 'test.florin.wallet', name: 'Test Wallet', at: 1 }))";
    browser
        .evaluate_with(keep, std::slice::from_ref(&order))
        .await;
    browser.press(WALLET).await;
    wait_for_state(&browser, "unclear").await;
    // Its owner declines there.
    let decline = "localStorage.removeItem('florin:sent:' + arguments[0]); dispatchEvent(new StorageEvent('storage'))";
    browser.evaluate_with(decline, &[order]).await;
    wait_for_state(&browser, "").await;
    assert_eq!(asked(&browser, "eth_sendTransaction").await, 0);
    assert_eq!(chain.sent().await, 0);
    end(world, browser).await;
}

#[tokio::test]
async fn a_smart_accounts_call_that_no_block_has_gives_way_to_other_wallets_and_still_pays() {
    let smart = "testWallet.isSmart = true;";
    let (_site, chain, world, browser, checkout) = unseen("USDTERC20", smart).await;
    chain.call("evm_setAutomine", json!([false])).await;
    browser.press(WALLET).await;
    wait_for_state(&browser, "sent").await;
    assert!(!browser.is_visible(WALLET).await);
    wait_until_asked(&browser, "wallet_getCallsStatus").await;
    assert_eq!(asked(&browser, "wallet_sendCalls").await, 1);
    assert_eq!(asked(&browser, "eth_sendTransaction").await, 0);
    let later = "const now = Date.now; Date.now = () => now() + 6 * 60 * 1000";
    browser.evaluate(later).await;
    wait_for_state(&browser, "unseen").await;
    let text = browser.text("wallet-status").await;
    assert!(text.contains("Don’t pay again"), "{text}");
    browser.wait_for(WALLET).await;
    // To pay again is possible, and not the main action.
    assert_eq!(read_inside(&browser, LOOK).await, "secondary");
    chain.mine(1).await;
    wait_until_sent(&browser).await;
    assert_eq!(chain.sent().await, 1);
    let block = json!(["latest", false]);
    let block = chain.call("eth_getBlockByNumber", block).await;
    let view = checkout.view().await;
    let hint = &view["attempt"]["transaction_hint"];
    assert_eq!(block["transactions"], json!([hint]), "the page reports it");
    end(world, browser).await;
}

/// Waits of a minute and more end by `advance(ms)` alone; shorter ones by the browser's clock.
const LONG_WAITS: &str = "
    const usual = setTimeout;
    const end = clearTimeout;
    const waits = new Map();
    let [passed, last] = [0, 0];
    window.setTimeout = (run, ms, ...given) => {
        if (!(ms >= 60000)) return usual(run, ms, ...given);
        waits.set(--last, { run: () => run(...given), at: passed + ms });
        return last;
    };
    window.clearTimeout = (id) => id < 0 ? waits.delete(id) : end(id);
    window.advance = (ms) => {
        passed += ms;
        for (const [id, { run, at }] of waits) if (at <= passed) {
            waits.delete(id);
            run();
        }
    };
";

#[tokio::test]
async fn a_wallet_that_does_not_answer_gives_way_after_its_time() {
    let set = format!("{LONG_WAITS}{}", waits_before("eth_requestAccounts"));
    let (_site, chain, world, browser, checkout) = choose("ETH", &set).await;
    let is_waiting = "return inside.querySelector('.wallet-button').getAttribute('aria-disabled')";
    browser.press(WALLET).await;
    wait_until_asked(&browser, "eth_requestAccounts").await;
    browser.evaluate("advance(60000)").await;
    wait_for_state(&browser, "none").await;
    assert_eq!(read_inside(&browser, is_waiting).await, Value::Null);
    // Its late answer sends nothing.
    browser.evaluate("release()").await;
    assert_eq!(chain.sent().await, 0);

    // To the payment it has five minutes.
    let wait = waits_before("eth_sendTransaction");
    let wait = format!("testWallet.before = {{}}; {wait}");
    browser.evaluate(&wait).await;
    browser.press(WALLET).await;
    wait_until_asked(&browser, "eth_sendTransaction").await;
    browser.evaluate("advance(60000)").await;
    wait_for_state(&browser, "confirm").await;
    assert_eq!(read_inside(&browser, is_waiting).await, "true");
    browser.evaluate("advance(239999)").await;
    wait_for_state(&browser, "confirm").await;
    let press = "inside.querySelector('.wallet-button').click()";
    read_inside(&browser, press).await;
    assert_eq!(asked(&browser, "eth_requestAccounts").await, 2);
    browser.evaluate("advance(1)").await;
    // What it was asked for may still be sent: the customer reads so, and can choose.
    wait_for_state(&browser, "unclear").await;
    assert_eq!(read_inside(&browser, is_waiting).await, Value::Null);
    assert_eq!(checkout.view().await["status"], "awaiting_payment");
    // It answers after all: the payment counts.
    browser.evaluate("release()").await;
    confirm(&chain, &browser).await;
    assert_eq!(chain.sent().await, 1);
    end(world, browser).await;
}

const TRON_WALLET: &str = "wallet-Test Tron";
/// Test Tether on Nile, and its account. Source: nileex.io.
const TOKEN: &str = "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf";
const TOKEN_ACCOUNT: &str = "41eca9bc828a3005b9a3b909f2cc5c2a54794de05f";

/// A page with the checkout and a wallet of Tron.
async fn shop_of_tron() -> (StoreSite, TronNode, World) {
    let (node, (site, world)) = (TronNode::start().await, World::with_site().await);
    serve_with_wallet(&site, &world, &node.wallet(), "inline");
    (site, node, world)
}

async fn a_wallet_of_tron_pays_usdt(engine: Engine) {
    let (site, node, world) = shop_of_tron().await;
    let browser = Browser::open_engine(engine, BrowserOptions::default()).await;
    browser.goto(site.url()).await;
    // A wallet of Tron is none for Ethereum's chains.
    choose_asset(&world, &browser, "ETH").await;
    assert!(!browser.is_visible(TRON_WALLET).await);
    browser.press("other-asset").await;
    let checkout = choose_asset(&world, &browser, "USDTTRC20").await;
    let button = browser.wait_for(TRON_WALLET).await;
    assert_eq!(button.text().await.unwrap(), "Pay with Test Tron");
    assert_eq!(asked(&browser, "eth_requestAccounts").await, 0);
    browser.press(TRON_WALLET).await;
    wait_until_sent(&browser).await;
    let attempt = checkout.view().await["attempt"].take();
    let ordered = &attempt["tron_transaction"];
    assert_eq!(ordered["to"], TOKEN);
    assert_eq!(attempt["marked_as_paid"], true);
    let sent = node.sent();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(attempt["transaction_hint"], sent[0]["txID"]);
    let contract = &sent[0]["raw_data"]["contract"][0];
    assert_eq!(contract["type"], "TriggerSmartContract");
    let value = &contract["parameter"]["value"];
    assert_eq!(value["contract_address"], TOKEN_ACCOUNT);
    assert_eq!(value["data"], ordered["data"].as_str().unwrap()[2..]);
    assert_eq!(asked(&browser, "sign").await, 1);
    node.mine("SUCCESS");
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(30).await;
    browser.wait_for("status-paid").await;
    end(world, browser).await;
}

#[tokio::test]
async fn a_wallet_of_tron_pays_usdt_in_chromium() {
    a_wallet_of_tron_pays_usdt(Engine::Chromium).await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn a_wallet_of_tron_pays_usdt_in_firefox_and_webkit() {
    for engine in [Engine::Firefox, Engine::WebKit] {
        a_wallet_of_tron_pays_usdt(engine).await;
    }
}

/// What a wallet lacks is in `tests/wallet/tron_guards.js`, and its words are in the gallery.
#[tokio::test]
async fn an_expired_transaction_of_tron_is_made_again() {
    let (site, node, world) = shop_of_tron().await;
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    choose_asset(&world, &browser, "USDTTRC20").await;
    browser.press(TRON_WALLET).await;
    browser.wait_for("status-checking").await;
    node.hide();
    // Four minutes later, by this clock and by the chain's.
    let later = "const now = Date.now; Date.now = () => now() + 4 * 60 * 1000";
    browser.evaluate(later).await;
    wait_for_state(&browser, "failed").await;
    browser
        .wait_for_text("wallet-status", "nothing was paid")
        .await;
    // A page that is loaded again does not wait for it.
    browser.reload().await;
    wait_for_state(&browser, "failed").await;
    browser.press(TRON_WALLET).await;
    eventually("it is sent again", async || {
        (node.sent().len() == 2).then_some(())
    })
    .await;
    end(world, browser).await;
}
