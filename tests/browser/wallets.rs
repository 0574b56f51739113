//! Payment by a wallet of the browser, on a real chain, and every response of a wallet that sends nothing.

use serde_json::{Value, json};
use support::{
    Browser, BrowserOptions, Chain, Checkout, Engine, StoreSite, World, WorldConfig, eventually,
};
use thirtyfour::Key;

use crate::axe::axe_findings;
use crate::helpers::{change_responses, choose_asset, only_order};

pub(crate) const WALLET: &str = "wallet-Test Wallet";

/// A chain, and a world whose invoices it pays.
pub(crate) async fn world_with_chain(origins: Vec<String>) -> (Chain, World) {
    let chain = Chain::start().await;
    let world = world_of(&chain, origins).await;
    (chain, world)
}

async fn world_of(chain: &Chain, origins: Vec<String>) -> World {
    let config = WorldConfig {
        origins,
        evm_rpc_url: Some(chain.url().to_owned()),
        ..WorldConfig::default()
    };
    World::start_with(config).await
}

/// A page with the checkout, and the wallet beside it; `set` changes `testWallet` before.
pub(crate) async fn shop_with_wallet(set: &str) -> (StoreSite, Chain, World) {
    let site = StoreSite::open().await;
    let (chain, world) = world_with_chain(vec![site.url().to_owned()]).await;
    serve_with_wallet(&site, &chain, &world, set);
    (site, chain, world)
}

pub(crate) fn serve_with_wallet(site: &StoreSite, chain: &Chain, world: &World, set: &str) {
    let proxy = world.proxy_url();
    site.set_script("wallet.js", Some(&format!("{}\n{set}", chain.wallet())));
    site.serve(
        "",
        &format!(
            "<script src=\"/wallet.js\"></script><script src=\"{proxy}/florin.js\" async></script>
             <main><h1>A shop</h1>
             <florin-checkout store=\"demo\" product=\"mug\" display=\"inline\"></florin-checkout></main>"
        ),
    );
}

/// Confirms the payment until the page shows that it is paid.
pub(crate) async fn confirm(chain: &Chain, browser: &Browser) {
    browser.wait_for("status-processing").await;
    chain.mine(2).await;
    browser.wait_for("status-paid").await;
}

