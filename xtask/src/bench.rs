//! `cargo xtask bench` and `simulate`: promised numbers, measured on this machine.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use xshell::cmd;

use crate::bundle::{self, Variant};
use crate::workspace::Workspace;
use crate::{budget, demo, output, tools};

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Instead: kill the proxy N times while customers buy, and audit what it leaves
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    kills: Option<u64>,
    /// The seed of customers and kills
    #[arg(long, value_name = "N", requires = "kills")]
    seed: Option<u64>,
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

/// Kibibytes that the idle proxy may occupy.
const RESIDENT_KIB: u64 = 20 * 1024;
/// How long it may take from its start until it answers.
const LISTENING: Duration = Duration::from_millis(100);
/// How often it is started; the median counts.
const STARTS: usize = 10;
/// After this time its start is over and its workers have run once.
const IDLE_AFTER: Duration = Duration::from_secs(3);
/// A proxy that does not answer by then has failed.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Measures and prints.
///
/// # Errors
/// A promise is broken, or something cannot be built or started.
pub(crate) fn run(workspace: &Workspace, args: &BenchArgs) -> anyhow::Result<()> {
    tools::set_up(workspace)?;
    bundle::make(workspace, Variant::Release)?;
    bundle::build_proxy(workspace, Variant::Release)?;
    if let Some(kills) = args.kills {
        return kill(workspace, kills, args.seed.unwrap_or(1));
    }
    let folder = workspace.sh.create_temp_dir()?;
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        starts.push(Proxy::start(workspace, folder.path())?.1);
    }
    starts.sort_unstable();
    let resident = resident_kib(workspace, folder.path())?;
    let (median, fastest, slowest) = (starts[STARTS / 2], starts[0], starts[STARTS - 1]);
    let line = |what: &str, measured: &str, promised: &str| {
        format!("  {what:<46}{measured:>14}{promised:>14}")
    };
    println!(
        "\n{}",
        output::bold(&line("the proxy's release", "measured", "promised"))
    );
    let range = format!(
        "start to first answer, median of {STARTS} ({}–{})",
        fastest.as_millis(),
        slowest.as_millis()
    );
    let ms = |time: Duration| format!("{} ms", time.as_millis());
    println!(
        "{}",
        line(&range, &ms(median), &format!("≤ {}", ms(LISTENING)))
    );
    println!(
        "{}\n",
        line(
            "resident when idle",
            &format!("{resident} KiB"),
            &format!("≤ {RESIDENT_KIB} KiB")
        )
    );
    let mut broken = Vec::new();
    if median > LISTENING || resident > RESIDENT_KIB {
        broken.push("the proxy is slower to start or larger than promised");
    }
    if budget::check(workspace, Variant::Release).is_err() {
        broken.push("the widget is larger than promised");
    }
    if commits(workspace, folder.path()).is_err() {
        broken.push("sharing commits is slower than promised");
    }
    if poll_plan(workspace).is_err() {
        broken.push("the polls of fewer orders than promised fit the gateway's limits");
    }
    if watched_orders(workspace, "reads").is_err() {
        broken.push("status reads are slower than promised");
    }
    if watched_orders(workspace, "streams").is_err() {
        broken.push("event streams cost more than promised");
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
fn kill(workspace: &Workspace, kills: u64, seed: u64) -> anyhow::Result<()> {
    output::step("Building the kill campaign and its auditor…");
    let programs =
        "--package auditor --package florin-tests --bin kill-campaign --bin florin-auditor";
    workspace
        .cargo(&format!("build --locked --quiet {programs}"))
        .run()?;
    let program = |name| workspace.debug_program(name);
    let (campaign, auditor) = (program("kill-campaign"), program("florin-auditor"));
    let (kills, seed) = (kills.to_string(), seed.to_string());
    let proxy = proxy(workspace);
    Ok(cmd!(
        workspace.sh,
        "{campaign} --kills {kills} --seed {seed} --proxy {proxy} --auditor {auditor}"
    )
    .run()?)
}

/// Measures how long a customer waits for the checkout, and for its peers, by the program `first-view` of `tests`.
fn first_view(workspace: &Workspace) -> anyhow::Result<()> {
    tools::install_for_tests(workspace)?;
    let (sh, peers) = (&workspace.sh, workspace.target.join("peers"));
    let modules = tools::npm(workspace, "tests/peers")?.join("node_modules");
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

/// Simulates how many orders per day ten requests per second carry, beside the plan before.
fn poll_plan(workspace: &Workspace) -> anyhow::Result<()> {
    output::step("Building the simulation of polls…");
    let example = "run --locked --quiet --release --package florin-orders --features fixtures --example poll_plan";
    Ok(workspace.cargo(example).run()?)
}

/// Measures what open pages cost, beside a bare router that returns the same bytes: `reads` or `streams`.
fn watched_orders(workspace: &Workspace, what: &str) -> anyhow::Result<()> {
    output::step("Building the benchmark of open pages…");
    let example = "run --locked --quiet --release --package florin-proxy --example watched-orders";
    let (example, proxy) = (workspace.cargo(example), proxy(workspace));
    Ok(example.args(["--", what]).arg(proxy).run()?)
}

fn proxy(workspace: &Workspace) -> std::path::PathBuf {
    workspace.target.join("release/florin-proxy")
}

/// Resident KiB of an idle proxy. Source: proc(5), `VmRSS` of `/proc/pid/status`.
fn resident_kib(workspace: &Workspace, folder: &Path) -> anyhow::Result<u64> {
    let (proxy, _) = Proxy::start(workspace, folder)?;
    thread::sleep(IDLE_AFTER);
    let path = format!("/proc/{}/status", proxy.0.id());
    let status = fs::read_to_string(&path)
        .with_context(|| format!("{path} cannot be read: this number needs Linux"))?;
    let resident = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    resident
        .and_then(|kib| kib.parse().ok())
        .with_context(|| format!("{path} has no VmRSS"))
}

/// A proxy's release, running. Dropping it kills it.
struct Proxy(Child);

impl Proxy {
    /// Starts it on free ports and waits until it serves the loader; returns how long that took. The first start in a
    /// folder creates the database.
    fn start(workspace: &Workspace, folder: &Path) -> anyhow::Result<(Self, Duration)> {
        let port = demo::free_port_base().context("no ports are free")?;
        let (log, config) = (folder.join("proxy.log"), folder.join("florin.toml"));
        let mut file = File::options()
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o600)
            .open(&config)?;
        file.write_all(florin_toml(port, folder).as_bytes())?;
        let mut command = Command::new(proxy(workspace));
        command
            .arg("--config")
            .arg(config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log)?);
        let time = output::stopwatch();
        let mut proxy = Self(command.spawn().context("the proxy cannot be started")?);
        while !serves_the_loader(port) {
            if proxy.0.try_wait()?.is_some() || time() > START_TIMEOUT {
                bail!(
                    "the proxy does not answer: {}",
                    fs::read_to_string(log).unwrap_or_default()
                );
            }
            thread::sleep(Duration::from_micros(200));
        }
        Ok((proxy, time()))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // Both do nothing to a program that has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serves_the_loader(port: u16) -> bool {
    let ask = || -> std::io::Result<[u8; 12]> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(Duration::from_millis(500)))?;
        write!(
            stream,
            "GET /florin.js HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
        )?;
        let mut status = [0; 12];
        stream.read_exact(&mut status)?;
        Ok(status)
    };
    ask().is_ok_and(|status| status == *b"HTTP/1.1 200")
}

/// A store whose gateway is away.
fn florin_toml(port: u16, folder: &Path) -> String {
    let (admin, gateway, key) = (port + 1010, port + 10, "0123456789abcdef".repeat(4));
    let database = folder.join("florin.db");
    format!(
        r#"listen = "127.0.0.1:{port}"
admin_listen = "127.0.0.1:{admin}"
public_url = "http://127.0.0.1:{port}"
database_url = "sqlite://{}"
environment = "test"

[gateway]
url = "http://127.0.0.1:{gateway}/api"
api_key = "key"
api_secret = "{key}"
callback_token = "{key}1"

[[store]]
id = "demo"
name = "Demo"
origins = ["http://127.0.0.1:{gateway}"]
currency = "USD"
secret_key = "sk_{key}"
return_url = "http://127.0.0.1:{gateway}/thanks"
support_url = "mailto:help@shop.example"
"#,
        database.display()
    )
}
