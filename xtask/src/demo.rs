//! `cargo xtask demo`: builds the widget and the program `florin-demo`, then becomes that program.

use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::{Context as _, bail};
use clap::Args;

use crate::bundle::{self, Variant};
use crate::workspace::Workspace;
use crate::{output, setup};

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The proxy's port; the others follow from it
    #[arg(long, default_value_t = 8080, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64525))]
    port_base: u16,
    /// Where the proxy keeps its orders [default: SQLite in a temporary folder]
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
    /// Runs so many proxies behind one address, on a PostgreSQL that is started for them unless --database-url names one
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=9))]
    replicas: u8,
    /// Runs florin-gateway on nodes of this machine in place of the sandbox, and a page with a wallet that pays on them
    #[arg(long)]
    chain: bool,
}

pub(crate) fn run(workspace: &Workspace, args: &DemoArgs) -> anyhow::Result<()> {
    // First, so that the response does not come after a build.
    check_ports(args.port_base, args.replicas, args.chain)?;
    setup::set_up(workspace)?;
    if args.replicas > 1 && args.database_url.is_none() {
        setup::install_postgresql(workspace, "several proxies share a PostgreSQL")?;
    }
    if !workspace.debug_program("florin-demo").exists() {
        output::step(
            "Building the widget, the proxy, the sandbox and a shop (about 5 minutes the first time)…",
        );
    }
    bundle::make_for_demo(workspace)?;
    let build = "build --locked --package florin-demo";
    bundle::cargo_with(workspace, Variant::Demo, build).run()?;
    let mut demo = Command::new(workspace.debug_program("florin-demo"));
    demo.arg("--port-base").arg(args.port_base.to_string());
    if let Some(url) = &args.database_url {
        demo.arg("--database-url").arg(url);
    }
    demo.arg("--replicas").arg(args.replicas.to_string());
    if args.chain {
        demo.arg("--anvil").arg(setup::anvil(workspace)?);
    }
    // Ctrl-C is for the demo alone: it replaces this program.
    Err(demo.exec()).context("the demo cannot be started")
}

/// A `--port-base` whose ports are all free at this moment.
pub(crate) fn free_port_base() -> Option<u16> {
    let mut bases = (18..60).map(|thousand| thousand * 1000 + 80);
    bases.find(|base| ports(*base, 9, true).all(is_free))
}

fn check_ports(base: u16, replicas: u8, chain: bool) -> anyhow::Result<()> {
    let Some(port) = ports(base, replicas, chain).find(|port| !is_free(*port)) else {
        return Ok(());
    };
    let other = match free_port_base() {
        Some(base) => format!("run `cargo xtask demo --port-base {base}`"),
        None => "choose others with --port-base".to_owned(),
    };
    bail!("port {port} is in use: stop the program that has it, or {other}");
}

/// Those of proxy, shop, tour, sandbox and admin listener, of a wallet's page, its chain and the gateway's own admin listener, and
/// two for each proxy: the same as `Ports` in `tools/demo`.
fn ports(base: u16, replicas: u8, chain: bool) -> impl Iterator<Item = u16> {
    let of_replicas = (1..=u16::from(replicas)).flat_map(|number| [20 + number, 30 + number]);
    let of_chain = [2, 3, 11].into_iter().filter(move |_| chain);
    let offsets = [0, 1, 4, 10, 1010].into_iter().chain(of_chain);
    offsets.chain(of_replicas).map(move |offset| base + offset)
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_use_is_named_with_a_base_that_is_free() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        // As the shop's, since the proxy's neighbours may be in use too.
        let error = check_ports(port - 1, 1, false).unwrap_err().to_string();
        let then = "is in use: stop the program that has it, or run `cargo xtask demo --port-base ";
        assert!(error.contains(then), "{error}");
    }
}
