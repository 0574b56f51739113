//! `cargo xtask bench` and `simulate`: promised numbers, measured on this machine.

use std::path::Path;

use anyhow::ensure;
use clap::Args;
use florin_setup::{Workspace, output};
use xshell::cmd;

use crate::bundle::{self, Variant};

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Instead: kill the proxy N times while customers buy, and audit what it leaves
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    kills: Option<u64>,
    /// The seed of customers and kills
    #[arg(long, value_name = "N", requires = "kills")]
    seed: Option<u64>,
    /// Kill N times among this many proxies on one PostgreSQL, and its primary
    #[arg(long, value_name = "COUNT", requires = "kills", requires = "database", value_parser = clap::value_parser!(u64).range(2..=8))]
    replicas: Option<u64>,
    /// The database of --replicas
    #[arg(long, value_enum, requires = "replicas")]
    database: Option<SharedDatabase>,
    /// Begin no kill of --replicas after this many minutes
    #[arg(long, value_name = "N", requires = "replicas")]
    minutes: Option<u64>,
}

/// A database that several proxies share.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum SharedDatabase {
    /// A server of the distribution's packages, in a temporary folder
    Postgres,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    /// How many orders
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) orders: u64,
    /// The seed of customers and faults [default: a new one each time]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

/// Measures and prints.
///
/// # Errors
/// A promise is broken, or something cannot be built or started.
pub(crate) fn run(workspace: &Workspace, args: &BenchArgs) -> anyhow::Result<()> {
    florin_setup::set_up(workspace)?;
    bundle::make(workspace, Variant::Release)?;
    bundle::build_proxy(workspace, Variant::Release)?;
    if let Some(kills) = args.kills {
        return kill(workspace, kills, args);
    }
    florin_setup::install_postgresql(workspace, "proxies on it are measured")?;
    let folder = workspace.sh.create_temp_dir()?;
    let mut broken = Vec::new();
    if idle_proxy(workspace).is_err() {
        broken.push("the proxy is slower to start or larger than promised");
    }
    if bundle::check_sizes(workspace, Variant::Release).is_err() {
        broken.push("the widget is larger than promised");
    }
    if commits(workspace, folder.path()).is_err() {
        broken.push("sharing commits is slower than promised");
    }
    if stored_replicas(workspace, folder.path()).is_err() {
        broken.push("three processes on PostgreSQL are slower than promised");
    }
    if poll_plan(workspace).is_err() {
        broken.push("the polls of fewer orders than promised fit the gateway's limits");
    }
    if order_flood(workspace).is_err() {
        broken.push("a store learns of a payment later than promised while orders are flooded");
    }
    if watched_orders(workspace, "public").is_err() {
        broken.push("a public address costs more than promised");
    }
    if watched_orders(workspace, "reads").is_err() {
        broken.push("status reads are slower than promised");
    }
    if metrics_cost(workspace).is_err() {
        broken.push("metrics cost more of a status read than promised");
    }
    if watched_orders(workspace, "streams").is_err() {
        broken.push("event streams cost more than promised");
    }
    if watched_orders(workspace, "replicas").is_err() {
        broken.push("a change reaches the pages of other proxies later than promised");
    }
    if watched_orders(workspace, "replica-streams").is_err() {
        broken.push("a change reaches the streams of several proxies later than promised");
    }
    if watchers(workspace).is_err() {
        broken.push("the gateway is called more often for many watchers than for one");
    }
    // It prints what was measured, or why nothing was.
    if first_view(workspace).is_err() {
        broken.push("the checkout comes later than promised, by itself or beside its peers");
    }
    ensure!(broken.is_empty(), "{}", broken.join("; "));
    Ok(())
}

/// Simulates orders by the optimised simulation of the package `tests`.
///
/// # Errors
/// An invariant did not hold: the seed and the command that shows it again are printed. Or the suite does not build.
pub(crate) fn simulate(workspace: &Workspace, args: &SimulateArgs) -> anyhow::Result<()> {
    let simulation = workspace
        .cargo(
            "test --locked --quiet --profile simulation --package florin-tests --test simulation",
        )
        .env("FLORIN_SIM_ORDERS", args.orders.to_string());
    let seed = args.seed.map(|seed| ("FLORIN_SIM_SEED", seed.to_string()));
    Ok(simulation.envs(seed).run()?)
}

/// Kills the proxy's release again and again while customers buy, and runs the auditor on the result.
fn kill(workspace: &Workspace, kills: u64, args: &BenchArgs) -> anyhow::Result<()> {
    let mut replicas = Vec::new();
    if let (Some(count), Some(SharedDatabase::Postgres)) = (args.replicas, args.database) {
        florin_setup::install_postgresql(workspace, "the proxies share a PostgreSQL")?;
        replicas.extend(["--replicas".to_owned(), count.to_string()]);
    }
    if let Some(minutes) = args.minutes {
        replicas.extend(["--minutes".to_owned(), minutes.to_string()]);
    }

    output::step("Building the kill campaign and its auditor…");
    let programs =
        "--package florin-auditor --package florin-tests --bin kill-campaign --bin florin-auditor";
    workspace
        .cargo(&format!("build --locked --quiet {programs}"))
        .run()?;
    let program = |name| workspace.debug_program(name);
    let (campaign, auditor) = (program("kill-campaign"), program("florin-auditor"));
    let (kills, seed) = (kills.to_string(), args.seed.unwrap_or(1).to_string());
    let proxy = proxy(workspace);
    Ok(cmd!(
        workspace.sh,
        "{campaign} --kills {kills} --seed {seed} {replicas...} --proxy {proxy} --auditor {auditor}"
    )
    .run()?)
}

