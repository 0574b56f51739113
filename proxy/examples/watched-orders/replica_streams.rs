//! Event streams over three proxies on one PostgreSQL: the time from a change through one to the last stream of all, and the
//! processor time while nothing happens.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use florin_proxy::clock::{Clock as _, SystemClock};
use tokio::time::Instant;

use crate::connection::Connection;
use crate::replicas::{PROXIES, Replicas, change, p99};
use crate::server::{Server, open_order, processor_time, started_processor_time};
use crate::streams::{CHANGES, IDLE, PAUSE, STREAMS_PER_ORDER, Streams, possible};

/// Promised: from the request that changes the order, commit included, to the last byte of the event, at any proxy.
const PROMISED_FAN_OUT: Duration = Duration::from_secs(1);

/// Time on a core while nothing happens.
struct Idle {
    proxies: Duration,
    database: Duration,
}

/// The streams of one proxy, and how many of them belong to the order that changes.
struct Opened {
    streams: Streams,
    of_changed: usize,
}

/// Measures and prints.
pub(crate) async fn measure(proxy: &Path, wanted: usize) -> anyhow::Result<()> {
    let streams = possible(wanted)?;
    let replicas = Replicas::start(proxy).await?;
    let crowded = open_order(replicas.addresses[0]).await?;
    let mut tokens = vec![crowded.clone(); streams / 2];
    while tokens.len() < streams {
        let through = replicas.addresses[tokens.len() % PROXIES];
        let token = open_order(through).await?;
        tokens.extend(vec![token; STREAMS_PER_ORDER.min(streams - tokens.len())]);
    }
    let mut opened = Vec::new();
    for (number, address) in replicas.addresses.iter().enumerate() {
        let tokens = tokens.iter().skip(number).step_by(PROXIES).cloned();
        let tokens: Vec<String> = tokens.collect();
        opened.push(Opened {
            streams: Streams::open(*address, &tokens).await?,
            of_changed: tokens.iter().filter(|token| **token == crowded).count(),
        });
    }
    let idle = rest(&replicas).await?;
    let times = fan_out(&replicas, &crowded, &mut opened).await?;
    print(streams, &idle, &times);
    ensure!(
        p99(&times) < PROMISED_FAN_OUT,
        "a change reaches the streams of several proxies later than promised"
    );
    Ok(())
}

/// Measures while nothing happens.
async fn rest(replicas: &Replicas) -> anyhow::Result<Idle> {
    let proxies = || -> anyhow::Result<Duration> {
        let times = replicas.servers.iter().map(Server::id);
        times.map(processor_time).sum()
    };
    let (before, all_before) = (proxies()?, started_processor_time()?);
    SystemClock.sleep(IDLE).await;
    let (after, all_after) = (proxies()?, started_processor_time()?);
    let proxies = after.saturating_sub(before);
    Ok(Idle {
        proxies,
        database: all_after.saturating_sub(all_before).saturating_sub(proxies),
    })
}

/// Changes an order through the first proxy. Returns the times to its streams at all proxies, in order.
async fn fan_out(
    replicas: &Replicas,
    token: &str,
    opened: &mut [Opened],
) -> anyhow::Result<Vec<Duration>> {
    let first = replicas.addresses[0];
    let mut connection = Connection::open(first).await?;
    let mut times = Vec::new();
    for number in 0..CHANGES {
        SystemClock.sleep(PAUSE).await;
        let request = change(first, token, number);
        let began = Instant::now();
        let arrivals = async {
            for (proxy, opened) in opened.iter_mut().enumerate() {
                for arrived in 0..opened.of_changed {
                    let at = opened.streams.next().await.with_context(|| {
                        format!(
                            "change {number}: {arrived} of {} events at proxy {proxy}",
                            opened.of_changed
                        )
                    })?;
                    times.push(at.duration_since(began));
                }
            }
            Ok(())
        };
        tokio::try_join!(connection.exchange(&request, 200), arrivals)?;
    }
    times.sort_unstable();
    Ok(times)
}

fn print(streams: usize, idle: &Idle, times: &[Duration]) {
    let core = |time: Duration| {
        let thousandths = time.as_millis() * 1000 / IDLE.as_millis();
        format!("{}.{} %", thousandths / 10, thousandths % 10)
    };
    println!(
        "  {streams} event streams over {PROXIES} proxies on one PostgreSQL, {} of them of one order",
        streams / 2
    );
    println!(
        "    of a core while nothing happens: proxies {}, database {}",
        core(idle.proxies),
        core(idle.database)
    );
    println!(
        "    change to last byte: median {} ms, p99 {} ms (promised: < {} ms)",
        times[times.len() / 2].as_millis(),
        p99(times).as_millis(),
        PROMISED_FAN_OUT.as_millis()
    );
}
