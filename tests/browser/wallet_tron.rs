//! Payment by a wallet of Tron, which builds and signs with tronWeb. The sandbox has no chain of Tron: the test pays there what
//! the node has taken.

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, Checkout, Engine, StoreSite, TronNode, World, eventually};

use crate::helpers::{axe_findings, choose_asset, end};
use crate::wallets::{asked, wait_for_state, wait_until_sent};

const TRON_WALLET: &str = "wallet-Test Tron";
/// Test Tether on Nile, and its account. Source: nileex.io.
const TOKEN: &str = "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf";
const TOKEN_ACCOUNT: &str = "41eca9bc828a3005b9a3b909f2cc5c2a54794de05f";

/// A page with the checkout and a wallet of Tron.
async fn shop() -> (StoreSite, TronNode, World) {
    let (site, node) = (StoreSite::open().await, TronNode::start().await);
    let world = World::start_for(&site).await;
    let proxy = world.proxy_url();
    site.set_script("wallet.js", Some(&node.wallet()));
    site.serve(
        "",
        &format!(
            "<script src=\"/wallet.js\"></script><script src=\"{proxy}/florin.js\" async></script>
             <main><h1>A shop</h1>
             <florin-checkout store=\"demo\" product=\"mug\" display=\"inline\"></florin-checkout></main>"
        ),
    );
    (site, node, world)
}

/// A page in Chromium with this asset chosen.
async fn choose(asset: &str) -> (StoreSite, TronNode, World, Browser, Checkout) {
    let (site, node, world) = shop().await;
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    let checkout = choose_asset(&world, &browser, asset).await;
    browser.wait_for(TRON_WALLET).await;
    (site, node, world, browser, checkout)
}

/// The content of the one transaction that was sent, whose id is the order's hint.
fn sent_as_ordered(node: &TronNode, attempt: &Value) -> Value {
    let sent = node.sent();
    let [transaction] = sent.as_slice() else {
        panic!("{sent:?}");
    };
    let contracts = &transaction["raw_data"]["contract"];
    assert_eq!(contracts.as_array().unwrap().len(), 1, "{transaction}");
    assert_eq!(attempt["transaction_hint"], transaction["txID"]);
    assert_eq!(attempt["marked_as_paid"], true);
    contracts[0].clone()
}

async fn a_wallet_of_tron_pays_usdt(engine: Engine) {
    let (site, node, world) = shop().await;
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
    let contract = sent_as_ordered(&node, &attempt);
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

#[tokio::test]
async fn a_wallet_of_tron_pays_trx_on_the_test_network() {
    let (_site, node, world, browser, checkout) = choose("TRX").await;
    // No link names it there.
    assert!(!browser.is_visible("wallet-link").await);
    browser.press(TRON_WALLET).await;
    wait_until_sent(&browser).await;
    let attempt = checkout.view().await["attempt"].take();
    assert_eq!(attempt["tron_transaction"]["chain_id"], "0xcd8690dc");
    assert_eq!(attempt["qr_string"], attempt["address"]);
    let contract = sent_as_ordered(&node, &attempt);
    assert_eq!(contract["type"], "TransferContract");
    let units = contract["parameter"]["value"]["amount"].as_u64().unwrap();
    let value = format!("{units:#x}");
    assert_eq!(attempt["tron_transaction"]["value"], value);
    end(world, browser).await;
}

#[tokio::test]
async fn a_wallet_of_tron_names_what_is_missing_and_an_expired_transaction_is_made_again() {
    let (_site, node, world, browser, checkout) = choose("USDTTRC20").await;
    for (set, state, part) in [
        (
            "chain: '0x2b6653dc', errors: { wallet_switchEthereumChain: Object.assign(new Error('?'), { code: 4902 }) }",
            "network",
            "Tron Nile",
        ),
        ("errors: {}, balance: 1", "gas", "TRX"),
    ] {
        let set = format!("Object.assign(testWallet, {{ {set} }})");
        browser.evaluate(&set).await;
        browser.press(TRON_WALLET).await;
        wait_for_state(&browser, state).await;
        browser.wait_for_text("wallet-status", part).await;
    }
    assert_eq!(node.sent(), [json!(null); 0]);
    assert_eq!(checkout.view().await["status"], "awaiting_payment");
    assert_eq!(axe_findings(&browser).await, "");
    // Something other than the account's coins may pay the fee.
    browser.press("wallet-anyway").await;
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
