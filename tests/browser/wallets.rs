//! Payment by a wallet of the browser, on a real chain, with the keyboard and a screen reader. `tests/wallet` has every answer of
//! a wallet, and the gallery has the words of each state.

use serde_json::{Value, json};
use support::{
    Browser, BrowserOptions, Chain, Checkout, Engine, StoreSite, World, WorldConfig, eventually,
};
use thirtyfour::Key;

use crate::axe::axe_findings;
use crate::helpers::{
    announced, change_responses, choose_asset, end, only_order, read_inside, wait_for_value,
};

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
    site.set_script("record.js", Some(RECORD));
    site.serve(
        "",
        &format!(
            "<script src=\"/wallet.js\"></script><script src=\"{proxy}/florin.js\" async></script>
             <main><h1>A shop</h1>
             <florin-checkout store=\"demo\" product=\"mug\" display=\"inline\"></florin-checkout></main>
             <script src=\"/record.js\"></script>"
        ),
    );
}

/// Confirms the payment until the page shows that it is paid.
pub(crate) async fn confirm(chain: &Chain, browser: &Browser) {
    browser.wait_for("status-processing").await;
    chain.mine(2).await;
    browser.wait_for("status-paid").await;
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
    let what = format!("the wallet's state is {state}");
    let read = "inside?.querySelector('[data-testid=wallet-status]')?.dataset.state";
    wait_for_value(browser, &what, read, json!(state)).await;
}

/// Waits for the screen after a payment: the sandbox may see it in the block that is being made, before the page asks.
pub(crate) async fn wait_until_sent(browser: &Browser) {
    eventually("the payment is under way", async || {
        let is_checked = browser.is_visible("status-checking").await;
        (is_checked || browser.is_visible("status-processing").await).then_some(())
    })
    .await;
}

/// How many requests the wallet got by this method.
pub(crate) async fn asked(browser: &Browser, method: &str) -> u64 {
    let count = "return testWallet.asked.filter(({ method }) => method === arguments[0]).length";
    let asked = browser.evaluate_with(count, &[json!(method)]).await;
    asked.as_u64().unwrap()
}

/// Records the announcements in `announced`: in every engine, whichever of two programs has drawn the live region.
const RECORD: &str = "window.announced = [];
    let last = '';
    setInterval(() => {
        const region = document.querySelector('florin-checkout')?.shadowRoot?.querySelector('.unseen[role=status]');
        const text = region?.textContent.trim() ?? '';
        if (text && text !== last) announced.push(text);
        last = text;
    }, 5);";

/// Waits until the element with this text has the focus.
async fn wait_for_text_in_focus(browser: &Browser, text: &str) {
    let focused = "let at = document.activeElement;
        while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
        return at?.textContent.trim()";
    browser
        .wait_for_result(&format!("the focus is on {text}"), focused, json!(text))
        .await;
}

/// The whole way of a payment, with the keyboard and a screen reader alone.
async fn the_keyboard_pays_usdt_by_a_wallet(engine: Engine) {
    // The wallet's owner takes a while, for which the page shows what to do.
    let wait =
        "testWallet.before.eth_requestAccounts = new Promise((done) => (window.connect = done));";
    let (site, chain, world) = shop_with_wallet(wait).await;
    let browser = Browser::open_engine(engine, BrowserOptions::default()).await;
    browser.goto(site.url()).await;
    browser.wait_for("asset-USDTERC20").await;
    let loaded = "return performance.getEntriesByType('resource').filter(({ name }) => name.includes('wallets')).length";
    assert_eq!(browser.evaluate(loaded).await, 0, "before the choice");
    browser.tab_to("asset-USDTERC20").await;
    browser.type_keys(Key::Enter).await;
    wait_for_text_in_focus(&browser, "Check the network").await;
    browser.tab_to("network-confirm").await;
    browser.type_keys(Key::Enter).await;
    wait_for_text_in_focus(&browser, "Send USDT on Ethereum").await;
    chain.call("evm_setAutomine", json!([false])).await;
    let button = browser.wait_for(WALLET).await;
    assert_eq!(button.text().await.unwrap(), "Pay with Test Wallet");
    // Connecting is the customer's own press.
    assert_eq!(asked(&browser, "eth_requestAccounts").await, 0);
    let place = "(() => {
        const top = (selector) => inside.querySelector(selector).getBoundingClientRect().top;
        const icon = inside.querySelector('.wallet-button img');
        return icon.src.startsWith('data:image/svg+xml') && icon.naturalWidth > 0
            && top('.wallet-button') < top('[data-testid=qr]');
    })()";
    let what = "its name and icon are above the code";
    wait_for_value(&browser, what, place, true).await;
    browser.tab_to(WALLET).await;
    // A hurried customer: each key alone is a press.
    browser.type_keys(Key::Enter + Key::Space).await;
    browser.type_keys(Key::Enter).await;
    wait_for_state(&browser, "confirm").await;
    // The button says that it waits, and keeps the focus.
    let waits = "inside.activeElement === inside.querySelector('.wallet-button') && inside.activeElement.ariaDisabled";
    wait_for_value(&browser, "the button waits", waits, "true").await;
    browser.evaluate("connect()").await;
    wait_until_sent(&browser).await;
    chain.mine(1).await;
    wait_for_text_in_focus(&browser, "Payment found").await;
    chain.mine(2).await;
    wait_for_text_in_focus(&browser, "Paid").await;
    assert_eq!(asked(&browser, "eth_requestAccounts").await, 1);
    assert_eq!(asked(&browser, "eth_sendTransaction").await, 1);
    assert_eq!(chain.sent().await, 1);
    let view = only_order(&world, &browser).await.view().await;
    assert_eq!(view["status"], "paid");
    let attempt = &view["attempt"];
    assert_eq!(attempt["received_in_crypto"], attempt["amount_in_crypto"]);
    // The hint gives way to what the gateway has seen.
    assert_eq!(attempt["transaction_hint"], Value::Null);
    assert!(attempt["transaction_hash"].is_string());
    let texts = announced(&browser).await;
    let times = |words: &str| texts.iter().filter(|text| text.contains(words)).count();
    for step in [
        "Continue in Test Wallet",
        "Your wallet has sent the payment",
    ] {
        assert_eq!(times(step), 1, "{step}: {texts:?}");
    }
    // What is folded away below the progress is not read out.
    assert_eq!(times("already sent"), 0, "{texts:?}");
    end(world, browser).await;
}

