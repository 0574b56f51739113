//! `cargo xtask bench` and `simulate`: promised numbers, measured on this machine.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use clap::Args;
use xshell::cmd;

use crate::bundle::{self, Variant};
use crate::workspace::Workspace;
use crate::{output, setup};

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Instead: kill the proxy N times while customers buy, and audit what it leaves
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    kills: Option<u64>,
    /// The seed of customers and kills
    #[arg(long, value_name = "N", requires = "kills")]
    seed: Option<u64>,
    /// Kill N times among this many proxies on one PostgreSQL, and its primary
    #[arg(long, value_name = "COUNT", requires = "kills", value_parser = clap::value_parser!(u64).range(2..=8))]
    replicas: Option<u64>,
    /// Kill florin-gateway on real nodes and its proxy
    #[arg(long, requires = "kills", conflicts_with = "replicas")]
    real_chains: bool,
    /// Begin no kill after this many minutes
    #[arg(long, value_name = "N", requires = "kills")]
    minutes: Option<u64>,
}

const SIMULATED: u64 = 100_000;

#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    /// How many orders, and invoices of the gateway
    #[arg(long, value_name = "N", default_value_t = SIMULATED, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) orders: u64,
    /// The seed of customers and faults [default: a new one each time]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

type Benchmark = (&'static str, fn(&Bench<'_>) -> anyhow::Result<()>);

/// Each prints what it measured beside what is promised, or why it measured nothing.
const BENCHMARKS: [Benchmark; 10] = [
    ("start and memory of the proxy", |bench| bench.proxy("idle")),
    ("size of the widget", |bench| {
        bundle::check_sizes(bench.workspace, Variant::Release)
    }),
    ("shared commits", |bench| {
        bench.example("florin-storage --example commits", &[&bench.folder])
    }),
    ("status reads", |bench| bench.proxy("reads")),
    ("page views", |bench| bench.proxy("views")),
    ("event streams", |bench| bench.proxy("streams")),
    ("calls of the gateway", |bench| bench.proxy("watchers")),
    ("payments on an open page", |bench| bench.proxy("payments")),
    ("first screen, and its peers", first_view),
    ("the gateway on real nodes", gateway_figures),
];

struct Bench<'a> {
    workspace: &'a Workspace,
    /// Databases are made there.
    folder: PathBuf,
    proxy: PathBuf,
}

impl Bench<'_> {
    fn example(&self, package: &str, arguments: &[&Path]) -> anyhow::Result<()> {
        output::step(format!("Building {package}…"));
        let run = format!("run --locked --quiet --release --package {package} --");
        Ok(self.workspace.cargo(&run).args(arguments).run()?)
    }

    fn proxy(&self, what: &str) -> anyhow::Result<()> {
        let sandbox = self.workspace.debug_program("florin-sandbox");
        let arguments = [Path::new(what), &self.proxy, &sandbox];
        self.example("florin-proxy --example bench", &arguments)
    }
}

fn first_view(bench: &Bench<'_>) -> anyhow::Result<()> {
    let workspace = bench.workspace;
    setup::install_for_tests(workspace)?;
    let peers = workspace.target.join("peers");
    let modules = setup::npm(workspace, "tests/peers")?.join("node_modules");
    output::step("Bundling the peers…");
    let sh = &workspace.sh;
    let bundle = cmd!(sh, "node tests/peers/bundle.mjs {modules} {peers}");
    bundle.env_remove("NODE_OPTIONS").quiet().run()?;
    output::step("Building first-view…");
    workspace.build("--package florin-tests --bin first-view")?;
    let (program, proxy) = (workspace.debug_program("first-view"), &bench.proxy);
    Ok(cmd!(sh, "{program} --proxy {proxy} --peers {peers}").run()?)
}

fn gateway_figures(bench: &Bench<'_>) -> anyhow::Result<()> {
    let workspace = bench.workspace;
    setup::install_for_tests(workspace)?;
    output::step("Building florin-gateway and gateway-figures…");
    let release =
        "build --locked --quiet --release --package florin-gateway --package florin-sandbox";
    workspace.cargo(release).run()?;
    workspace.build("--package florin-tests --bin gateway-figures")?;
    let figures = workspace.debug_program("gateway-figures");
    let release = workspace.target.join("release");
    let (gateway, sandbox) = (
        release.join("florin-gateway"),
        release.join("florin-sandbox"),
    );
    let sh = &workspace.sh;
    Ok(cmd!(sh, "{figures} --gateway {gateway} --sandbox {sandbox}").run()?)
}

