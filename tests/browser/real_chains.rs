//! The scenarios of the sandbox on real chains: the widget in a browser, an unmodified proxy with pinned keys, `florin-gateway`,
//! and real nodes. Each scenario pays from the node's own wallet.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use support::{Browser, Checkout, RealChains, World, pause, share, within};

use crate::helpers::end;

struct Purchase {
    world: World,
    chains: Arc<RealChains>,
    browser: Browser,
    asset: &'static str,
}

impl Purchase {
    async fn begin(asset: &'static str) -> Self {
        Self::begin_on(RealChains::start().await, asset).await
    }

    async fn begin_on(chains: RealChains, asset: &'static str) -> Self {
        let chains = Arc::new(chains);
        let nodes = chains.clone();
        let world = World::with(|config| config.real_chains = Some(nodes)).await;
        support::eventually("the asset has a price", async || {
            let offer = world.customer().offer("store=demo&product=ebook").await;
            let quotes = offer.body["quotes"].as_array()?;
            let mut quotes = quotes.iter();
            quotes.find(|quote| quote["crypto_code"] == asset).map(drop)
        })
        .await;
        let browser = Browser::open().await;
        Self {
            world,
            chains,
            browser,
            asset,
        }
    }

    /// Chooses the asset on a new page, which would show the last order again.
    async fn choose(&self) -> Checkout {
        self.browser.goto(&self.world.checkout_page()).await;
        self.browser.evaluate("sessionStorage.clear()").await;
        self.browser.goto("about:blank").await;
        self.browser.goto(&self.world.checkout_page()).await;
        let before = self.world.store().orders().await;
        self.browser.press(&format!("asset-{}", self.asset)).await;
        if self.asset.starts_with("USDT") {
            self.browser.press("network-confirm").await;
        }
        self.shows("awaiting_payment").await;
        let mut orders = self.world.store().orders().await;
        orders.retain(|order| before.iter().all(|known| known["id"] != order["id"]));
        let find = "return Object.entries(sessionStorage).find(([key]) => key.startsWith('florin') && !key.startsWith('florin:sent:'))?.[1]";
        let token = self.browser.evaluate(find).await;
        let (token, order) = (token.as_str(), orders[0]["id"].as_str());
        let token = token.expect("the page keeps a token");
        let order = order.expect("a new order");
        self.world.customer().with_token(token, order)
    }

    async fn pay(&self, checkout: &Checkout, amount: &str) -> String {
        let address = checkout.address().await;
        self.chains.pay(self.asset, &address, amount).await
    }

    async fn mine(&self, blocks: u32) {
        self.chains.mine(self.asset, blocks).await;
    }

    async fn shows(&self, status: &str) {
        self.browser.wait_for(&format!("status-{status}")).await;
    }
}

async fn asked(checkout: &Checkout) -> String {
    let view = checkout.view().await;
    let amount = view["attempt"]["amount_in_crypto"].as_str();
    amount.expect("an amount").to_owned()
}

async fn paid_in_parts_and_too_much(asset: &'static str) {
    let at = Purchase::begin(asset).await;
    // Exactly; then both blocks of the payment are taken back.
    let checkout = at.choose().await;
    let amount = asked(&checkout).await;
    let hash = at.pay(&checkout, &amount).await;
    // Anvil puts each payment into a block at once.
    if asset == "LTC" {
        checkout.wait_for("checking").await;
        at.mine(1).await;
    }
    at.shows("processing").await;
    at.mine(2).await;
    at.shows("paid").await;
    let view = checkout.view().await;
    assert_eq!(view["attempt"]["transaction_hash"], json!(hash));
    at.world.wait_until_paid_in_shop(&checkout.order).await;
    at.chains.reorganize(asset, 3).await;
    at.mine(1).await;
    let error = "the gateway takes back a payment that was credited";
    at.world.expect_error(error);
    // A paid order is polled about once a minute.
    let warned = within(Duration::from_secs(150), async || {
        let types = at.world.webhooks.event_types(&checkout.order);
        types.contains(&"order.reverted".to_owned()).then_some(())
    });
    assert!(
        warned.await.is_some(),
        "the store is warned of the reversal"
    );
    at.mine(3).await;

    // Half, then the rest.
    let checkout = at.choose().await;
    let amount = asked(&checkout).await;
    let half = share(&amount, 1, 2);
    at.pay(&checkout, &half).await;
    at.mine(3).await;
    at.shows("underpaid").await;
    let view = checkout.view().await;
    let rest = view["attempt"]["remaining_in_crypto"]
        .as_str()
        .expect("a rest");
    at.pay(&checkout, rest).await;
    at.mine(3).await;
    at.shows("paid").await;

    // Twice as much.
    let checkout = at.choose().await;
    let amount = asked(&checkout).await;
    at.pay(&checkout, &share(&amount, 2, 1)).await;
    at.mine(3).await;
    at.shows("overpaid").await;
    end(at.world, at.browser).await;
}

