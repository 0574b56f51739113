//! `order-flood`: how late a store learns of a payment while one client floods the proxy's release with unpaid orders.
//! `cargo xtask bench` builds all that it needs and runs it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use support::{OrderFlood, Program, World};

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

/// From the credit to the arrival of `order.paid`.
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
