//! Payment by a wallet of Tron, which builds and signs with tronWeb. The sandbox has no chain of Tron: the test pays there what
//! the node has taken.

use serde_json::json;
use support::{Browser, BrowserOptions, Checkout, Engine, StoreSite, TronNode, World};

use crate::axe::axe_findings;
use crate::helpers::{choose_asset, end};
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

async fn tether() -> (StoreSite, TronNode, World, Browser, Checkout) {
    let (site, node, world) = shop().await;
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    let checkout = choose_asset(&world, &browser, "USDTTRC20").await;
    browser.wait_for(TRON_WALLET).await;
    (site, node, world, browser, checkout)
}

/// The one transaction that was sent is the one of the order, and the order has its id as a hint.
async fn sent_as_ordered(node: &TronNode, checkout: &Checkout) {
    let sent = node.sent();
    let [transaction] = sent.as_slice() else {
        panic!("{sent:?}");
    };
    let view = checkout.view().await;
    let attempt = &view["attempt"];
    let data = attempt["tron_transaction"]["data"].as_str().unwrap();
    assert_eq!(attempt["tron_transaction"]["to"], TOKEN);
    let [contract] = transaction["raw_data"]["contract"]
        .as_array()
        .unwrap()
        .as_slice()
    else {
        panic!("{transaction}");
    };
    assert_eq!(contract["type"], "TriggerSmartContract");
    let value = &contract["parameter"]["value"];
    assert_eq!(value["contract_address"], TOKEN_ACCOUNT);
    assert_eq!(value["data"], data[2..]);
    let signed = transaction["raw_data_hex"].as_str().unwrap();
    for part in [TOKEN_ACCOUNT, &data[2..]] {
        assert!(signed.contains(part), "{signed}");
    }
    assert_eq!(attempt["transaction_hint"], transaction["txID"]);
    assert_eq!(attempt["marked_as_paid"], true);
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
    sent_as_ordered(&node, &checkout).await;
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
async fn a_wallet_of_tron_that_declines_or_is_on_another_network_sends_nothing() {
    let (_site, node, world, browser, checkout) = tether().await;
    let error =
        |code: i32, text: &str| format!("Object.assign(new Error({text:?}), {{ code: {code} }})");
    let cases = [
        ("errors.eth_requestAccounts", error(4001, "no"), "refused"),
        (
            "errors.wallet_switchEthereumChain",
            error(4902, "?"),
            "network",
        ),
        ("errors.sign", error(0, "?"), "unclear"),
        ("balance", "1".to_owned(), "gas"),
    ];
    for (member, value, state) in cases {
        let set = format!(
            "Object.assign(testWallet, {{ errors: {{}}, balance: 1e8, chain: '0x2b6653dc', sent: () => ({{ result: true }}) }}); testWallet.{member} = {value}"
        );
        browser.evaluate(&set).await;
        browser.press(TRON_WALLET).await;
        wait_for_state(&browser, state).await;
        let text = browser.text("wallet-status").await;
        assert!(text.len() > 20, "{member}: {text}");
        assert!(state != "network" || text.contains("Tron Nile"), "{text}");
        assert!(state != "gas" || text.contains("TRX"), "{text}");
    }
    assert_eq!(node.sent(), [json!(null); 0]);
    assert_eq!(checkout.view().await["status"], "awaiting_payment");
    assert_eq!(axe_findings(&browser).await, "");
    // Something other than the account's coins may pay the fee.
    let relay = "testWallet.sent = (transaction) => ({ result: true })";
    browser.evaluate(relay).await;
    browser.press("wallet-anyway").await;
    wait_until_sent(&browser).await;
    end(world, browser).await;
}

#[tokio::test]
async fn a_wallet_of_tron_pays_trx_on_the_test_network() {
    let (_site, node, world, browser, _) = tether().await;
    browser.press("other-asset").await;
    let checkout = choose_asset(&world, &browser, "TRX").await;
    // No link names it there.
    browser.wait_for(TRON_WALLET).await;
    assert!(!browser.is_visible("wallet-link").await);
    let attempt = checkout.view().await["attempt"].take();
    assert_eq!(attempt["tron_transaction"]["chain_id"], "0xcd8690dc");
    assert_eq!(attempt["qr_string"], attempt["address"]);
    browser.press(TRON_WALLET).await;
    wait_until_sent(&browser).await;
    let sent = node.sent();
    let [transaction] = sent.as_slice() else {
        panic!("{sent:?}");
    };
    let contract = &transaction["raw_data"]["contract"][0];
    assert_eq!(contract["type"], "TransferContract");
    let units = contract["parameter"]["value"]["amount"].as_u64().unwrap();
    let amount = attempt["amount_in_crypto"].as_str().unwrap();
    let amount: Vec<_> = amount.split('.').collect();
    let written = format!("{}{:0<6}", amount[0], amount.get(1).unwrap_or(&""));
    assert_eq!(units.to_string(), written.trim_start_matches('0'));
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(30).await;
    browser.wait_for("status-paid").await;
    end(world, browser).await;
}

#[tokio::test]
async fn a_transaction_of_tron_that_has_expired_can_be_made_again() {
    let (_site, node, world, browser, _) = tether().await;
    browser.press(TRON_WALLET).await;
    browser.wait_for("status-checking").await;
    node.hide();
    // Four minutes later, by this clock and by the chain's.
    let later = "const now = Date.now; Date.now = () => now() + 4 * 60 * 1000";
    browser.evaluate(later).await;
    wait_for_state(&browser, "failed").await;
    let text = browser.text("wallet-status").await;
    assert!(text.contains("nothing was paid"), "{text}");
    // A page that is loaded again does not wait for it.
    browser.reload().await;
    wait_for_state(&browser, "failed").await;
    browser.press(TRON_WALLET).await;
    support::eventually("it is sent again", async || {
        (node.sent().len() == 2).then_some(())
    })
    .await;
    end(world, browser).await;
}