#[tokio::test]
async fn litecoin_is_paid_in_parts_too_much_and_taken_back() {
    paid_in_parts_and_too_much("LTC").await;
}

#[tokio::test]
async fn a_token_on_an_evm_node_is_paid_in_parts_too_much_and_taken_back() {
    paid_in_parts_and_too_much("USDTERC20").await;
}

/// A payment that no block takes until the payer raises its fee: two versions of it are known, and one is paid.
#[tokio::test]
async fn a_stuck_payment_whose_fee_is_raised_is_counted_once() {
    let at = Purchase::begin("LTC").await;
    let checkout = at.choose().await;
    let amount = asked(&checkout).await;
    let (node, address) = (&at.chains.litecoin, checkout.address().await);
    let hash = node.pay_too_low_a_fee(&address, &amount).await;
    let hash = hash.expect("the wallet has coins");
    checkout.wait_for("checking").await;
    at.mine(7).await;
    let view = checkout.view().await;
    assert_eq!(view["status"], json!("checking"), "{view}");
    let bumped: Value = node
        .payer("bumpfee", json!([hash, {"fee_rate": 50}]))
        .await
        .expect("the fee is raised");
    at.mine(3).await;
    at.shows("paid").await;
    let view = checkout.view().await;
    assert_eq!(view["attempt"]["transaction_hash"], bumped["txid"]);
    assert_eq!(view["attempt"]["received_in_crypto"], json!(amount));
    end(at.world, at.browser).await;
}

/// The payer sends the coins elsewhere before a block has them. The payment comes when the invoice has expired.
#[tokio::test]
async fn a_double_spent_payment_is_none_and_one_after_the_deadline_is_late() {
    let mut chains = RealChains::start().await;
    chains.invoice_minutes = 1;
    let at = Purchase::begin_on(chains, "LTC").await;
    let checkout = at.choose().await;
    let amount = asked(&checkout).await;
    let hash = at.pay(&checkout, &amount).await;
    checkout.wait_for("checking").await;
    let spent = at.chains.litecoin.double_spend(&hash).await;
    spent.expect("the coins are in the mempool alone");
    at.mine(1).await;
    // The deadline counts by the time of the chain.
    pause(Duration::from_secs(62)).await;
    at.mine(1).await;
    checkout.wait_for("expired").await;
    at.pay(&checkout, &amount).await;
    at.mine(3).await;
    at.shows("paid").await;
    let types = at.world.webhooks.event_types(&checkout.order);
    assert!(
        types.contains(&"order.late_payment".to_owned()),
        "{types:?}"
    );
    end(at.world, at.browser).await;
}

#[tokio::test]
async fn a_coin_is_paid_on_an_evm_node() {
    let at = Purchase::begin("ETH").await;
    let checkout = at.choose().await;
    let amount = asked(&checkout).await;
    let hash = at.pay(&checkout, &amount).await;
    at.mine(2).await;
    at.shows("paid").await;
    let view = checkout.view().await;
    assert_eq!(view["attempt"]["transaction_hash"], json!(hash));
    assert_eq!(view["attempt"]["received_in_crypto"], json!(amount));
    end(at.world, at.browser).await;
}
