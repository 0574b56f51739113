//! Requests of the command line to the admin listener of a running proxy: for its health, and to the operator's API.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use florin_checkout_api::is_obeyed;
use florin_proxy::config::{Problems, admin_address, operator_token};
use reqwest::{Method, Response, redirect};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use url::Url;

use crate::commands::runtime;

/// The largest answer that is read: an order with every response of the gateway is far below.
const MAX_ANSWER_BYTES: usize = 32 * 1024 * 1024;

/// How the proxy is reached, and as which operator.
#[derive(Args)]
pub(crate) struct Connection {
    /// The file that holds the operator's token; by default `FLORIN_OPERATOR_TOKEN_FILE` names it, or `FLORIN_OPERATOR_TOKEN` holds the token
    #[arg(long, value_name = "FILE", global = true)]
    token_file: Option<PathBuf>,
    /// The admin listener's address and port; by default `admin_listen` of the configuration
    #[arg(long, value_name = "ADDRESS", global = true)]
    at: Option<SocketAddr>,
    /// How many seconds the proxy may take, 1 to 120
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 30,
        global = true,
        value_parser = clap::value_parser!(u64).range(1..=120)
    )]
    timeout: u64,
}

/// Exit code 2: the arguments, the token or the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unusable(String);

impl From<Problems> for Unusable {
    fn from(problems: Problems) -> Self {
        Self(problems.to_string().trim_end().to_owned())
    }
}

pub(crate) struct OperatorClient {
    runtime: Runtime,
    http: reqwest::Client,
    base: Url,
    token: SecretString,
}

pub(crate) struct AdminResponse {
    pub(crate) text: String,
    pub(crate) value: Value,
}

impl OperatorClient {
    pub(crate) fn new(
        connection: &Connection,
        config: Option<&Path>,
        variables: &BTreeMap<String, String>,
    ) -> anyhow::Result<Self> {
        let token = operator_token(connection.token_file.as_deref(), config, variables);
        let token = token.map_err(Unusable::from)?;
        let address = match connection.at {
            Some(address) => address,
            None => reachable(admin_address(config, variables).map_err(Unusable::from)?),
        };
        Ok(Self {
            runtime: runtime()?,
            http: http_client(connection.timeout)?,
            base: Url::parse(&format!("http://{address}/"))?,
            token,
        })
    }

    pub(crate) fn get(
        &self,
        path: &[&str],
        query: &impl Serialize,
    ) -> anyhow::Result<AdminResponse> {
        let mut url = self.url(path);
        let query = serde_urlencoded::to_string(query).expect("texts and numbers");
        url.set_query(Some(&query));
        self.runtime.block_on(self.send(Method::GET, url, None))
    }

    pub(crate) fn post(
        &self,
        path: &[&str],
        body: Option<&Value>,
    ) -> anyhow::Result<AdminResponse> {
        let url = self.url(path);
        self.runtime.block_on(self.send(Method::POST, url, body))
    }

    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        url.path_segments_mut()
            .expect("an http address has a path")
            .clear()
            .push("api")
            .extend(path);
        url
    }

    async fn send(
        &self,
        method: Method,
        url: Url,
        body: Option<&Value>,
    ) -> anyhow::Result<AdminResponse> {
        let changes_something = method != Method::GET;
        let token = self.token.expose_secret();
        let mut request = self.http.request(method, url).bearer_auth(token);
        if let Some(body) = body {
            request = request.json(body);
        }
        let sent = request.send().await;
        let mut response = sent.map_err(|error| self.unanswered(&error, changes_something))?;
        let text = read_bounded(&mut response).await;
        let text = text.map_err(|reason| anyhow!("the proxy's response ends early: {reason}"))?;
        let kind = response.headers().get(reqwest::header::CONTENT_TYPE);
        let is_csv = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/csv"));
        let value: Option<Value> = if is_csv {
            Some(Value::Null)
        } else {
            serde_json::from_str(&text).ok()
        };
        match value {
            Some(value) if response.status().is_success() => Ok(AdminResponse { text, value }),
            value => Err(refusal(response.status().as_u16(), value.as_ref())),
        }
    }

    fn unanswered(&self, error: &reqwest::Error, changes_something: bool) -> anyhow::Error {
        let address = self.base.as_str().trim_end_matches('/');
        let address = address.trim_start_matches("http://");
        if error.is_connect() {
            return anyhow!(
                "no proxy answers at {address}, its admin_listen: is it running, and with this configuration?"
            );
        }
        let what = if error.is_timeout() {
            "does not answer in time: allow more with --timeout"
        } else {
            "ends the connection without a response"
        };
        let doubt = if changes_something {
            ". It may have been done all the same: `florin-proxy orders show` has the audit log of an order"
        } else {
            ""
        };
        anyhow!("the proxy at {address} {what}{doubt}")
    }
}

async fn read_bounded(response: &mut Response) -> Result<String, String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| error.to_string())? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_ANSWER_BYTES {
            return Err(format!("it has more than {MAX_ANSWER_BYTES} bytes"));
        }
    }
    String::from_utf8(body).map_err(|_| "it is no text".to_owned())
}

