//! A payment by a wallet that takes another course: another asset meanwhile, a reload, a second page, a transaction that is
//! replaced or vanishes, and a wallet that does not answer.

use serde_json::{Value, json};
use support::{Browser, Chain, Checkout, StoreSite, World, eventually};

use crate::helpers::{RECORD_ANNOUNCEMENTS, announced, choose_asset};
use crate::wallets::{
    WALLET, asked, confirm, ether, serve_with_wallet, shop_with_wallet, wait_for_state,
    wait_until_sent,
};

/// The wallet waits for `release()` before this request.
fn waits_before(method: &str) -> String {
    format!("testWallet.before.{method} = new Promise((done) => (window.release = done));")
}

/// As `ether`, where the gateway sees nothing of the chain: the page knows the transaction by the wallet alone.
async fn ether_unseen(set: &str) -> (StoreSite, Chain, World, Browser, Checkout) {
    unseen("ETH", set).await
}

async fn unseen(asset: &str, set: &str) -> (StoreSite, Chain, World, Browser, Checkout) {
    let site = StoreSite::open().await;
    let chain = Chain::start().await;
    let world = World::start_for(&site).await;
    serve_with_wallet(&site, &chain, &world, set);
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    let checkout = choose_asset(&world, &browser, asset).await;
    (site, chain, world, browser, checkout)
}

