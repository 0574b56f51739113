//! `order-flood`: how late a store learns of a payment while one client floods the proxy's release with unpaid orders.
//! `cargo xtask bench` builds all that it needs and runs it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use futures_util::{StreamExt as _, stream};
use jiff::Timestamp;
use serde_json::json;
use support::{Program, Reply, World, eventually, pay_in_full};

/// Measures from a payment's credit to its event at the store, beside what is promised.
#[derive(Parser)]
#[command(name = "order-flood")]
struct Arguments {
    /// `florin-proxy`, a release.
    #[arg(long, value_name = "FILE")]
    proxy: PathBuf,
    /// The unpaid orders.
    #[arg(long, value_name = "N", default_value_t = 3_400)]
    orders: usize,
}

const PROMISED: Duration = Duration::from_secs(2);

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut world = World::with(|config| config.orders_per_minute_per_ip = Some(10_000)).await;
    // The release replaces the proxy of the tests, on its port and its database.
    world.stop_proxy().await;
    let log = world.file("release.log");
    let mut proxy = Program::start_at(&arguments.proxy, &world.config_file(), &log);
    world.wait_for_proxy().await;
    let flood = OrderFlood::play(&world, arguments.orders).await;
    world.wait_for_deliveries().await;
    let code = proxy.stop().await;
    assert_eq!(code, Some(0), "{}", proxy.printed());
    world.end().await;

    let seconds = |time: Duration| format!("{:.2} s", time.as_secs_f64());
    println!(
        "  {} unpaid orders from one client in {}, {} events waited",
        arguments.orders,
        seconds(flood.took),
        flood.waiting
    );
    println!(
        "  {:<52}{:>14}{:>14}",
        "credit to order.paid at the store",
        seconds(flood.delay),
        format!("≤ {}", seconds(PROMISED))
    );
    if flood.delay > PROMISED {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// How long the store's endpoint takes to answer.
const ANSWER: Duration = Duration::from_millis(100);
const CONCURRENT: usize = 64;

#[derive(Clone, Copy, Debug)]
struct OrderFlood {
    took: Duration,
    /// Events of other orders that waited when the payment was credited, those delivered meanwhile apart.
    waiting: usize,
    /// From the credit of the customer's order to the arrival of its `order.paid`.
    delay: Duration,
}

impl OrderFlood {
    /// Opens `orders` orders by POST /v1/checkout from one client, then pays an order that was opened before. The store's
    /// endpoint answers after 100 ms meanwhile. The proxy must permit so many orders to one address.
    #[expect(
        clippy::disallowed_methods,
        reason = "measures how long a real program takes"
    )]
    async fn play(world: &World, orders: usize) -> Self {
        world.webhooks.reply_with(Reply::After(ANSWER));
        let customer = world.customer().open_with("ebook", "BTC").await;
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
        let credited = paid.body["timestamp"]
            .as_str()
            .expect("an event has its time");
        let credited: Timestamp = credited.parse().expect("it is a time");
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