fn refusal(status: u16, response: Option<&Value>) -> anyhow::Error {
    let error = |name: &str| {
        let member = response.and_then(|response| response["error"][name].as_str());
        member.map(visible)
    };
    let Some((code, message)) = error("code").zip(error("message")) else {
        return anyhow!(
            "no response of the operator's API (status {status}): is another program at this address, or an older version?"
        );
    };
    match code.as_str() {
        "unauthorized" => anyhow!(
            "the proxy knows no operator with this token: compare it with `token` of [[operator]] in the proxy's \
             configuration"
        ),
        "order_changed" => anyhow!(
            "{message}. Nothing was done: read it again with `florin-proxy orders show`, then decide"
        ),
        "invalid_request" => Unusable(message).into(),
        _ => anyhow!(message),
    }
}

/// A text of a customer, store or gateway without what a terminal obeys: control characters and changes of direction.
pub(crate) fn visible(text: &str) -> String {
    text.chars()
        .map(|c| if is_obeyed(c) { '\u{fffd}' } else { c })
        .collect()
}

/// Escapes what a terminal obeys in a JSON text, which has such characters within strings alone.
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if is_obeyed(c) && c != '\n' {
            let _ = write!(escaped, "\\u{:04x}", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Prints a result: lines made of [`visible`] texts, or JSON.
pub(crate) fn print(text: &str) {
    println!("{}", escaped(text.trim_end()));
}

/// What `florin-proxy health` asks, for containers, scripts and people.
#[derive(Args)]
pub(crate) struct Health {
    /// Asks only whether the process answers, not whether it can store orders
    #[arg(long)]
    live: bool,
    /// The admin listener's address and port; by default `admin_listen` of the configuration
    #[arg(long, value_name = "ADDRESS")]
    at: Option<SocketAddr>,
    /// How many seconds it may take, 1 to 60
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=60))]
    timeout: u64,
}

/// Asks the proxy of this machine; `admin_listen` is the configured address.
pub(crate) fn health(
    health: &Health,
    admin_listen: impl FnOnce() -> anyhow::Result<SocketAddr>,
    json: bool,
) -> anyhow::Result<()> {
    let address = match health.at {
        Some(address) => address,
        None => reachable(admin_listen()?),
    };
    let path = if health.live {
        "health/live"
    } else {
        "health/ready"
    };
    let (status, text) = runtime()?
        .block_on(ask(&format!("http://{address}/{path}"), health.timeout))
        .with_context(|| {
            format!(
                "no proxy answers at {address}, its admin_listen: is it running, and with this configuration?"
            )
        })?;
    let report: Value = serde_json::from_str(&text).unwrap_or_default();
    if json {
        println!("{}", json!({"healthy": status == 200, "report": report}));
    }
    if !json && status == 200 {
        let word = if health.live { "alive" } else { "ready" };
        println!("The proxy is {word}.");
    }
    if !json {
        for condition in report["conditions"].as_array().into_iter().flatten() {
            println!("{}", line(condition));
        }
    }
    if status != 200 {
        bail!("the proxy is not ready: {}", reason(status, &report));
    }
    Ok(())
}

/// A proxy that listens on all addresses is asked on this machine's own.
fn reachable(address: SocketAddr) -> SocketAddr {
    let loopback = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(loopback, address.port())
}

fn http_client(timeout_seconds: u64) -> reqwest::Result<reqwest::Client> {
    // Fails when it is installed already, which is the aim.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .timeout(Duration::from_secs(timeout_seconds))
        // A container without certificates can ask its own proxy.
        .tls_certs_only([])
        .build()
}

async fn ask(url: &str, timeout_seconds: u64) -> anyhow::Result<(u16, String)> {
    let response = http_client(timeout_seconds)?.get(url).send().await?;
    Ok((response.status().as_u16(), response.text().await?))
}

fn line(condition: &Value) -> String {
    let text = |name: &str| condition[name].as_str().unwrap_or_default();
    let (title, detail, sentence) = (text("title"), text("detail"), text("sentence"));
    let gap = if detail.is_empty() { "" } else { " " };
    format!("{title}: {detail}{gap}{sentence} ({})", text("page"))
}

fn reason(status: u16, report: &Value) -> String {
    if report["ending"] == true {
        return "it is shutting down".to_owned();
    }
    if let Some(reason) = report["database_reason"].as_str() {
        return format!("the database fails: {reason}");
    }
    if report["gateway"]["pause_excessive"] == true {
        let seconds = &report["gateway"]["pause_seconds"];
        return format!("the gateway asks for a pause of {seconds} seconds");
    }
    format!("it answered with status {status}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_not_printed() {
        assert_eq!(
            visible("a\u{1b}[2Jb\u{9b}c\u{202e}d\u{2066}é\n"),
            "a\u{fffd}[2Jb\u{fffd}c\u{fffd}d\u{fffd}é\u{fffd}"
        );
        assert_eq!(
            escaped("{\n\"a\u{202e}\u{9b}é\"}"),
            "{\n\"a\\u202e\\u009bé\"}"
        );
    }

    #[test]
    fn a_proxy_on_all_addresses_is_asked_on_loopback() {
        for (listens, asked) in [
            ("0.0.0.0:9090", "127.0.0.1:9090"),
            ("[::]:9090", "[::1]:9090"),
            ("10.0.0.7:9090", "10.0.0.7:9090"),
        ] {
            let listens: SocketAddr = listens.parse().unwrap();
            assert_eq!(reachable(listens).to_string(), asked);
        }
    }
}