async fn a_wallet_pays_usdt(engine: Engine) {
    let (site, chain, world) = shop_with_wallet("").await;
    let browser = Browser::open_engine(engine, BrowserOptions::default()).await;
    browser.goto(site.url()).await;
    let checkout = choose_asset(&world, &browser, "USDTERC20").await;
    let button = browser.wait_for(WALLET).await;
    assert_eq!(button.text().await.unwrap(), "Pay with Test Wallet");
    let place = "const inside = document.querySelector('florin-checkout').shadowRoot;
        const top = (selector) => inside.querySelector(selector).getBoundingClientRect().top;
        const icon = inside.querySelector('.wallet-button img');
        return icon.src.startsWith('data:image/svg+xml') && icon.naturalWidth > 0
            && top('.wallet-button') < top('[data-testid=qr]')";
    browser
        .wait_for_result("its name and icon are above the code", place, &json!(true))
        .await;
    assert!(!browser.is_visible("wallet-anyway").await);
    browser.press(WALLET).await;
    confirm(&chain, &browser).await;
    assert_eq!(chain.sent().await, 1);
    let view = checkout.view().await;
    let attempt = &view["attempt"];
    assert_eq!(attempt["received_in_crypto"], attempt["amount_in_crypto"]);
    // The hint gives way to what the gateway has seen.
    assert_eq!(attempt["transaction_hint"], Value::Null);
    assert!(attempt["transaction_hash"].is_string());
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_wallet_pays_usdt_in_chromium() {
    a_wallet_pays_usdt(Engine::Chromium).await;
}

#[tokio::test]
async fn a_wallet_pays_usdt_in_firefox() {
    a_wallet_pays_usdt(Engine::Firefox).await;
}

#[tokio::test]
async fn a_wallet_pays_usdt_in_webkit() {
    a_wallet_pays_usdt(Engine::WebKit).await;
}

#[tokio::test]
async fn a_wallet_pays_bnb_on_its_chain() {
    let site = StoreSite::open().await;
    // The test network that the sandbox's invoices name.
    let chain = Chain::start_as("97").await;
    let world = world_of(&chain, vec![site.url().to_owned()]).await;
    // The wallet has to add the chain: it knows those of ether alone.
    serve_with_wallet(&site, &chain, &world, "");
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    let checkout = choose_asset(&world, &browser, "BNB").await;
    let expected = checkout.view().await["attempt"]["evm_transaction"].clone();
    assert_eq!(expected["chain_id"], "0x61");
    browser.press(WALLET).await;
    confirm(&chain, &browser).await;
    assert_eq!(chain.sent().await, 1);
    let view = checkout.view().await;
    let attempt = &view["attempt"];
    assert_eq!(attempt["received_in_crypto"], attempt["amount_in_crypto"]);
    let hash = &attempt["transaction_hash"];
    let mined = chain.call("eth_getTransactionByHash", json!([hash])).await;
    assert_eq!(mined["value"], expected["value"]);
    assert_eq!(mined["chainId"], "0x61");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_smart_account_pays_usdt_by_one_call() {
    let (site, chain, world) = shop_with_wallet("testWallet.isSmart = true;").await;
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    let checkout = choose_asset(&world, &browser, "USDTERC20").await;
    chain.call("evm_setAutomine", json!([false])).await;
    browser.press(WALLET).await;
    // The call has no transaction before a block has it.
    wait_for_state(&browser, "sent").await;
    eventually("the call is looked up", async || {
        (asked(&browser, "wallet_getCallsStatus").await > 0).then_some(())
    })
    .await;
    assert_eq!(asked(&browser, "wallet_sendCalls").await, 1);
    assert_eq!(asked(&browser, "eth_sendTransaction").await, 0);
    let view = checkout.view().await;
    assert_eq!(view["attempt"]["transaction_hint"], Value::Null);
    chain.mine(1).await;
    confirm(&chain, &browser).await;
    let view = checkout.view().await;
    let attempt = &view["attempt"];
    assert_eq!(attempt["received_in_crypto"], attempt["amount_in_crypto"]);
    assert_eq!(chain.sent().await, 1);
    browser.end().await;
    world.end().await;
}

/// A page with ether chosen, in Chromium; `set` changes `testWallet` before.
pub(crate) async fn ether(set: &str) -> (StoreSite, Chain, World, Browser, Checkout) {
    let (site, chain, world) = shop_with_wallet(set).await;
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    let checkout = choose_asset(&world, &browser, "ETH").await;
    (site, chain, world, browser, checkout)
}

pub(crate) async fn wait_for_state(browser: &Browser, state: &str) {
    let read = "return document.querySelector('florin-checkout').shadowRoot
        .querySelector('[data-testid=wallet-status]')?.dataset.state";
    browser
        .wait_for_result(
            &format!("the wallet's state is {state}"),
            read,
            &json!(state),
        )
        .await;
}

/// How many requests the wallet got by this method.
pub(crate) async fn asked(browser: &Browser, method: &str) -> u64 {
    let count = "return testWallet.asked.filter(({ method }) => method === arguments[0]).length";
    let asked = browser.evaluate(count, &[json!(method)]).await;
    asked.as_u64().unwrap()
}

async fn each_answer_of_a_wallet_has_its_words_and_sends_nothing(engine: Engine) {
    let (site, chain, world) = shop_with_wallet("").await;
    let browser = Browser::open_engine(engine, BrowserOptions::default()).await;
    browser.goto(site.url()).await;
    let checkout = choose_asset(&world, &browser, "ETH").await;
    let error =
        |code: i32, text: &str| format!("Object.assign(new Error({text:?}), {{ code: {code} }})");
    let cases = [
        ("errors.eth_requestAccounts", error(4001, "no"), "refused"),
        (
            "errors.eth_requestAccounts",
            error(-32002, "busy"),
            "pending",
        ),
        ("answers.eth_requestAccounts", "[]".to_owned(), "locked"),
        (
            "answers.eth_accounts",
            "['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed']".to_owned(),
            "account",
        ),
        ("answers.eth_getBalance", "'0x1'".to_owned(), "funds"),
        (
            "answers.eth_gasPrice",
            "'0xffffffffffffffffffffff'".to_owned(),
            "gas",
        ),
        (
            "errors.wallet_switchEthereumChain",
            error(4001, "no"),
            "refused",
        ),
        (
            "errors.wallet_switchEthereumChain",
            error(-32603, "?"),
            "network",
        ),
        // It says that it has switched, and has not.
        (
            "answers.wallet_switchEthereumChain",
            "null".to_owned(),
            "network",
        ),
        ("errors.eth_sendTransaction", error(4001, "no"), "refused"),
        (
            "errors.eth_sendTransaction",
            error(-32603, "insufficient funds for gas"),
            "gas",
        ),
        (
            "errors.eth_sendTransaction",
            error(-32601, "what?"),
            "unable",
        ),
        (
            "errors.eth_sendTransaction",
            error(-32603, "Internal error"),
            "unclear",
        ),
        (
            "errors.eth_sendTransaction",
            "new Error('User rejected the request.')".to_owned(),
            "refused",
        ),
        (
            "answers.eth_sendTransaction",
            "'a hash'".to_owned(),
            "unclear",
        ),
    ];
    for (member, value, state) in cases {
        let set = format!(
            "Object.assign(testWallet, {{ errors: {{}}, answers: {{}}, chain: '0x1' }}); testWallet.{member} = {value}"
        );
        browser.evaluate(&set, &[]).await;
        browser.press(WALLET).await;
        wait_for_state(&browser, state).await;
        let text = browser.text("wallet-status").await;
        assert!(
            !text.contains(['{', '}']) && text.len() > 20,
            "{member}: {text}"
        );
        // The test network by its name, not by that of the order.
        assert!(state != "network" || text.contains("Sepolia"), "{text}");
    }
    assert_eq!(chain.sent().await, 0);
    let view = checkout.view().await;
    assert_eq!(view["status"], "awaiting_payment");
    assert_eq!(axe_findings(&browser).await, "");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn each_answer_of_a_wallet_has_its_words_in_chromium() {
    each_answer_of_a_wallet_has_its_words_and_sends_nothing(Engine::Chromium).await;
}

#[tokio::test]
async fn each_answer_of_a_wallet_has_its_words_in_firefox() {
    each_answer_of_a_wallet_has_its_words_and_sends_nothing(Engine::Firefox).await;
}

#[tokio::test]
async fn each_answer_of_a_wallet_has_its_words_in_webkit() {
    each_answer_of_a_wallet_has_its_words_and_sends_nothing(Engine::WebKit).await;
}

#[tokio::test]
async fn a_chain_that_the_wallet_does_not_know_is_added_from_our_table() {
    let (_site, chain, world, browser, _) = ether("testWallet.chains = ['0x1'];").await;
    browser.press(WALLET).await;
    confirm(&chain, &browser).await;
    let added =
        "return testWallet.asked.find(({ method }) => method === 'wallet_addEthereumChain').params";
    let added = browser.evaluate(added, &[]).await;
    assert_eq!(added[0]["chainId"], "0xaa36a7");
    assert_eq!(added[0]["nativeCurrency"]["decimals"], 18);
    browser.end().await;
    world.end().await;
}

/// Waits for the screen after a payment: the sandbox may see it in the block that is being made, before the page asks.
pub(crate) async fn wait_until_sent(browser: &Browser) {
    eventually("the payment is under way", async || {
        let is_checked = browser.is_visible("status-checking").await;
        (is_checked || browser.is_visible("status-processing").await).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_second_press_is_no_second_payment_and_a_reload_keeps_the_progress() {
    // The customer takes a while to confirm.
    let slow = "testWallet.answers.eth_requestAccounts = new Promise((done) => {
        window.release = () => done([testWallet.account]);
    });";
    let (_site, chain, world, browser, checkout) = ether(slow).await;
    // No block is found until the test says so.
    chain.call("evm_setAutomine", json!([false])).await;
    browser.press(WALLET).await;
    wait_for_state(&browser, "confirm").await;
    let press = "document.querySelector('florin-checkout').shadowRoot.querySelector(`[data-testid='${arguments[0]}']`).click()";
    for _ in 0..3 {
        browser.evaluate(press, &[json!(WALLET)]).await;
    }
    browser.evaluate("release()", &[]).await;
    wait_until_sent(&browser).await;
    assert_eq!(asked(&browser, "eth_requestAccounts").await, 1);
    assert_eq!(asked(&browser, "eth_sendTransaction").await, 1);
    assert_eq!(chain.sent().await, 1);
    let view = checkout.view().await;
    let hint = view["attempt"]["transaction_hint"].clone();
    // The gateway may have seen it by now, in the block that is being made.
    if let Some(hint) = hint.as_str() {
        assert_eq!(hint.len(), 66);
    }
    browser.reload().await;
    wait_until_sent(&browser).await;
    browser.wait_for("transaction").await;
    chain.mine(1).await;
    confirm(&chain, &browser).await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_reorganisation_takes_the_payment_back_and_a_replacement_pays() {
    let (_site, chain, world, browser, checkout) = ether("").await;
    let before = chain.call("evm_snapshot", json!([])).await;
    browser.press(WALLET).await;
    browser.wait_for("status-processing").await;
    // The block is gone, and with it the payment.
    chain.call("evm_revert", json!([before])).await;
    eventually("the payment is taken back", async || {
        let received = checkout.view().await["attempt"]["received_in_crypto"].clone();
        (received == "0").then_some(())
    })
    .await;
    // The wallet sends it again with another fee: another transaction, the same payment.
    let view = checkout.view().await;
    let transaction = &view["attempt"]["evm_transaction"];
    let from = chain.call("eth_accounts", json!([])).await[0].clone();
    let replaced = json!([{
        "from": from, "to": transaction["to"], "value": transaction["value"], "gasPrice": "0x2540be400",
    }]);
    chain.call("eth_sendTransaction", replaced).await;
    confirm(&chain, &browser).await;
    assert_eq!(
        only_order(&world, &browser).await.view().await["status"],
        "paid"
    );
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn the_keyboard_reaches_the_wallet_before_the_address_and_nothing_is_loaded_before_the_choice()
 {
    let (site, chain, world) = shop_with_wallet("").await;
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    browser.wait_for("asset-ETH").await;
    let loaded = "return performance.getEntriesByType('resource').filter(({ name }) => name.includes('wallets')).length";
    assert_eq!(browser.evaluate(loaded, &[]).await, 0);
    assert_eq!(asked(&browser, "eth_requestAccounts").await, 0);
    choose_asset(&world, &browser, "BTC").await;
    // No wallet of these pays Bitcoin.
    assert!(!browser.is_visible(WALLET).await);
    browser.press("other-asset").await;
    choose_asset(&world, &browser, "ETH").await;
    browser.wait_for(WALLET).await;
    // Connecting is the customer's own press.
    assert_eq!(asked(&browser, "eth_requestAccounts").await, 0);
    browser.tab_to(WALLET).await;
    browser.type_keys(Key::Enter).await;
    confirm(&chain, &browser).await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_transaction_that_differs_from_the_code_is_offered_to_no_wallet() {
    for change in [
        "order.attempt && (order.attempt.evm_transaction.value = '0x1')",
        "order.attempt && (order.attempt.evm_transaction.to = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed')",
        "order.attempt && (order.attempt.evm_transaction.chain_id = '0x1')",
        "order.attempt && (order.attempt.evm_transaction.data = '0xa9059cbb')",
    ] {
        let (site, _chain, world) = shop_with_wallet(&change_responses(change)).await;
        let browser = Browser::open().await;
        browser.goto(site.url()).await;
        choose_asset(&world, &browser, "ETH").await;
        let loaded = "return performance.getEntriesByType('resource').filter(({ name }) => name.includes('.wallets')).length";
        browser
            .wait_for_result("the wallets are loaded", loaded, &json!(1))
            .await;
        assert!(!browser.is_visible(WALLET).await, "{change}");
        browser.end().await;
        world.end().await;
    }
}