#[tokio::test]
async fn a_payment_of_the_asset_before_does_not_mark_the_one_that_is_shown() {
    let wait = waits_before("eth_sendTransaction");
    let (_site, chain, world, browser, checkout) = ether_unseen(&wait).await;
    browser.press(WALLET).await;
    wait_for_state(&browser, "confirm").await;
    browser.press("other-asset").await;
    choose_asset(&world, &browser, "BTC").await;
    browser.evaluate("release()", &[]).await;
    let passed_on = "return performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/v1/checkout/paid'))";
    browser
        .wait_for_result("the transaction is passed on", passed_on, &json!(true))
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
    assert!(browser.is_visible(WALLET).await);
    assert_eq!(chain.sent().await, 1);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_reload_while_the_wallet_is_open_warns_before_a_second_payment() {
    let wait = waits_before("eth_sendTransaction");
    let (_site, chain, world, browser, _) = ether(&wait).await;
    browser.press(WALLET).await;
    eventually("the wallet is asked", async || {
        (asked(&browser, "eth_sendTransaction").await == 1).then_some(())
    })
    .await;
    browser.reload().await;
    wait_for_state(&browser, "unclear").await;
    assert!(browser.text("wallet-status").await.contains("Test Wallet"));
    assert_eq!(asked(&browser, "eth_requestAccounts").await, 0);
    // To decline another one says nothing of the first.
    let declines = "Object.assign(testWallet, { before: {}, errors: { eth_sendTransaction: Object.assign(new Error('no'), { code: 4001 }) } })";
    browser.evaluate(declines, &[]).await;
    browser.press(WALLET).await;
    wait_for_state(&browser, "refused").await;
    browser.reload().await;
    wait_for_state(&browser, "unclear").await;
    assert_eq!(chain.sent().await, 0);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_second_page_of_the_browser_does_not_ask_at_the_same_time() {
    let (_site, chain, world, browser, checkout) = ether("").await;
    let order = checkout.view().await["id"].clone();
    // As another page holds it while its wallet is open.
    let hold = "navigator.locks.request('florin:sent:' + arguments[0], () => new Promise((done) => (window.letGo = done)))";
    browser
        .evaluate(&format!("void {hold}"), std::slice::from_ref(&order))
        .await;
    browser.press(WALLET).await;
    wait_for_state(&browser, "pending").await;
    assert_eq!(asked(&browser, "eth_sendTransaction").await, 0);
    // That page has been asked for a payment whose outcome is not known; here, the first press says so.
    let keep = "letGo(); localStorage.setItem('florin:sent:' + arguments[0], JSON.stringify({ key: 'other', address: 'other', wallet: 'test.florin.wallet', name: 'Test Wallet', at: 1 }))";
    browser.evaluate(keep, std::slice::from_ref(&order)).await;
    browser.press(WALLET).await;
    wait_for_state(&browser, "unclear").await;
    // Its owner declines there.
    let decline = "localStorage.removeItem('florin:sent:' + arguments[0]); dispatchEvent(new StorageEvent('storage'))";
    browser.evaluate(decline, &[order]).await;
    wait_for_state(&browser, "").await;
    assert_eq!(asked(&browser, "eth_sendTransaction").await, 0);
    assert_eq!(chain.sent().await, 0);
    browser.end().await;
    world.end().await;
}

/// Sends by the wallet without a block, until the page has looked the transaction up; returns the transaction.
async fn sent_without_a_block(chain: &Chain, browser: &Browser) -> Value {
    chain.call("evm_setAutomine", json!([false])).await;
    browser.press(WALLET).await;
    browser.wait_for("status-checking").await;
    eventually("the page looks it up", async || {
        (asked(browser, "eth_getTransactionReceipt").await > 0).then_some(())
    })
    .await;
    let hash = "return testWallet.asked.find(({ method }) => method === 'eth_getTransactionReceipt').params[0]";
    let hash = browser.evaluate(hash, &[]).await;
    chain.call("eth_getTransactionByHash", json!([hash])).await
}

#[tokio::test]
async fn a_replaced_transaction_opens_the_way_to_pay_again() {
    let (_site, chain, world, browser, _) = ether_unseen("").await;
    let sent = sent_without_a_block(&chain, &browser).await;
    let from = &sent["from"];
    // The customer cancels it: another transaction with the same number and a higher fee.
    let cancel = json!([{ "from": from, "to": from, "value": "0x0", "nonce": sent["nonce"], "gasPrice": "0x174876e800" }]);
    chain.call("eth_sendTransaction", cancel).await;
    chain.mine(1).await;
    wait_for_state(&browser, "replaced").await;
    let is_open = "return document.querySelector('florin-checkout').shadowRoot.querySelector('details.again').open";
    assert_eq!(browser.evaluate(is_open, &[]).await, true);
    browser.wait_for(WALLET).await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_dropped_transaction_is_no_invitation_to_pay_again() {
    let (_site, chain, world, browser, _) = ether_unseen("").await;
    let sent = sent_without_a_block(&chain, &browser).await;
    chain
        .call("anvil_dropTransaction", json!([sent["hash"]]))
        .await;
    // Six minutes later no node shows it, and no other transaction has its number: it may still be sent.
    let later = "const now = Date.now; Date.now = () => now() + 6 * 60 * 1000";
    browser.evaluate(later, &[]).await;
    wait_for_state(&browser, "unseen").await;
    let text = browser.text("wallet-status").await;
    assert!(text.contains("Don’t pay again"), "{text}");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_wallet_that_does_not_answer_gives_way_and_its_late_answer_sends_nothing() {
    // A minute is half a second.
    let fast = "const timeout = window.setTimeout;
        window.setTimeout = (run, ms, ...more) => timeout(run, ms === 60000 ? 500 : ms, ...more);";
    let wait = waits_before("eth_requestAccounts") + fast;
    let (_site, chain, world, browser, _) = ether(&wait).await;
    browser.press(WALLET).await;
    wait_for_state(&browser, "none").await;
    let is_disabled = "return document.querySelector('florin-checkout').shadowRoot.querySelector('.wallet-button').ariaDisabled";
    assert_eq!(browser.evaluate(is_disabled, &[]).await, Value::Null);
    browser.evaluate("release()", &[]).await;
    browser.evaluate("testWallet.before = {}", &[]).await;
    assert_eq!(chain.sent().await, 0);
    browser.press(WALLET).await;
    confirm(&chain, &browser).await;
    assert_eq!(asked(&browser, "eth_sendTransaction").await, 1);
    assert_eq!(chain.sent().await, 1);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn too_little_for_the_fee_of_a_token_is_advice() {
    let (site, chain, world) = shop_with_wallet("testWallet.answers.eth_getBalance = '0x1';").await;
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    choose_asset(&world, &browser, "USDTERC20").await;
    browser.press(WALLET).await;
    wait_for_state(&browser, "gas").await;
    assert_eq!(chain.sent().await, 0);
    browser.press("wallet-anyway").await;
    confirm(&chain, &browser).await;
    assert_eq!(chain.sent().await, 1);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn each_step_of_a_payment_is_announced_once() {
    let (site, chain, world) = shop_with_wallet("").await;
    let browser = Browser::open().await;
    browser.run_before_every_page(RECORD_ANNOUNCEMENTS).await;
    browser.goto(site.url()).await;
    choose_asset(&world, &browser, "ETH").await;
    chain.call("evm_setAutomine", json!([false])).await;
    browser.press(WALLET).await;
    wait_until_sent(&browser).await;
    eventually("the transaction is announced", async || {
        let texts = announced(&browser).await;
        texts
            .iter()
            .any(|text| text.contains("has sent the payment"))
            .then_some(())
    })
    .await;
    chain.mine(1).await;
    confirm(&chain, &browser).await;
    let texts = announced(&browser).await;
    for step in ["Continue in Test Wallet", "has sent the payment"] {
        let times = texts.iter().filter(|text| text.contains(step)).count();
        assert_eq!(times, 1, "{step}: {texts:?}");
    }
    // What is folded away below the progress is not read out.
    let is_read = |text: &String| text.contains("already sent");
    assert!(!texts.iter().any(is_read), "{texts:?}");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn the_page_reports_the_transaction_of_a_smart_accounts_call() {
    let smart = "testWallet.isSmart = true;";
    let (_site, chain, world, browser, _) = ether_unseen(smart).await;
    browser.press("other-asset").await;
    let checkout = choose_asset(&world, &browser, "USDTERC20").await;
    browser.press(WALLET).await;
    wait_until_sent(&browser).await;
    let hint = eventually("the transaction is reported", async || {
        let hint = checkout.view().await["attempt"]["transaction_hint"].clone();
        hint.is_string().then_some(hint)
    })
    .await;
    let block = json!(["latest", false]);
    let block = chain.call("eth_getBlockByNumber", block).await;
    assert_eq!(block["transactions"], json!([hint]));
    assert_eq!(asked(&browser, "wallet_sendCalls").await, 1);
    browser.end().await;
    world.end().await;
}

/// How the wallet's button looks.
const LOOK: &str = "return document.querySelector('florin-checkout').shadowRoot
    .querySelector('.wallet-button').className.split(' ')[0]";

#[tokio::test]
async fn a_call_that_no_block_has_gives_way_to_other_wallets_and_still_pays() {
    let smart = "testWallet.isSmart = true;";
    let (_site, chain, world, browser, checkout) = unseen("USDTERC20", smart).await;
    chain.call("evm_setAutomine", json!([false])).await;
    browser.press(WALLET).await;
    wait_for_state(&browser, "sent").await;
    assert!(!browser.is_visible(WALLET).await);
    let later = "const now = Date.now; Date.now = () => now() + 6 * 60 * 1000";
    browser.evaluate(later, &[]).await;
    wait_for_state(&browser, "unseen").await;
    let text = browser.text("wallet-status").await;
    assert!(text.contains("Don’t pay again"), "{text}");
    browser.wait_for(WALLET).await;
    // To pay again is possible, and not the main action.
    assert_eq!(browser.evaluate(LOOK, &[]).await, "secondary");
    chain.mine(1).await;
    wait_until_sent(&browser).await;
    assert_eq!(chain.sent().await, 1);
    assert!(checkout.view().await["attempt"]["transaction_hint"].is_string());
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_payment_confirmed_after_its_time_is_shown_before_another_one() {
    let wait = waits_before("eth_sendTransaction");
    let (_site, chain, world, browser, checkout) = ether_unseen(&wait).await;
    assert_eq!(browser.evaluate(LOOK, &[]).await, "primary");
    browser.press(WALLET).await;
    eventually("the wallet is asked to send", async || {
        (asked(&browser, "eth_sendTransaction").await == 1).then_some(())
    })
    .await;
    world.sandbox().expire(&checkout).await;
    browser.wait_for("new-quote").await;
    browser.evaluate("release()", &[]).await;
    eventually("the payment is sent", async || {
        (chain.sent().await == 1).then_some(())
    })
    .await;
    browser.press("new-quote").await;
    browser.wait_for("status-awaiting_payment").await;
    wait_for_state(&browser, "again").await;
    let text = browser.text("wallet-status").await;
    assert!(text.contains("already sent a payment"), "{text}");
    assert_eq!(browser.evaluate(LOOK, &[]).await, "secondary");
    browser.end().await;
    world.end().await;
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
async fn a_wallet_that_does_not_answer_to_the_payment_holds_up_others_for_five_minutes() {
    let set = format!("{LONG_WAITS}{}", waits_before("eth_sendTransaction"));
    let (_site, chain, world, browser, checkout) = ether(&set).await;
    let is_waiting = "return document.querySelector('florin-checkout').shadowRoot
        .querySelector('.wallet-button').getAttribute('aria-disabled')";
    browser.press(WALLET).await;
    eventually("the wallet is asked to send", async || {
        (asked(&browser, "eth_sendTransaction").await == 1).then_some(())
    })
    .await;
    browser.evaluate("advance(60000)", &[]).await;
    wait_for_state(&browser, "confirm").await;
    assert_eq!(browser.evaluate(is_waiting, &[]).await, "true");
    browser.evaluate("advance(239999)", &[]).await;
    wait_for_state(&browser, "confirm").await;
    let press = "document.querySelector('florin-checkout').shadowRoot.querySelector('.wallet-button').click()";
    browser.evaluate(press, &[]).await;
    assert_eq!(asked(&browser, "eth_requestAccounts").await, 1);
    browser.evaluate("advance(1)", &[]).await;
    // What it was asked for may still be sent: the customer reads so, and can choose.
    wait_for_state(&browser, "unclear").await;
    assert_eq!(browser.evaluate(is_waiting, &[]).await, Value::Null);
    assert_eq!(checkout.view().await["status"], "awaiting_payment");
    // It answers after all: the payment counts.
    browser.evaluate("release()", &[]).await;
    confirm(&chain, &browser).await;
    assert_eq!(chain.sent().await, 1);
    browser.end().await;
    world.end().await;
}
