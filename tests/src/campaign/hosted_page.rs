//! Customers who pay on the gateway's hosted page.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use super::customer::{Customers, MAX_TRIES, POLL_EVERY, Purchase};
use crate::customer::HostedPage;
use crate::random::SeededRandom;
use crate::wait::pause;
use crate::world::secrets;

impl Customers {
    /// Opens a hosted order, whose customer closes the page, only picks an asset, or pays.
    pub(super) async fn buy_hosted(&self, random: &SeededRandom) -> Option<()> {
        let (order, page) = self.open_hosted_order(random).await?;
        if random.percent(15) {
            page.close().await;
        } else if random.percent(20) {
            page.pick("LTC").await;
        } else {
            self.pay_hosted(&page, random).await;
        }
        self.wait_until_paid(&order).await
    }

    pub(super) async fn pay_hosted(&self, page: &HostedPage, random: &SeededRandom) {
        let asset = random.pick(&["LTC", "TRX", "DOGE"]);
        page.pick(asset).await;
        pause(random.up_to(Duration::from_secs(1))).await;
        page.pay().await;
        self.count("paid on the hosted page");
    }

    /// Opens a hosted order as the store's server, repeating the request until it has a page: when the gateway does not
    /// answer, the order is opened without one.
    pub(super) async fn open_hosted_order(
        &self,
        random: &SeededRandom,
    ) -> Option<(Purchase, HostedPage)> {
        let cents = 1000 + random.below(30_000);
        let order = json!({
            "amount": format!("{}.{:02}", cents / 100, cents % 100),
            "currency": "USD",
            "reference": format!("kill-{:016x}", random.draw()),
            "flow": "hosted",
            "customer_email": "ada@example.com",
        });
        let open = self.request(Method::POST, "/v1/orders").json(&order);
        let open = open.bearer_auth(secrets::STORE_KEY);
        for _ in 0..MAX_TRIES {
            let response = self.send_until_answered(&open).await?;
            let page = response["payment_process_url"].as_str();
            if let (Some(order), Some(page)) = (Purchase::of(&response), page) {
                self.count("opened the hosted page");
                return Some((order, HostedPage::at(self.http.clone(), page)));
            }
            pause(POLL_EVERY).await;
        }
        self.count("gave up without an invoice");
        None
    }
}
