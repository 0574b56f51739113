//! A chain on this machine, and a shop's page with a wallet that pays on it.

use std::path::Path;

use anyhow::Context as _;
use axum::Router;
use axum::http::header;
use axum::response::Html;
use axum::routing::get;
use florin_servers::{Anvil, test_token};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::settings::Ports;

/// Starts the node, with a block every three seconds and an account that has coins and USDT.
pub(crate) async fn start(program: &Path, ports: Ports) -> anyhow::Result<Anvil> {
    let arguments = ["--chain-id", "11155111", "--block-time", "3"];
    let node = Anvil::start_program(program, ports.chain(), &arguments)?;
    node.put_token(test_token::ADDRESS).await;
    Ok(node)
}

pub(crate) async fn page(
    listener: TcpListener,
    ports: Ports,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let fill = |text: &str| {
        text.replace("{proxy}", &ports.proxy.to_string())
            .replace("{chain}", &ports.chain().to_string())
    };
    let html = fill(include_str!("wallet.html"));
    let script = fill(include_str!("wallet.js"));
    let kind = [(header::CONTENT_TYPE, "text/javascript; charset=utf-8")];
    let routes = Router::new()
        .route("/", get(async move || Html(html)))
        .route("/wallet.js", get(async move || (kind, script)));
    axum::serve(listener, routes)
        .with_graceful_shutdown(shutdown.cancelled_owned())
        .await
        .context("the listener failed")
}
