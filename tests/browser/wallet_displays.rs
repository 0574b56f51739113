//! Wallets in each display: what the page around a frame learns, and the way out where no wallet is in the frame.

use support::{Browser, BrowserOptions, Chain, Engine, StoreSite, World};

use crate::helpers::{choose_asset, end, open_dialog};
use crate::wallets::{WALLET, confirm, world_with_chain};

/// The page of a shop that records all that it can learn of the frame, and disturbs it.
const HOSTILE: &str = "<script>
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
</script>";

/// A shop's page with the checkout in this display. `before` is a script before the wallet's.
async fn shop(display: &str, before: &str) -> (StoreSite, Chain, World) {
    let site = StoreSite::open().await;
    let (chain, world) = world_with_chain(vec![site.url().to_owned()]).await;
    let proxy = world.proxy_url();
    // As the background of an extension, the page carries the requests of the wallet in the frame.
    let wallet = format!("{before}\n{}", chain.wallet());
    site.set_script("wallet.js", Some(&wallet));
    site.serve(
        "",
        &format!(
            "{HOSTILE}<script src=\"/wallet.js\"></script><script src=\"{proxy}/florin.js\" async></script>
             <florin-checkout store=\"demo\" product=\"mug\" display=\"{display}\"></florin-checkout>"
        ),
    );
    (site, chain, world)
}

/// Pays USDT within the frame of a display; the page around it learns nothing of the payment.
async fn pays_within_a_frame(engine: Engine, display: &str) {
    let (site, chain, world) = shop(display, "").await;
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
    let (site, _chain, world) = shop("frame", "").await;
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    browser.enter_checkout().await;
    let checkout = choose_asset(&world, &browser, "ETH").await;
    let address = checkout.address().await;
    browser
        .evaluate("window.open = (url) => { window.opened = url; }")
        .await;
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

#[tokio::test]
async fn a_wallet_that_announces_nothing_pays() {
    let (site, chain, world) = shop("inline", "globalThis.florinSilentWallet = true;").await;
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    choose_asset(&world, &browser, "ETH").await;
    browser.press("wallet-Web3").await;
    confirm(&chain, &browser).await;
    assert_eq!(chain.sent().await, 1);
    end(world, browser).await;
}
