//! Open event streams: memory, processor time while nothing happens, and the time from a change to the last stream.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use florin_proxy::clock::{Clock as _, SystemClock};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::reads::read_once;
use crate::server::{CHANGING, Server, open_order, processor_time};

/// Half of them belong to one order, the others to orders with five each.
pub(crate) const STREAMS: usize = 10_000;
pub(crate) const STREAMS_PER_ORDER: usize = 5;
/// Files of this program besides the streams.
const OTHER_FILES: u64 = 100;
/// Streams that are opened at once.
const OPENED_AT_ONCE: usize = 100;
/// Twice the time between two heartbeats: each stream has two.
pub(crate) const IDLE: Duration = Duration::from_secs(30);
/// Changes of the order with most streams.
pub(crate) const CHANGES: usize = 20;
/// Between two changes.
pub(crate) const PAUSE: Duration = Duration::from_millis(500);
/// A stream that is silent for so long after a change has failed.
const LATEST: Duration = Duration::from_secs(20);

/// The promises.
const PROMISED_FAN_OUT: Duration = Duration::from_millis(250);
const PROMISED_KIB: u64 = 25;
/// Of a core, in thousandths.
const PROMISED_IDLE: u64 = 20;

/// What a server's streams cost.
struct Cost {
    /// Of a stream, resident.
    kib: u64,
    /// While nothing happens: thousandths of a core.
    idle: u64,
    /// From the request that changes the order, commit included, to the last byte of the event.
    median: Duration,
    p99: Duration,
}

/// Compares the proxy with a bare router.
pub(crate) async fn compare(proxy: &Path, wanted: usize) -> anyhow::Result<()> {
    let streams = possible(wanted)?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("view.json");
    let ours = {
        let (server, address) = Server::start_proxy(proxy, &folder).await?;
        let crowded = open_order(address).await?;
        fs::write(&file, read_once(address, &crowded).await?)?;
        let mut tokens = vec![crowded; streams / 2];
        while tokens.len() < streams {
            let token = open_order(address).await?;
            tokens.extend(vec![token; STREAMS_PER_ORDER.min(streams - tokens.len())]);
        }
        measure(&server, address, &tokens).await?
    };
    let bare = {
        let (server, address) = Server::start_bare(&file)?;
        let mut tokens = vec![CHANGING.to_owned(); streams / 2];
        tokens.resize(streams, String::new());
        measure(&server, address, &tokens).await?
    };
    print(streams, &ours, &bare);
    ensure!(
        ours.p99 < PROMISED_FAN_OUT && ours.kib <= PROMISED_KIB && ours.idle < PROMISED_IDLE,
        "event streams cost more than promised"
    );
    Ok(())
}

/// As many streams as this process may have, and no more than `wanted`.
pub(crate) fn possible(wanted: usize) -> anyhow::Result<usize> {
    let files = florin_proxy::open_files::raise_limit()?;
    let possible = usize::try_from(files.saturating_sub(OTHER_FILES))?;
    let streams = wanted.min(possible);
    if streams < wanted {
        println!("  this system allows {files} open files, and no more than {streams} streams");
    }
    Ok(streams)
}

fn print(streams: usize, ours: &Cost, bare: &Cost) {
    let line = |what: &str, ours: String, bare: String, promised: String| {
        println!("    {what:<44}{ours:>10}{bare:>10}{promised:>12}");
    };
    let ms = |time: Duration| format!("{} ms", time.as_millis());
    let core = |idle: u64| format!("{}.{} %", idle / 10, idle % 10);
    println!(
        "  {streams} event streams, {} of them of one order",
        streams / 2
    );
    line("", "proxy".into(), "bare axum".into(), "promised".into());
    line(
        "resident, each",
        format!("{} KiB", ours.kib),
        format!("{} KiB", bare.kib),
        format!("≤ {PROMISED_KIB} KiB"),
    );
    line(
        "of a core while nothing happens",
        core(ours.idle),
        core(bare.idle),
        format!("< {}", core(PROMISED_IDLE)),
    );
    line(
        "change to last byte, median",
        ms(ours.median),
        ms(bare.median),
        String::new(),
    );
    line(
        "change to last byte, p99",
        ms(ours.p99),
        ms(bare.p99),
        format!("< {}", ms(PROMISED_FAN_OUT)),
    );
}