/// Measures the proxy's start and its memory by the program `idle-proxy` of `tests`.
fn idle_proxy(workspace: &Workspace) -> anyhow::Result<()> {
    output::step("Building the program that measures the idle proxy…");
    workspace
        .cargo("build --locked --quiet --package florin-tests --bin idle-proxy")
        .run()?;
    let (idle_proxy, proxy) = (workspace.debug_program("idle-proxy"), proxy(workspace));
    Ok(cmd!(workspace.sh, "{idle_proxy} --proxy {proxy}").run()?)
}

/// Measures how late a store learns of a payment during a flood of unpaid orders, by the program `order-flood` of `tests`.
fn order_flood(workspace: &Workspace) -> anyhow::Result<()> {
    output::step("Building the flood of orders…");
    workspace
        .cargo("build --locked --quiet --package florin-tests --bin order-flood")
        .run()?;
    let (order_flood, proxy) = (workspace.debug_program("order-flood"), proxy(workspace));
    Ok(cmd!(workspace.sh, "{order_flood} --proxy {proxy}").run()?)
}

/// Measures how long a customer waits for the checkout, and for its peers, by the program `first-view` of `tests`.
fn first_view(workspace: &Workspace) -> anyhow::Result<()> {
    florin_setup::install_for_tests(workspace)?;
    let (sh, peers) = (&workspace.sh, workspace.target.join("peers"));
    let modules = florin_setup::npm(workspace, "tests/peers")?.join("node_modules");
    output::step("Bundling the peers…");
    cmd!(sh, "node tests/peers/bundle.mjs {modules} {peers}")
        .env_remove("NODE_OPTIONS")
        .quiet()
        .run()?;
    output::step("Building the program that measures…");
    workspace
        .cargo("build --locked --quiet --package florin-tests --bin first-view")
        .run()?;
    let (first_view, proxy) = (workspace.debug_program("first-view"), proxy(workspace));
    Ok(cmd!(sh, "{first_view} --proxy {proxy} --peers {peers}").run()?)
}

/// Measures orders per second with sixteen writers, beside the same with a commit for each order.
fn commits(workspace: &Workspace, folder: &Path) -> anyhow::Result<()> {
    output::step("Building the benchmark of commits…");
    let example = "run --locked --quiet --release --package florin-storage --example commits --";
    Ok(workspace.cargo(example).arg(folder).run()?)
}

/// Measures orders, paid orders and leases per second with processes on PostgreSQL, beside one with a file.
fn stored_replicas(workspace: &Workspace, folder: &Path) -> anyhow::Result<()> {
    output::step("Building the benchmark of PostgreSQL…");
    let example = "run --locked --quiet --release --package florin-storage --example replicas --";
    Ok(workspace.cargo(example).arg(folder).run()?)
}

/// Simulates how many orders per day ten requests per second carry, beside the plan before.
fn poll_plan(workspace: &Workspace) -> anyhow::Result<()> {
    output::step("Building the simulation of polls…");
    let example = "run --locked --quiet --release --package florin-orders --features fixtures --example poll_plan";
    Ok(workspace.cargo(example).run()?)
}

/// Measures what open pages cost, beside a bare router that returns the same bytes (`reads`, `streams`), across proxies on one
/// PostgreSQL (`replicas`, `replica-streams`), and what public addresses cost (`public`).
fn watched_orders(workspace: &Workspace, what: &str) -> anyhow::Result<()> {
    output::step("Building the benchmark of open pages…");
    let example = "run --locked --quiet --release --package florin-proxy --example watched-orders";
    let (example, proxy) = (workspace.cargo(example), proxy(workspace));
    Ok(example.args(["--", what]).arg(proxy).run()?)
}

/// Counts the calls of the gateway, the sandbox, for an order with one watcher and for one with 10,000.
fn watchers(workspace: &Workspace) -> anyhow::Result<()> {
    output::step("Building the sandbox…");
    workspace
        .cargo("build --locked --quiet --package florin-sandbox")
        .run()?;
    let example = "run --locked --quiet --release --package florin-proxy --example watched-orders";
    let (example, proxy) = (workspace.cargo(example), proxy(workspace));
    let sandbox = workspace.debug_program("florin-sandbox");
    Ok(example
        .args(["--", "watchers"])
        .arg(proxy)
        .arg(sandbox)
        .run()?)
}

/// Measures what metrics cost of a status read.
fn metrics_cost(workspace: &Workspace) -> anyhow::Result<()> {
    output::step("Building the benchmark of metrics…");
    let example = "run --locked --quiet --release --package florin-proxy --example metrics-cost";
    Ok(workspace.cargo(example).run()?)
}

fn proxy(workspace: &Workspace) -> std::path::PathBuf {
    workspace.target.join("release/florin-proxy")
}
