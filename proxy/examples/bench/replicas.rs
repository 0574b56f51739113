//! Event streams over three proxies on one PostgreSQL: the time from a change through one to the last stream of all.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use florin_postgres::{Durability, PostgresServer};

use crate::server::{NOTHING, Server};
use crate::streams::{Streams, fan_out, orders, possible, print_fan_out};

const PROXIES: usize = 3;
const DATABASE: &str = "florin";

/// Promised: from the request that changes the order, commit included, to the last byte of the event, at any proxy.
const PROMISED_FAN_OUT: Duration = Duration::from_secs(1);

/// Measures and prints.
pub(crate) async fn measure(proxy: &Path) -> anyhow::Result<()> {
    let streams = possible()?;
    let database = PostgresServer::start(Durability::Full)?;
    database.create_database(DATABASE, None)?;
    let url = database.url(DATABASE);
    florin_storage::migrate_postgres(&url, "test").await?;
    let (mut servers, mut addresses) = (Vec::new(), Vec::<SocketAddr>::new());
    for _ in 0..PROXIES {
        let folder = tempfile::tempdir()?;
        let (server, address) = Server::start_proxy_on(proxy, &folder, NOTHING, &url).await?;
        servers.push((server, folder));
        addresses.push(address);
    }
    let tokens = orders(&addresses, streams).await?;
    let mut opened = Vec::new();
    for (number, address) in addresses.iter().enumerate() {
        let of_proxy = tokens.iter().skip(number).step_by(PROXIES).cloned();
        let of_proxy: Vec<String> = of_proxy.collect();
        let changed = of_proxy.iter().filter(|token| **token == tokens[0]).count();
        opened.push((Streams::open(*address, &of_proxy).await?, changed));
    }
    let mut opened: Vec<_> = (opened.iter_mut())
        .map(|(streams, changed)| (streams, *changed))
        .collect();
    let times = fan_out(addresses[0], &tokens[0], &mut opened).await?;
    println!(
        "  {streams} event streams over {PROXIES} proxies on one PostgreSQL, {} of them of one order",
        streams / 2
    );
    ensure!(
        print_fan_out(&times, PROMISED_FAN_OUT),
        "a change reaches the streams of several proxies later than promised"
    );
    Ok(())
}
