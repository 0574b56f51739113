//! `idle-proxy`: how long a release of the proxy takes to start, and how much memory it occupies when idle. `cargo xtask
//! bench` builds all that it needs and runs it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::Parser;
use support::{Program, World, pause};

/// Measures the proxy's start and its memory, beside what is promised.
#[derive(Parser)]
#[command(name = "idle-proxy")]
struct Arguments {
    /// `florin-proxy`, a release.
    #[arg(long, value_name = "FILE")]
    proxy: PathBuf,
}

/// Kibibytes that the idle proxy may occupy.
const RESIDENT_KIB: u64 = 20 * 1024;
/// How long it may take from its start until it answers.
const LISTENING: Duration = Duration::from_millis(100);
/// How often it is started; the median counts.
const STARTS: usize = 10;
/// After this time its start is over and its workers have run once.
const IDLE_AFTER: Duration = Duration::from_secs(3);
/// A proxy that does not answer by then has failed.
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// How often it is asked while it starts.
const ASK_EVERY: Duration = Duration::from_micros(200);

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let mut world = World::start().await;
    // The release replaces the proxy of the tests, on its port and its database.
    world.stop_proxy().await;
    let mut times = Vec::new();
    for _ in 0..STARTS {
        times.push(start(&arguments, &world).await?.1);
    }
    times.sort_unstable();
    let (proxy, _) = start(&arguments, &world).await?;
    pause(IDLE_AFTER).await;
    let resident = resident_kib(proxy.id())?;
    drop(proxy);
    world.end().await;

    let (fastest, median, slowest) = (times[0], times[STARTS / 2], times[STARTS - 1]);
    let starts = format!(
        "start to first response, median of {STARTS} ({}–{} ms)",
        fastest.as_millis(),
        slowest.as_millis()
    );
    print_line("the proxy's release", "measured", "promised");
    let ms = |time: Duration| format!("{} ms", time.as_millis());
    print_line(&starts, &ms(median), &format!("≤ {}", ms(LISTENING)));
    let kib = |size: u64| format!("{size} KiB");
    let promised = format!("≤ {}", kib(RESIDENT_KIB));
    print_line("resident when idle", &kib(resident), &promised);
    Ok(if median > LISTENING || resident > RESIDENT_KIB {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn print_line(what: &str, measured: &str, promised: &str) {
    println!("  {what:<52}{measured:>14}{promised:>14}");
}

/// Starts it and waits until it serves the loader; returns how long that took.
#[expect(
    clippy::disallowed_methods,
    reason = "measures how long a real program takes"
)]
async fn start(arguments: &Arguments, world: &World) -> anyhow::Result<(Program, Duration)> {
    let begin = Instant::now();
    let log = world.file("release.log");
    let proxy = Program::start_at(&arguments.proxy, &world.config_file(), &log);
    while !serves_the_loader(world.listen_address()) {
        let printed = || proxy.printed();
        ensure!(
            begin.elapsed() < START_TIMEOUT,
            "the proxy does not answer: {}",
            printed()
        );
        pause(ASK_EVERY).await;
    }
    let time = begin.elapsed();
    Ok((proxy, time))
}

/// Asks on a bare connection: a client of HTTP would take longer than the response.
fn serves_the_loader(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<[u8; 12]> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_millis(500)))?;
        write!(
            stream,
            "GET /florin.js HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
        )?;
        let mut status = [0; 12];
        stream.read_exact(&mut status)?;
        Ok(status)
    };
    ask().is_ok_and(|status| status == *b"HTTP/1.1 200")
}

/// Resident KiB of a process. Source: proc(5), `VmRSS` of `/proc/pid/status`.
fn resident_kib(id: u32) -> anyhow::Result<u64> {
    let path = format!("/proc/{id}/status");
    let status = fs::read_to_string(&path)
        .with_context(|| format!("{path} cannot be read: this number needs Linux"))?;
    let resident = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    resident
        .and_then(|kib| kib.parse().ok())
        .with_context(|| format!("{path} has no VmRSS"))
}
