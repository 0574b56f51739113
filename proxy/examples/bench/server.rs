//! The servers that are measured, the proxy's release and a bare axum router with the same bytes, and connections to them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName};
use axum::routing::get;
use florin_proxy::clock::{Clock as _, SystemClock};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// An address where no gateway listens.
pub(crate) const NOTHING: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9);
/// A proxy that does not listen by then has failed.
const START_TIMEOUT: Duration = Duration::from_secs(10);
const ASK_EVERY: Duration = Duration::from_micros(200);

/// The word with which this program starts itself as the bare router.
pub(crate) const BARE: &str = "serve-bare";

/// The bare router: the file's headers and bytes, and nothing else.
pub(crate) async fn serve(file: &Path) -> anyhow::Result<()> {
    let response = Bytes::from(std::fs::read(file)?);
    let head = end_of_head(&response).context("a response has a head")?;
    let mut headers = HeaderMap::new();
    for line in std::str::from_utf8(&response[..head])?.lines() {
        // The server writes these two itself. The line of the status is no header.
        if let Some((name, value)) = line.split_once(": ")
            && !["content-length", "date"].contains(&name)
        {
            headers.append(HeaderName::try_from(name)?, value.parse()?);
        }
    }
    let body = response.slice(head + 4..);
    let read = get(move || async move { (headers, body) });
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let routes = Router::new().route("/v1/checkout", read.clone());
    let routes = routes.route("/pay", read);
    Ok(axum::serve(listener, routes).await?)
}

/// A server in its own process. Dropping it kills it.
pub(crate) struct Server(Child);

impl Server {
    pub(crate) async fn start_proxy(
        program: &Path,
        folder: &TempDir,
        gateway: SocketAddr,
    ) -> anyhow::Result<(Self, SocketAddr)> {
        let [config, log, database] =
            ["florin.toml", "proxy.log", "florin.db"].map(|name| folder.path().join(name));
        let [public, admin] = [free_address()?, free_address()?];
        std::fs::write(&config, florin_toml(public, admin, gateway, &database))?;
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
        let printed = || std::fs::read_to_string(&log).unwrap_or_default();
        listens(public)
            .await
            .with_context(|| format!("the proxy does not start: {}", printed()))?;
        Ok((server, public))
    }

    /// The sandbox, and the file of its calls.
    pub(crate) async fn start_sandbox(
        program: &Path,
        folder: &TempDir,
    ) -> anyhow::Result<(Self, SocketAddr, PathBuf)> {
        let (address, log) = (free_address()?, folder.path().join("calls.jsonl"));
        let child = Command::new(program)
            .args(["--listen", &address.to_string(), "--api-key", API_KEY])
            .args(["--api-secret", &secret(), "--log"])
            .arg(&log)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("the sandbox cannot be started")?;
        let server = Self(child);
        listens(address)
            .await
            .context("the sandbox does not start")?;
        Ok((server, address, log))
    }

    pub(crate) fn start_bare(file: &Path) -> anyhow::Result<(Self, SocketAddr)> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(BARE)
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

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both do nothing to a program that has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn listens(address: SocketAddr) -> anyhow::Result<()> {
    let listens = async {
        while TcpStream::connect(address).await.is_err() {
            SystemClock.sleep(ASK_EVERY).await;
        }
    };
    Ok(tokio::time::timeout(START_TIMEOUT, listens).await?)
}

fn free_address() -> anyhow::Result<SocketAddr> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

const API_KEY: &str = "key";

fn secret() -> String {
    "0123456789abcdef".repeat(4)
}

pub(crate) fn store_key() -> String {
    format!("sk_{}", secret())
}

/// A store with a product. Its gateway may be away: a status read needs none.
fn florin_toml(
    public: SocketAddr,
    admin: SocketAddr,
    gateway: SocketAddr,
    database: &Path,
) -> String {
    let (key, store_key, database) = (secret(), store_key(), database.display());
    format!(
        r#"listen = "{public}"
admin_listen = "{admin}"
public_url = "http://{public}"
database_url = "sqlite://{database}"
environment = "test"

[rate_limit]
streams_per_order = 10000

[gateway]
url = "http://{gateway}/api"
api_key = "{API_KEY}"
api_secret = "{key}"
callback_token = "{key}1"

[[store]]
id = "demo"
name = "Demo"
origins = ["http://127.0.0.1:9"]
currency = "USD"
secret_key = "{store_key}"

[[store.product]]
sku = "ebook"
title = "E-book"
price = "19.90"
"#
    )
}

pub(crate) async fn open_order(proxy: SocketAddr) -> anyhow::Result<String> {
    let body = json!({ "store": "demo", "product": "ebook" });
    let client = reqwest::Client::new();
    let request = client.post(format!("http://{proxy}/v1/checkout"));
    let opened: Value = request.json(&body).send().await?.json().await?;
    let token = opened["client_token"].as_str();
    Ok(token.with_context(|| opened.to_string())?.to_owned())
}

/// A connection that is kept alive. It parses no more than the status and the length of a response, so that the server is what
/// is measured.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    head: usize,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(8 * 1024),
            head: 0,
        })
    }

    /// Sends a request and reads the whole response, which must have the status 200 and a length.
    pub(crate) async fn exchange(&mut self, request: &str) -> anyhow::Result<()> {
        self.stream.write_all(request.as_bytes()).await?;
        self.buffer.clear();
        loop {
            ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "closed");
            let Some(head) = end_of_head(&self.buffer) else {
                continue;
            };
            let text = std::str::from_utf8(&self.buffer[..head])?;
            ensure!(text.split(' ').nth(1) == Some("200"), "{text}");
            let length = text
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.context("a response without a length")?.parse()?;
            self.head = head + 4;
            while self.buffer.len() < self.head + length {
                ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "closed");
            }
            return Ok(());
        }
    }

    pub(crate) fn body(&self) -> &[u8] {
        &self.buffer[self.head..]
    }

    /// Status and headers too.
    pub(crate) fn response(&self) -> &[u8] {
        &self.buffer
    }
}

fn end_of_head(response: &[u8]) -> Option<usize> {
    response.windows(4).position(|four| four == b"\r\n\r\n")
}
