//! Payment by a wallet of the browser, on a real chain, in each engine and display, with the keyboard and a screen reader.
//! `tests/wallet` has every answer of a wallet, and the gallery has the words of each state.

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, Chain, Checkout, Engine, StoreSite, World, eventually};
use thirtyfour::Key;

use crate::helpers::{announced, choose_asset, end, only_order, open_dialog, wait_for_value};

pub(crate) const WALLET: &str = "wallet-Test Wallet";

/// A page of a shop, a chain, and a world whose invoices it pays.
async fn world_with_chain(chain_id: &str) -> (StoreSite, Chain, World) {
    let (site, chain) = (StoreSite::open().await, Chain::start_as(chain_id).await);
    let world = World::with(|config| {
        config.origins = vec![site.url().to_owned()];
        config.evm_rpc_url = Some(chain.url().to_owned());
    })
    .await;
    (site, chain, world)
}

/// Serves a page with the checkout in a display, and this script of a wallet before it.
pub(crate) fn serve_with_wallet(site: &StoreSite, world: &World, script: &str, display: &str) {
    let proxy = world.proxy_url();
    site.set_script("wallet.js", Some(script));
    site.set_script("record.js", Some(RECORD));
    site.serve(
        "",
        &format!(
            "<script src=\"/wallet.js\"></script><script src=\"{proxy}/florin.js\" async></script>
             <main><h1>A shop</h1>
             <florin-checkout store=\"demo\" product=\"mug\" display=\"{display}\"></florin-checkout></main>
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

/// A page with this asset chosen, in Chromium; `set` changes `testWallet` before.
pub(crate) async fn choose(asset: &str, set: &str) -> (StoreSite, Chain, World, Browser, Checkout) {
    choose_at(world_with_chain("11155111").await, asset, set).await
}

pub(crate) async fn choose_at(
    (site, chain, world): (StoreSite, Chain, World),
    asset: &str,
    set: &str,
) -> (StoreSite, Chain, World, Browser, Checkout) {
    let script = [&*chain.wallet(), "\n", set].concat();
    serve_with_wallet(&site, &world, &script, "inline");
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    let checkout = choose_asset(&world, &browser, asset).await;
    (site, chain, world, browser, checkout)
}

pub(crate) async fn wait_for_state(browser: &Browser, state: &str) {
    let what = format!("the wallet's state is {state}");
    let read = "inside?.querySelector('[data-testid=wallet-status]')?.dataset.state";
    wait_for_value(browser, &what, read, state).await;
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

async fn wait_for_text_in_focus(browser: &Browser, text: &str) {
    let focused = "let at = document.activeElement;
        while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
        return at?.textContent.trim()";
    let what = format!("the focus is on {text}");
    browser.wait_for_result(&what, focused, text).await;
}

/// The whole way of a payment, with the keyboard and a screen reader alone.
async fn the_keyboard_pays_usdt_by_a_wallet(engine: Engine) {
    // The wallet's owner takes a while, for which the page shows what to do.
    let wait =
        "testWallet.before.eth_requestAccounts = new Promise((done) => (window.connect = done));";
    let (site, chain, world) = world_with_chain("11155111").await;
    let script = [&*chain.wallet(), "\n", wait].concat();
    serve_with_wallet(&site, &world, &script, "inline");
    let browser = Browser::open_engine(engine, BrowserOptions::default()).await;
    browser.goto(site.url()).await;
    browser.wait_for("asset-USDTERC20").await;
    let loaded = "return performance.getEntriesByType('resource').filter(({ name }) => name.includes('wallets')).length";
    assert_eq!(browser.evaluate(loaded).await, 0, "before the choice");
    browser.tab_to("asset-USDTERC20").await;
    browser.type_keys(Key::Enter).await;
    wait_for_text_in_focus(&browser, "Does your wallet send USDT on Ethereum?").await;
    browser.tab_to("network-confirm").await;
    browser.type_keys(Key::Enter).await;
    wait_for_text_in_focus(&browser, "Pay with USDT on Ethereum").await;
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
    wait_for_text_in_focus(&browser, "\u{2066}$12.50\u{2069} paid").await;
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
async fn a_wallet_is_the_first_row_and_two_presses_open_it() {
    let row = "wallet-row-Test Wallet";
    let (site, chain, world) = world_with_chain("11155111").await;
    serve_with_wallet(&site, &world, &chain.wallet(), "inline");
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    browser.wait_for_text(row, "ETH · USDT · BNB").await;
    let first = "inside.querySelector('.option').dataset.testid";
    wait_for_value(&browser, "it is first", first, row).await;
    browser.press(row).await;
    let bitcoin = "inside.querySelector('[data-testid=asset-BTC]').checkVisibility()";
    wait_for_value(&browser, "what it can pay is listed", bitcoin, false).await;
    // The wallet switches to the network: no question.
    browser.press("asset-USDTERC20").await;
    confirm(&chain, &browser).await;
    assert_eq!(asked(&browser, "eth_requestAccounts").await, 1);
    assert_eq!(chain.sent().await, 1);
    end(world, browser).await;
}

#[tokio::test]
async fn a_wallet_pays_bnb_on_its_chain() {
    // The test network that the sandbox's invoices name.
    let at = world_with_chain("97").await;
    let (_site, chain, world, browser, checkout) = choose_at(at, "BNB", "").await;
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

/// The script of a shop that records all that it can learn of the frame, and disturbs it.
const HOSTILE: &str = "
    window.received = [];
    addEventListener('message', ({ data }) => data?.florin && received.push(JSON.stringify(data)));
    setInterval(() => {
        const frame = document.querySelector('florin-checkout')?.shadowRoot?.querySelector('iframe');
        if (!frame) return;
        try { received.push(frame.contentDocument?.body?.textContent ?? ''); } catch {}
        try { received.push(frame.contentWindow.ethereum ?? ''); } catch {}
        const order = { florin: 1, type: 'sent', detail: { to: '0x' + '11'.repeat(20), value: '0x1' } };
        frame.contentWindow?.postMessage(order, '*');
    }, 50);
";

/// A shop's page with the checkout in this display. As the background of an extension, the page carries the requests of the wallet
/// in the frame.
async fn hostile_shop(display: &str) -> (StoreSite, Chain, World) {
    let (site, chain, world) = world_with_chain("11155111").await;
    let script = [HOSTILE, &chain.wallet()].concat();
    serve_with_wallet(&site, &world, &script, display);
    (site, chain, world)
}

/// Pays USDT within the frame of a display; the page around it learns nothing of the payment.
async fn pays_within_a_frame(engine: Engine, display: &str) {
    let (site, chain, world) = hostile_shop(display).await;
    let browser = Browser::open_engine(engine, BrowserOptions::default()).await;
    browser.goto(site.url()).await;
    if display == "modal" {
        open_dialog(&browser).await;
    }
    browser.enter_checkout().await;
    // As extensions are: in the frame too, and there before the asset is chosen.
    browser.wait_for("asset-ETH").await;
    browser.evaluate(&chain.wallet()).await;
    let checkout = choose_asset(&world, &browser, "USDTERC20").await;
    let view = checkout.view().await;
    let attempt = &view["attempt"];
    browser.press(WALLET).await;
    confirm(&chain, &browser).await;
    assert_eq!(chain.sent().await, 1);
    browser.leave_checkout().await;
    let received = browser.evaluate("return received.join()").await;
    let received = received.as_str().unwrap();
    assert!(received.contains("status"), "{received}");
    for secret in [
        &attempt["address"],
        &attempt["amount_in_crypto"],
        &attempt["evm_transaction"]["data"],
        &attempt["qr_string"],
    ] {
        let secret = secret.as_str().unwrap();
        assert!(!received.contains(secret), "{secret}: {received}");
    }
    let asked = browser.evaluate("return testWallet.asked.length").await;
    assert_eq!(asked, 0, "the wallet of the page around is not asked");
    end(world, browser).await;
}

#[tokio::test]
async fn a_wallet_within_the_frame_pays_and_the_page_learns_nothing() {
    pays_within_a_frame(Engine::Chromium, "frame").await;
}

#[tokio::test]
#[ignore = "long: run by cargo xtask test --long"]
async fn a_wallet_pays_within_the_frame_and_the_dialog_of_each_engine() {
    for engine in Engine::ALL {
        for display in ["frame", "modal"] {
            pays_within_a_frame(engine, display).await;
        }
    }
}

#[tokio::test]
async fn a_frame_without_a_wallet_leads_to_the_page_of_the_payment() {
    let (site, _chain, world) = hostile_shop("frame").await;
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    browser.enter_checkout().await;
    let checkout = choose_asset(&world, &browser, "ETH").await;
    let address = checkout.address().await;
    browser
        .evaluate("window.open = (url) => { window.opened = url; }")
        .await;
    // A link, in place of a handler that a desktop does not have.
    let page = browser.wait_for("wallet-page").await;
    assert_eq!(
        page.class_name().await.unwrap().unwrap(),
        "plain wallet-page"
    );
    assert!(!browser.is_visible("wallet-link").await);
    browser.press("wallet-page").await;
    let link = browser.evaluate("return window.opened").await;
    let link = link.as_str().unwrap().to_owned();
    // The wallet that is there finds the same payment.
    browser.leave_checkout().await;
    browser.goto(&link).await;
    browser.wait_for("status-awaiting_payment").await;
    let shown = browser.text("address").await;
    assert_eq!(shown.replace(char::is_whitespace, ""), address);
    end(world, browser).await;
}