async fn measure(server: &Server, address: SocketAddr, tokens: &[String]) -> anyhow::Result<Cost> {
    let crowded = &tokens[0];
    let changed = tokens.iter().filter(|token| *token == crowded).count();
    let before = resident_kib(server)?;
    let mut streams = Streams::open(address, tokens).await?;
    let kib = resident_kib(server)?.saturating_sub(before) / u64::try_from(tokens.len())?;
    let busy = processor_time(server.id())?;
    SystemClock.sleep(IDLE).await;
    let idle = processor_time(server.id())?
        .saturating_sub(busy)
        .as_millis()
        * 1000
        / IDLE.as_millis();
    let mut times = Vec::new();
    for number in 0..CHANGES {
        SystemClock.sleep(PAUSE).await;
        let began = Instant::now();
        let change = tokio::spawn(change(address, crowded.clone(), number));
        for _ in 0..changed {
            let at = streams.next().await?;
            times.push(at.duration_since(began));
        }
        change.await??;
    }
    times.sort_unstable();
    Ok(Cost {
        kib,
        idle: u64::try_from(idle)?,
        median: times[times.len() / 2],
        p99: times[times.len() * 99 / 100],
    })
}

/// Open streams. Dropping them closes them.
pub(crate) struct Streams {
    received: mpsc::UnboundedReceiver<Instant>,
    readers: JoinSet<anyhow::Result<()>>,
}

impl Streams {
    /// Opens a stream for each token; each has got the order once.
    pub(crate) async fn open(address: SocketAddr, tokens: &[String]) -> anyhow::Result<Self> {
        let (events, received) = mpsc::unbounded_channel();
        let readers = JoinSet::new();
        let mut streams = Self { received, readers };
        for some in tokens.chunks(OPENED_AT_ONCE) {
            for token in some {
                let reader = read_stream(address, token.clone(), events.clone());
                streams.readers.spawn(reader);
            }
            for _ in some {
                streams.next().await?;
            }
        }
        Ok(streams)
    }

    /// When the next event was read.
    pub(crate) async fn next(&mut self) -> anyhow::Result<Instant> {
        let event = async {
            tokio::select! {
                event = self.received.recv() => event.context("no stream is open"),
                Some(ended) = self.readers.join_next() => {
                    ended??;
                    bail!("a stream ended")
                }
            }
        };
        timeout(LATEST, event)
            .await
            .context("an event is missing")?
    }
}

/// Reads a stream; reports when the last byte of each event has come.
async fn read_stream(
    address: SocketAddr,
    token: String,
    events: mpsc::UnboundedSender<Instant>,
) -> anyhow::Result<()> {
    const END: &[u8] = b"\n\n\r\n";
    // Source: RFC 9112, section 7.1: the last chunk. The connection stays open.
    const LAST: &[u8] = b"\r\n0\r\n\r\n";
    let mut stream = TcpStream::connect(address).await?;
    let head = format!(
        "GET /v1/checkout/events HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    let mut buffer = Vec::with_capacity(2048);
    loop {
        while !buffer.ends_with(END) {
            let is_closed = stream.read_buf(&mut buffer).await? == 0;
            if is_closed || buffer.ends_with(LAST) || buffer == LAST[2..] {
                bail!("a stream ended after {}", String::from_utf8_lossy(&buffer));
            }
        }
        let text = std::str::from_utf8(&buffer)?;
        // Between them come heartbeats.
        for _ in text.matches("event: order") {
            events.send(Instant::now())?;
        }
        buffer.clear();
    }
}

async fn change(address: SocketAddr, token: String, number: usize) -> anyhow::Result<()> {
    let body = serde_json::json!({ "email": format!("buyer-{number}@example.org") });
    let request = reqwest::Client::new().post(format!("http://{address}/v1/checkout/email"));
    let response = request.bearer_auth(token).json(&body).send().await?;
    response.error_for_status()?;
    Ok(())
}

/// Resident KiB. Source: proc(5), `VmRSS` of `/proc/pid/status`.
fn resident_kib(server: &Server) -> anyhow::Result<u64> {
    let path = format!("/proc/{}/status", server.id());
    let status = fs::read_to_string(&path)
        .with_context(|| format!("{path} cannot be read: this number needs Linux"))?;
    let resident = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    resident
        .and_then(|kib| kib.parse().ok())
        .with_context(|| format!("{path} has no VmRSS"))
}
