//! The servers that are measured: the proxy's release, and a bare axum router with the same bytes.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::{get, post};
use futures_util::stream::unfold;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A proxy that does not listen by then has failed.
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// How often the bare streams send a comment: as often as the proxy's.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The token whose streams get an event for each change of the bare router.
pub(crate) const CHANGING: &str = "changing";

/// The bare router: the same bytes, nothing else. A POST sends them to the streams of one token.
pub(crate) async fn serve(file: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(file)?;
    let bytes = axum::body::Bytes::from(text.clone());
    let changes = watch::Sender::new(());
    let read = move || async move { ([(CONTENT_TYPE, "application/json")], bytes) };
    let (subscribed, quiet) = (changes.clone(), watch::Sender::new(()));
    let stream = move |headers: HeaderMap| async move {
        let token = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
        let is_changing = token.is_some_and(|token| token.ends_with(CHANGING.as_bytes()));
        let changes = if is_changing { &subscribed } else { &quiet };
        let mut changes = changes.subscribe();
        changes.mark_changed();
        let events = unfold((changes, text), |(mut changes, text)| async move {
            changes.changed().await.ok()?;
            let event = Event::default().event("order").data(&text);
            Some((Ok::<_, Infallible>(event), (changes, text)))
        });
        Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT))
    };
    let change = move || async move {
        changes.send_replace(());
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let routes = Router::new()
        .route("/v1/checkout", get(read))
        .route("/v1/checkout/events", get(stream))
        .route("/v1/checkout/email", post(change));
    Ok(axum::serve(listener, routes).await?)
}

/// A server in its own process. Dropping it kills it.
pub(crate) struct Server(Child);

impl Server {
    /// The proxy without a gateway.
    pub(crate) async fn start_proxy(
        program: &Path,
        folder: &TempDir,
    ) -> anyhow::Result<(Self, SocketAddr)> {
        let nothing = SocketAddr::from(([127, 0, 0, 1], 9));
        Self::start_proxy_with(program, folder, nothing).await
    }

    /// The proxy with a gateway.
    pub(crate) async fn start_proxy_with(
        program: &Path,
        folder: &TempDir,
        gateway: SocketAddr,
    ) -> anyhow::Result<(Self, SocketAddr)> {
        let database_url = format!("sqlite://{}", folder.path().join("florin.db").display());
        Self::start_proxy_on(program, folder, gateway, &database_url).await
    }

    /// The proxy with a gateway and a database.
    pub(crate) async fn start_proxy_on(
        program: &Path,
        folder: &TempDir,
        gateway: SocketAddr,
        database_url: &str,
    ) -> anyhow::Result<(Self, SocketAddr)> {
        let (config, log) = (
            folder.path().join("florin.toml"),
            folder.path().join("proxy.log"),
        );
        let [public, admin] = [free_address()?, free_address()?];
        std::fs::write(&config, florin_toml(public, admin, gateway, database_url))?;
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
            .arg("serve")
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
            tokio::task::yield_now().await;
        }
    };
    Ok(tokio::time::timeout(START_TIMEOUT, listens).await?)
}

/// Time that a process has spent on a core, with the kernel's work for it. Source: proc(5), `utime` and `stime` of
/// `/proc/pid/stat`, in ticks of 10 ms.
pub(crate) fn processor_time(process: u32) -> anyhow::Result<Duration> {
    let path = format!("/proc/{process}/stat");
    let stat = std::fs::read_to_string(&path)
        .with_context(|| format!("{path} cannot be read: this number needs Linux"))?;
    let (_, fields) = stat.rsplit_once(')').context("a name in parentheses")?;
    let mut fields = fields.split_whitespace().skip(11);
    let mut ticks = || -> anyhow::Result<u64> { Ok(fields.next().context("too short")?.parse()?) };
    Ok(Duration::from_millis((ticks()? + ticks()?) * 10))
}

/// The same of all processes that this one started, and of those that they started.
pub(crate) fn started_processor_time() -> anyhow::Result<Duration> {
    let mut parents = HashMap::new();
    for entry in std::fs::read_dir("/proc").context("this number needs Linux")? {
        let path = entry?.path();
        let id = path
            .file_name()
            .and_then(|name| name.to_str()?.parse().ok());
        // A process may end meanwhile.
        if let Some(id) = id
            && let Ok(stat) = std::fs::read_to_string(path.join("stat"))
            && let Some((_, fields)) = stat.rsplit_once(')')
        {
            let parent = fields.split_whitespace().nth(1);
            parents.insert(id, parent.and_then(|id| id.parse().ok()));
        }
    }
    let started = |id: u32| {
        let parent = |id: &u32| parents.get(id).copied().flatten();
        let mut ancestors = std::iter::successors(parent(&id), parent);
        ancestors.any(|ancestor| ancestor == std::process::id())
    };
    let started = parents.keys().filter(|id| started(**id));
    Ok(started.filter_map(|id| processor_time(*id).ok()).sum())
}

fn free_address() -> anyhow::Result<SocketAddr> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

const API_KEY: &str = "key";

fn secret() -> String {
    "0123456789abcdef".repeat(4)
}

/// A store with a product. Its gateway may be away: a status read needs none.
fn florin_toml(
    public: SocketAddr,
    admin: SocketAddr,
    gateway: SocketAddr,
    database_url: &str,
) -> String {
    let key = secret();
    format!(
        r#"listen = "{public}"
admin_listen = "{admin}"
public_url = "http://{public}"
database_url = "{database_url}"
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
secret_key = "sk_{key}"

[[store.product]]
sku = "ebook"
title = "E-book"
price = "19.90"
"#
    )
}

/// Opens an order; returns its client token.
pub(crate) async fn open_order(proxy: SocketAddr) -> anyhow::Result<String> {
    let body = json!({ "store": "demo", "product": "ebook" });
    let client = reqwest::Client::new();
    let request = client.post(format!("http://{proxy}/v1/checkout"));
    let opened: Value = request.json(&body).send().await?.json().await?;
    let token = opened["client_token"].as_str();
    Ok(token.with_context(|| opened.to_string())?.to_owned())
}
