//! `status-reads`: how many status reads per second the proxy serves, beside a bare axum handler that returns the same
//! bytes. `cargo xtask bench` builds all that it needs and runs it.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use clap::Parser;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Compares status reads with a bare handler.
#[derive(Parser)]
#[command(name = "status-reads")]
struct Arguments {
    /// `florin-proxy`, as it is released.
    #[arg(long, value_name = "FILE")]
    proxy: Option<PathBuf>,
    /// Instead: serve this file as JSON on a free port, and print the address.
    #[arg(long, value_name = "FILE", conflicts_with = "proxy")]
    serve: Option<PathBuf>,
}

/// Connections that read, each one request after another.
const CONNECTIONS: usize = 32;
/// Rounds; the median of each side counts.
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(3);
/// A proxy that does not listen by then has failed.
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// The promise: this share of the bare handler, in percent.
const PROMISED: u64 = 80;

#[tokio::main]
async fn main() -> ExitCode {
    // Fails only when it is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let result = match Arguments::parse() {
        Arguments {
            serve: Some(file), ..
        } => serve(&file).await,
        Arguments {
            proxy: Some(proxy), ..
        } => compare(&proxy).await,
        _ => Err(anyhow::anyhow!("name the proxy: --proxy FILE")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("status-reads: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The bare handler: the same bytes, the same content type, nothing else.
async fn serve(file: &Path) -> anyhow::Result<()> {
    let bytes = axum::body::Bytes::from(std::fs::read(file)?);
    let handler = move || async move { ([(CONTENT_TYPE, "application/json")], bytes) };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let routes = Router::new().route("/v1/checkout", get(handler));
    Ok(axum::serve(listener, routes).await?)
}

async fn compare(proxy: &Path) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (mut proxy, address) = Server::start_proxy(proxy, &folder).await?;
    let token = open_order(address).await?;
    let request = format!(
        "GET /v1/checkout HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n"
    );
    let view = read_once(address, &request).await?;
    let file = folder.path().join("view.json");
    std::fs::write(&file, &view)?;
    let (mut bare, bare_address) = Server::start_bare(&file)?;
    ensure!(read_once(bare_address, &request).await?.len() == view.len());
    let (mut ours, mut baseline) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(reads_per_second(address, &request).await?);
        baseline.push(reads_per_second(bare_address, &request).await?);
    }
    proxy.end();
    bare.end();
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

/// A server in its own process. Dropping it kills it.
struct Server(Child);

impl Server {
    async fn start_proxy(program: &Path, folder: &TempDir) -> anyhow::Result<(Self, SocketAddr)> {
        let (config, log) = (
            folder.path().join("florin.toml"),
            folder.path().join("proxy.log"),
        );
        let [public, admin] = [free_address()?, free_address()?];
        std::fs::write(&config, florin_toml(public, admin, folder))?;
        std::fs::set_permissions(&config, std::fs::Permissions::from_mode(0o600))?;
        let child = Command::new(program)
            .arg("--config")
            .arg(&config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(&log)?)
            .spawn()
            .context("the proxy cannot be started")?;
        let server = Self(child);
        let listens = async {
            while TcpStream::connect(public).await.is_err() {
                tokio::task::yield_now().await;
            }
        };
        if tokio::time::timeout(START_TIMEOUT, listens).await.is_err() {
            bail!(
                "the proxy does not start: {}",
                std::fs::read_to_string(log)?
            );
        }
        Ok((server, public))
    }

    fn start_bare(file: &Path) -> anyhow::Result<(Self, SocketAddr)> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("--serve")
            .arg(file)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().context("its output is piped")?;
        let server = Self(child);
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line)?;
        let address = line.trim().parse().context("it prints its address")?;
        Ok((server, address))
    }

    fn end(&mut self) {
        // Both do nothing to a program that has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

fn free_address() -> anyhow::Result<SocketAddr> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// A store with a product. Its gateway is away: a status read needs none.
fn florin_toml(public: SocketAddr, admin: SocketAddr, folder: &TempDir) -> String {
    let key = "0123456789abcdef".repeat(4);
    let database = folder.path().join("florin.db");
    format!(
        r#"listen = "{public}"
admin_listen = "{admin}"
public_url = "http://{public}"
database_url = "sqlite://{}"
environment = "test"

[gateway]
url = "http://127.0.0.1:9/api"
api_key = "key"
api_secret = "{key}"
callback_token = "{key}1"

[[store]]
id = "demo"
name = "Demo"
origins = ["http://127.0.0.1:9"]
currency = "USD"
secret_key = "sk_{key}"

[[store.product]]
sku = "ebook"
title = "E-book"
price = "19.90"
"#,
        database.display()
    )
}

async fn open_order(proxy: SocketAddr) -> anyhow::Result<String> {
    let body = json!({ "store": "demo", "product": "ebook" });
    let client = reqwest::Client::new();
    let request = client.post(format!("http://{proxy}/v1/checkout"));
    let opened: Value = request.json(&body).send().await?.json().await?;
    let token = opened["client_token"].as_str();
    Ok(token.with_context(|| opened.to_string())?.to_owned())
}

async fn read_once(address: SocketAddr, request: &str) -> anyhow::Result<Vec<u8>> {
    let mut connection = Connection::open(address).await?;
    connection.read(request).await?;
    Ok(connection.body().to_vec())
}

async fn reads_per_second(address: SocketAddr, request: &str) -> anyhow::Result<u64> {
    let end = Instant::now() + ROUND;
    let mut readers = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let request = request.to_owned();
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
