//! Status reads per second, beside a bare axum handler that returns the same bytes.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::server::{Server, open_order};

/// Connections that read, each one request after another.
const CONNECTIONS: usize = 32;
/// Rounds; the median of each side counts.
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(3);
/// The promise: this share of the bare handler, in percent.
const PROMISED: u64 = 80;

/// Compares the proxy with a bare handler.
pub(crate) async fn compare(proxy: &Path) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (proxy, address) = Server::start_proxy(proxy, &folder).await?;
    let token = open_order(address).await?;
    let view = read_once(address, &token).await?;
    let file = folder.path().join("view.json");
    std::fs::write(&file, &view)?;
    let (bare, bare_address) = Server::start_bare(&file)?;
    ensure!(read_once(bare_address, &token).await?.len() == view.len());
    let (mut ours, mut baseline) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(reads_per_second(address, &token).await?);
        baseline.push(reads_per_second(bare_address, &token).await?);
    }
    drop((proxy, bare));
    let (ours, baseline) = (median(ours), median(baseline));
    let share = ours * 100 / baseline;
    println!(
        "  status reads of {} bytes, {CONNECTIONS} connections",
        view.len()
    );
    println!("    proxy               {ours:>8} per second");
    println!("    bare axum handler   {baseline:>8} per second");
    println!("    share               {share:>7} %   promised ≥ {PROMISED} %");
    ensure!(
        share >= PROMISED,
        "status reads are slower than {PROMISED} % of a bare handler"
    );
    Ok(())
}

/// The view of the order that a client token opens.
pub(crate) async fn read_once(address: SocketAddr, token: &str) -> anyhow::Result<Vec<u8>> {
    let mut connection = Connection::open(address).await?;
    connection.read(&request(address, token)).await?;
    Ok(connection.body().to_vec())
}

fn request(address: SocketAddr, token: &str) -> String {
    format!("GET /v1/checkout HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n")
}

async fn reads_per_second(address: SocketAddr, token: &str) -> anyhow::Result<u64> {
    let request = request(address, token);
    let end = Instant::now() + ROUND;
    let mut readers = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let request = request.clone();
        readers.spawn(async move {
            let (mut connection, mut reads) = (Connection::open(address).await?, 0_u64);
            while Instant::now() < end {
                connection.read(&request).await?;
                reads += 1;
            }
            anyhow::Ok(reads)
        });
    }
    let mut reads = 0;
    while let Some(result) = readers.join_next().await {
        reads += result??;
    }
    Ok(reads / ROUND.as_secs())
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}

/// A connection that is kept alive. It parses no more than the length of a response, so that the server is what is measured.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    head: usize,
}

impl Connection {
    async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(8 * 1024),
            head: 0,
        })
    }

    /// Sends a request and reads the whole response, which must be 200 with a length.
    async fn read(&mut self, request: &str) -> anyhow::Result<()> {
        self.stream.write_all(request.as_bytes()).await?;
        self.buffer.clear();
        loop {
            ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "closed");
            let Some(head) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") else {
                continue;
            };
            let text = std::str::from_utf8(&self.buffer[..head])?;
            ensure!(text.starts_with("HTTP/1.1 200"), "{text}");
            let length = text
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .context("a response without a length")?;
            let length: usize = length.parse()?;
            self.head = head + 4;
            while self.buffer.len() < self.head + length {
                ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "closed");
            }
            return Ok(());
        }
    }

    fn body(&self) -> &[u8] {
        &self.buffer[self.head..]
    }
}