#[tokio::test]
async fn a_wallet_pays_usdt_in_chromium() {
    the_keyboard_pays_usdt_by_a_wallet(Engine::Chromium).await;
}

#[tokio::test]
async fn a_wallet_pays_usdt_in_firefox() {
    the_keyboard_pays_usdt_by_a_wallet(Engine::Firefox).await;
}

#[tokio::test]
async fn a_wallet_pays_usdt_in_webkit() {
    the_keyboard_pays_usdt_by_a_wallet(Engine::WebKit).await;
}

#[tokio::test]
async fn a_wallet_pays_bnb_on_its_chain() {
    let site = StoreSite::open().await;
    // The test network that the sandbox's invoices name.
    let chain = Chain::start_as("97").await;
    let world = world_of(&chain, vec![site.url().to_owned()]).await;
    serve_with_wallet(&site, &chain, &world, "");
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    let checkout = choose_asset(&world, &browser, "BNB").await;
    let expected = checkout.view().await["attempt"]["evm_transaction"].clone();
    browser.press(WALLET).await;
    confirm(&chain, &browser).await;
    assert_eq!(chain.sent().await, 1);
    // The wallet knows the chains of ether alone: it gets the chain from our table.
    let added = "return testWallet.asked.find(({ method }) => method === 'wallet_addEthereumChain').params[0]";
    let added = browser.evaluate(added).await;
    assert_eq!(added["chainId"], "0x61");
    assert_eq!(added["nativeCurrency"]["decimals"], 18);
    let hash = checkout.view().await["attempt"]["transaction_hash"].clone();
    let mined = chain.call("eth_getTransactionByHash", json!([hash])).await;
    assert_eq!(mined["value"], expected["value"]);
    assert_eq!(mined["chainId"], "0x61");
    end(world, browser).await;
}

#[tokio::test]
async fn a_wallet_that_declines_or_is_on_another_network_sends_nothing() {
    let (_site, chain, world, browser, checkout) = ether("").await;
    let error =
        |code: i32, text: &str| format!("Object.assign(new Error({text:?}), {{ code: {code} }})");
    let cases = [
        ("errors.eth_requestAccounts", error(4001, "no"), "refused"),
        (
            "errors.wallet_switchEthereumChain",
            error(-32603, "?"),
            "network",
        ),
        (
            "errors.eth_sendTransaction",
            error(-32603, "Internal error"),
            "unclear",
        ),
        ("errors.eth_sendTransaction", error(4001, "no"), "refused"),
    ];
    for (member, value, state) in cases {
        let set = format!(
            "Object.assign(testWallet, {{ errors: {{}}, chain: '0x1' }}); testWallet.{member} = {value}"
        );
        browser.evaluate(&set).await;
        browser.press(WALLET).await;
        wait_for_state(&browser, state).await;
        let text = browser.text("wallet-status").await;
        assert!(text.len() > 20, "{member}: {text}");
        // The test network by its name, not by that of the order.
        assert!(state != "network" || text.contains("Sepolia"), "{text}");
    }
    assert_eq!(chain.sent().await, 0);
    assert_eq!(checkout.view().await["status"], "awaiting_payment");
    assert_eq!(axe_findings(&browser).await, "");
    end(world, browser).await;
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
    end(world, browser).await;
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
    assert_eq!(checkout.view().await["status"], "paid");
    end(world, browser).await;
}

#[tokio::test]
async fn a_transaction_that_differs_from_the_code_is_offered_to_no_wallet() {
    let change = "order.attempt?.evm_transaction && (order.attempt.evm_transaction.value = '0x1')";
    let (_site, _chain, world, browser, _) = ether(&change_responses(change)).await;
    let loaded = "return performance.getEntriesByType('resource').filter(({ name }) => name.includes('.wallets')).length";
    browser
        .wait_for_result("the wallets are loaded", loaded, 1)
        .await;
    assert!(!browser.is_visible(WALLET).await);
    // No wallet of these pages pays Bitcoin.
    browser.press("other-asset").await;
    choose_asset(&world, &browser, "BTC").await;
    let buttons = "return inside.querySelectorAll('.wallet-button').length";
    assert_eq!(read_inside(&browser, buttons).await, 0);
    end(world, browser).await;
}