pub(crate) fn run(workspace: &Workspace, args: &BenchArgs) -> anyhow::Result<()> {
    setup::set_up(workspace)?;
    bundle::make(workspace, Variant::Release)?;
    bundle::build_proxy(workspace, Variant::Release)?;
    let proxy = workspace.target.join("release/florin-proxy");
    if let Some(kills) = args.kills {
        return kill(workspace, &proxy, kills, args);
    }
    workspace.build("--package florin-sandbox")?;
    let folder = workspace.sh.create_temp_dir()?;
    let bench = Bench {
        workspace,
        folder: folder.path().to_owned(),
        proxy,
    };
    let mut broken = Vec::new();
    for (name, measure) in BENCHMARKS {
        output::heading(name);
        if let Err(error) = measure(&bench) {
            output::failed(format!("{error:#}"));
            broken.push(name);
        }
    }
    ensure!(broken.is_empty(), "not as promised: {}", broken.join(", "));
    Ok(())
}

pub(crate) fn simulate(workspace: &Workspace, args: &SimulateArgs) -> anyhow::Result<()> {
    let packages = "--package florin-tests --package florin-gateway --test simulation";
    let test = format!("test --locked --quiet --profile simulation {packages}");
    let simulation = workspace.cargo(&test);
    let simulation = simulation.env("FLORIN_SIM_ORDERS", args.orders.to_string());
    let seed = args.seed.map(|seed| ("FLORIN_SIM_SEED", seed.to_string()));
    Ok(simulation.envs(seed).run()?)
}

pub(crate) fn simulate_many(workspace: &Workspace) -> anyhow::Result<()> {
    let args = SimulateArgs {
        orders: SIMULATED,
        seed: None,
    };
    simulate(workspace, &args)
}

/// Kills a proxy on SQLite and three on PostgreSQL, 5,000 times each, in another way each day.
pub(crate) fn ten_thousand_kills(workspace: &Workspace) -> anyhow::Result<()> {
    bundle::make(workspace, Variant::Release)?;
    bundle::build_proxy(workspace, Variant::Release)?;
    let proxy = workspace.target.join("release/florin-proxy");
    let today = cmd!(workspace.sh, "date +%Y%m%d").quiet().read()?;
    for replicas in [None, Some(3)] {
        let args = BenchArgs {
            kills: Some(5_000),
            seed: Some(today.parse()?),
            replicas,
            minutes: None,
            real_chains: false,
        };
        kill(workspace, &proxy, 5_000, &args)?;
    }
    Ok(())
}

fn kill(workspace: &Workspace, proxy: &Path, kills: u64, args: &BenchArgs) -> anyhow::Result<()> {
    let mut replicas = Vec::new();
    if let Some(count) = args.replicas {
        setup::install_postgresql(workspace, "the proxies share a PostgreSQL")?;
        replicas.extend(["--replicas".to_owned(), count.to_string()]);
    }
    if args.real_chains {
        workspace.build("--package florin-gateway")?;
        let gateway = workspace.debug_program("florin-gateway");
        replicas.extend(["--gateway".to_owned(), gateway.display().to_string()]);
        replicas.extend(["--shards".to_owned(), "1".to_owned()]);
    }
    if let Some(minutes) = args.minutes {
        replicas.extend(["--minutes".to_owned(), minutes.to_string()]);
    }

    output::step("Building the kill campaign…");
    workspace.build("--package florin-tests --bin kill-campaign")?;
    let campaign = workspace.debug_program("kill-campaign");
    let (kills, seed) = (kills.to_string(), args.seed.unwrap_or(1).to_string());
    let options = ["--kills", &kills, "--seed", &seed];
    let campaign = workspace.sh.cmd(campaign).args(options).args(replicas);
    Ok(campaign.arg("--proxy").arg(proxy).run()?)
}
