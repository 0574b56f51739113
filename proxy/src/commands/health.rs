//! `florin-proxy health`: asks a running proxy for its health, for containers, scripts and people.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use serde_json::{Value, json};

use crate::commands::runtime;

/// What is asked.
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
pub(crate) fn run(
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
    let timeout = Duration::from_secs(health.timeout);
    let (status, text) = runtime()?
        .block_on(ask(&format!("http://{address}/{path}"), timeout))
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
pub(crate) fn reachable(address: SocketAddr) -> SocketAddr {
    let loopback = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(loopback, address.port())
}

async fn ask(url: &str, timeout: Duration) -> anyhow::Result<(u16, String)> {
    // Fails when it is installed already, which is the aim.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .no_proxy()
        .timeout(timeout)
        // A container without certificates can ask its own proxy.
        .tls_certs_only([])
        .build()?;
    let response = client.get(url).send().await?;
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
