//! A flood of unpaid orders from one client, while a customer pays: how late the store learns of the payment.

use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use jiff::Timestamp;
use serde_json::json;

use crate::http_response::text_at;
use crate::wait::eventually;
use crate::webhook_receiver::Reply;
use crate::world::{World, pay_in_full};

/// How long the store's endpoint takes to answer.
const ANSWER: Duration = Duration::from_millis(100);
/// The flood's requests under way at once.
const CONCURRENT: usize = 64;

#[derive(Clone, Copy, Debug)]
pub struct OrderFlood {
    pub took: Duration,
    /// Events of other orders that waited when the payment was credited, those delivered meanwhile apart.
    pub waiting: usize,
    /// From the credit of the customer's order to the arrival of its `order.paid`.
    pub delay: Duration,
}

impl OrderFlood {
    /// Opens `orders` orders by POST /v1/checkout from one client, then pays an order that was opened before. The store's
    /// endpoint answers after 100 ms meanwhile. The proxy must permit so many orders to one address.
    #[expect(
        clippy::disallowed_methods,
        reason = "measures how long a real program takes"
    )]
    pub async fn play(world: &World, orders: usize) -> Self {
        world.webhooks.reply_with(Reply::After(ANSWER));
        let customer = world.customer().open("ebook").await;
        customer.choose("BTC").await;
        let begin = Instant::now();
        let flood = stream::iter(0..orders).map(|_| open(world));
        let mut opened = flood.buffer_unordered(CONCURRENT);
        while let Some(status) = opened.next().await {
            assert_eq!(status, 201, "an order of the flood");
        }
        let took = begin.elapsed();
        let before = world.webhooks.deliveries().len();
        pay_in_full(world, &customer).await;
        let paid = eventually("order.paid is delivered", async || {
            let mut received = world.webhooks.accepted(&customer.order).into_iter();
            received.find(|delivery| delivery.kind == "order.paid")
        })
        .await;
        let credited: Timestamp = text_at(&paid.body, "/timestamp")
            .parse()
            .expect("an event has its time");
        let delay = paid.arrived_at.duration_since(credited);
        world.webhooks.reply_with(Reply::Accept);
        Self {
            took,
            waiting: orders.saturating_sub(before),
            delay: Duration::try_from(delay).unwrap_or_default(),
        }
    }
}

/// Opens an order as a page would. Returns the status of the response, which is not compared with its description: that
/// would take longer than the request.
async fn open(world: &World) -> u16 {
    let url = format!("{}/v1/checkout", world.proxy_url());
    let request = world.http().post(url).header("origin", world.shop_url());
    let order = json!({ "store": "demo", "product": "ebook" });
    let response = request.json(&order).send().await;
    response.expect("the proxy answers").status().as_u16()
}
