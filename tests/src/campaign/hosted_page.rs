//! A customer who pays on the service's own page.

use std::time::Duration;

use serde_json::json;

use super::customer::{LOOK_EVERY, Purchase, Street, TRIES};
use super::random::Dice;
use super::request::Request;
use crate::hosted_page::HostedPage;
use crate::wait::pause;
use crate::world::secrets;

impl Street {
    /// A customer goes to the service's page, who may close it, pick an asset, and pay.
    pub(super) async fn somebody_buys_on_the_services_page(&self, dice: &mut Dice) -> Option<()> {
        let (order, page) = self.is_sent_away(dice).await?;
        if dice.percent(15) {
            page.close().await;
        } else if dice.percent(20) {
            page.pick("LTC").await;
        } else {
            self.pays_there(&page, dice).await;
        }
        self.watches(&order).await
    }

    pub(super) async fn pays_there(&self, page: &HostedPage, dice: &mut Dice) {
        let asset = dice.pick(&[(1, "LTC"), (1, "TRX"), (1, "DOGE")]);
        page.pick(asset).await;
        pause(dice.up_to(Duration::from_secs(1))).await;
        page.pay().await;
        self.tally.count("orders paid on the service's page");
    }

    /// The store's server sends a customer to the service's page. Asked until there is one: an order without a page was
    /// opened in a moment in which the service did not answer.
    pub(super) async fn is_sent_away(&self, dice: &mut Dice) -> Option<(Purchase, HostedPage)> {
        let cents = 1000 + dice.below(30_000);
        let order = json!({
            "amount": format!("{}.{:02}", cents / 100, cents % 100),
            "currency": "USD",
            "reference": format!("kill-{:016x}", dice.roll()),
            "flow": "hosted",
            "customer_email": "ada@example.com",
        });
        let opens = Request {
            token: Some(secrets::STORE_KEY),
            ..Request::post("/v1/orders", order)
        };
        for _ in 0..TRIES {
            let answer = self.asks(&opens).await?;
            let page = answer["payment_process_url"].as_str();
            if let (Some(order), Some(page)) = (Purchase::of(&answer), page) {
                self.tally.count("orders sent to the service's page");
                return Some((order, HostedPage::at(self.http.clone(), page)));
            }
            pause(LOOK_EVERY).await;
        }
        self.tally.count("customers who got no invoice and went");
        None
    }
}
