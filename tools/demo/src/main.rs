//! `florin-demo`: the sandbox, the proxy, the demo shop and the tour, on this machine's loopback address.
//!
//! The proxy is a process of the same program; with `--replicas` there are several, on a PostgreSQL that it starts.
//!
//! `cargo xtask demo` builds and runs it. Everything that the three know of each other is drawn at the start and is gone
//! with the folder of the run. It takes no setting from the environment.

mod chain;
mod proxies;
mod settings;
mod terminal;
mod tour;

use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use clap::Parser;
use florin_proxy::Listeners;
use florin_servers::PostgresServer;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::chain::Chains;
use self::proxies::Replicas;
use self::settings::{Ports, Secrets};
use self::terminal::{kill_by_number, open_browser, print_chains, print_places, print_welcome};
use self::tour::Tour;

/// How long everything may take to shut down; a browser may hold an event stream open.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs the sandbox, the proxy and a demo shop until Ctrl-C. No real money moves.
#[derive(Parser)]
#[command(name = "florin-demo")]
struct Args {
    /// The proxy's port. The shop takes the next one, the sandbox 10 above, the admin listener 1010 above
    #[arg(long, default_value_t = 8080, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64525))]
    port_base: u16,
    /// Where the proxy keeps its orders [default: SQLite in the demo's folder]
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
    /// Runs so many proxies behind one address, on a PostgreSQL that is started for them unless --database-url names one
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=9))]
    replicas: u8,
    /// Runs one of several proxies with this configuration until standard input ends
    #[arg(
        long,
        hide = true,
        value_name = "FILE",
        requires = "listen",
        requires = "admin_listen"
    )]
    serve: Option<PathBuf>,
    #[arg(long, hide = true)]
    listen: Option<String>,
    #[arg(long, hide = true)]
    admin_listen: Option<String>,
    /// The program anvil: starts it and litecoind, the gateway on them in place of the sandbox, and a shop's page with a
    /// wallet that pays on them
    #[arg(long, value_name = "PROGRAM")]
    anvil: Option<PathBuf>,
    /// An existing folder for configuration, database and log, which is kept [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// A program to run beside the demo; the demo ends with it, with its exit code. It finds the secrets in its environment
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let ended = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("the runtime cannot start")
        .and_then(|runtime| runtime.block_on(run(args)));
    match ended {
        Ok(code) => code,
        Err(error) => {
            eprintln!("\nThe demo stopped: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(mut args: Args) -> anyhow::Result<ExitCode> {
    // Fails when it is installed already, which is the aim.
    let _ = rustls::crypto::ring::default_provider().install_default();
    if let Some(config) = args.serve.take() {
        let [listen, admin] = [args.listen, args.admin_listen].map(Option::unwrap_or_default);
        proxies::run_replica(config, &listen, &admin).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let ports = Ports::from_base(args.port_base);
    let mut temporary = None;
    let folder = if let Some(folder) = &args.folder {
        folder.as_path()
    } else {
        // It holds secrets.
        let private = Permissions::from_mode(0o700);
        let made = tempfile::Builder::new()
            .prefix("florin-")
            .permissions(private)
            .tempdir();
        let made = made.context("the temporary folder cannot be created; set TMPDIR")?;
        temporary.insert(made).path()
    };
    let log = folder.join("florin.log");
    log_to(&log)?;
    let secrets = Secrets::generate();
    let shutdown = CancellationToken::new();
    cancel_on_signal(shutdown.clone())?;

    let mut running = Running(JoinSet::new());
    let mut result = serve(&args, ports, folder, &secrets, &shutdown, &mut running).await;
    shutdown.cancel();
    if tokio::time::timeout(SHUTDOWN_TIMEOUT, running.join())
        .await
        .is_err()
    {
        tracing::warn!("open connections were cut");
    }
    if result.is_err() {
        result = result.with_context(|| format!("its logs are in {}", folder.display()));
        // Logs that are needed stay.
        if let Some(folder) = temporary.take() {
            let _ = folder.keep();
        }
    }
    result
}

/// Starts the three and waits for a signal, for the command's end, or for a failure.
async fn serve(
    args: &Args,
    ports: Ports,
    folder: &Path,
    secrets: &Secrets,
    shutdown: &CancellationToken,
    running: &mut Running,
) -> anyhow::Result<ExitCode> {
    let database = DemoDatabase::prepare(args).await?;
    let url = database.url.as_deref();
    let toml = settings::florin_toml(ports, secrets, folder, url, args.anvil.is_some());
    let config = folder.join("florin.toml");
    write_private(&config, &toml)
        .with_context(|| format!("{} cannot be written", config.display()))?;

    let shop = bind(ports.shop).await?;
    let chains = match &args.anvil {
        Some(anvil) => Some(Chains::start(anvil, ports).await?),
        None => None,
    };
    if let Some(chains) = &chains {
        let (listener, litecoin) = (bind(ports.wallet).await?, chains.litecoin.clone());
        let page = chain::page(listener, ports, litecoin, shutdown.clone());
        running.start("page with the wallet", page);
        let gateway = chains.gateway(ports, secrets, folder)?;
        let gateway = florin_gateway::server::serve_until(gateway, shutdown.clone());
        running.start("gateway", gateway);
    } else {
        let sandbox = bind(ports.sandbox).await?;
        let settings = florin_sandbox::Settings {
            // With --folder, the orders of an earlier run are still open.
            state_file: Some(folder.join("sandbox.db")),
            ..secrets.sandbox(ports)
        };
        let sandbox = florin_sandbox::run(sandbox, settings, shutdown.clone());
        running.start("sandbox", sandbox);
    }
    let replicas = start_proxies(args, config, folder, ports, shutdown, running).await?;
    // It pays in the sandbox.
    if chains.is_none() {
        let tour = Tour::new(ports, secrets, replicas.clone())?;
        let tour = tour.serve(bind(ports.tour()).await?, shutdown.clone());
        running.start("tour", tour);
    }
    let shop_settings = secrets.shop(ports);
    running.start(
        "shop",
        florin_shop::run(shop, shop_settings, shutdown.clone()),
    );

    let beside = async {
        for admin in admin_ports(replicas.as_deref(), ports) {
            proxies::ready(admin).await?;
        }
        if let Some((program, arguments)) = args.command.split_first() {
            return run_beside(program, arguments, secrets, shutdown).await;
        }
        if let Some(chains) = &chains {
            proxies::offers(ports.proxy).await?;
            print_chains(ports, chains.litecoin.is_some());
        } else {
            print_welcome(ports);
            open_browser(&Tour::address(ports));
        }
        print_places(ports, secrets, folder, database.url.is_some());
        match &replicas {
            Some(replicas) if args.replicas > 1 => kill_by_number(replicas, ports, shutdown).await,
            _ => shutdown.cancelled().await,
        }
        println!("\nStopping…");
        Ok(ExitCode::SUCCESS)
    };
    let result = tokio::select! {
        // A part that ends because of the shutdown has not failed.
        biased;
        result = beside => result,
        error = running.failure() => Err(error),
    };
    if let Some(replicas) = &replicas {
        replicas.stop().await;
    }
    result
}

/// The database of the demo, and the server of PostgreSQL that was started for it; the server ends with it.
struct DemoDatabase {
    /// `None` for a file of SQLite in the demo's folder.
    url: Option<String>,
    _server: Option<PostgresServer>,
}

impl DemoDatabase {
    /// Starts a server where several proxies need one, and brings the schema up to date.
    async fn prepare(args: &Args) -> anyhow::Result<Self> {
        let mut url = args.database_url.clone();
        let mut server = None;
        if args.replicas > 1 && url.is_none() {
            let (started, its_url) = proxies::start_database().await?;
            server = Some(started);
            url = Some(its_url);
        }
        let postgres = url
            .as_deref()
            .filter(|url| florin_storage::is_postgres(url));
        ensure!(
            args.replicas == 1 || postgres.is_some(),
            "several proxies need PostgreSQL: leave --database-url out, or let it name a PostgreSQL database"
        );
        if let Some(url) = postgres {
            let migrated = florin_storage::migrate_postgres(url, "test").await;
            migrated.context("the database cannot be migrated")?;
        }
        Ok(Self {
            url,
            _server: server,
        })
    }
}

/// Starts the proxies, each in a process; beside a command, a single one in this process.
async fn start_proxies(
    args: &Args,
    config: PathBuf,
    folder: &Path,
    ports: Ports,
    shutdown: &CancellationToken,
    running: &mut Running,
) -> anyhow::Result<Option<Arc<Replicas>>> {
    let front = bind(ports.proxy).await?;
    if args.replicas > 1 || args.command.is_empty() {
        let program = std::env::current_exe().context("the demo's own program")?;
        let replicas = Replicas::start(program, args.replicas, &config, folder, ports)?;
        let proxies = replicas
            .numbers()
            .map(|number| std::net::SocketAddr::from((Ipv4Addr::LOCALHOST, ports.replica(number))));
        let forwarding = proxies::forward(front, proxies.collect(), shutdown.clone());
        running.start("listener of the proxies", forwarding);
        return Ok(Some(Arc::new(replicas)));
    }
    let listeners = Listeners {
        public: front,
        admin: bind(ports.admin).await?,
        public_connections: 1_000,
    };
    running.start("proxy", proxies::run(config, listeners, shutdown.clone()));
    Ok(None)
}

fn admin_ports(replicas: Option<&Replicas>, ports: Ports) -> Vec<u16> {
    replicas.map_or_else(
        || vec![ports.admin],
        |replicas| {
            let numbers = replicas.numbers();
            numbers.map(|number| ports.replica_admin(number)).collect()
        },
    )
}

/// Runs a program beside the demo until it ends, and returns its exit code. The shutdown ends it.
async fn run_beside(
    program: &OsStr,
    arguments: &[OsString],
    secrets: &Secrets,
    shutdown: &CancellationToken,
) -> anyhow::Result<ExitCode> {
    let mut command = Command::new(program);
    command.args(arguments);
    command.env("FLORIN_DEMO_SECRET_KEY", &secrets.secret_key);
    command.env("FLORIN_DEMO_CALLBACK_TOKEN", &secrets.callback_token);
    let child = command.spawn();
    let mut child =
        child.with_context(|| format!("{} cannot be run", Path::new(program).display()))?;
    let mut every = tokio::time::interval(Duration::from_millis(50));
    loop {
        every.tick().await;
        if let Some(status) = child.try_wait()? {
            return Ok(if status.success() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            });
        }
        if shutdown.is_cancelled() {
            child.kill()?;
        }
    }
}

struct Running(JoinSet<(&'static str, anyhow::Result<()>)>);

impl Running {
    fn start(
        &mut self,
        name: &'static str,
        part: impl Future<Output = anyhow::Result<()>> + Send + 'static,
    ) {
        self.0.spawn(async move { (name, part.await) });
    }

    /// Waits until one of them ends, which none does before the shutdown.
    async fn failure(&mut self) -> anyhow::Error {
        match self.0.join_next().await {
            Some(Ok((name, Err(error)))) => error.context(format!("the {name} failed")),
            Some(Ok((name, Ok(())))) => anyhow::anyhow!("the {name} ended"),
            Some(Err(panic)) => anyhow::Error::new(panic),
            None => std::future::pending().await,
        }
    }

    async fn join(&mut self) {
        while self.0.join_next().await.is_some() {}
    }
}

async fn bind(port: u16) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    listener.with_context(|| {
        format!("port {port} cannot be opened: stop the program that has it, or choose another --port-base")
    })
}

/// The proxy refuses secrets in a file that others can read.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = File::options()
        .create(true)
        .write(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(text.as_bytes())
}

/// Everything is logged to one file, panics too.
fn log_to(path: &Path) -> anyhow::Result<()> {
    let file =
        File::create(path).with_context(|| format!("{} cannot be created", path.display()))?;
    let log = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(Arc::new(file));
    let Ok(()) = log.try_init() else {
        bail!("another log is in use")
    };
    std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
    Ok(())
}

/// Ctrl-C, SIGTERM and a closed terminal shut everything down; a second signal ends the process at once.
fn cancel_on_signal(shutdown: CancellationToken) -> anyhow::Result<()> {
    let signal = |kind| signal(kind).context("signals cannot be handled");
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        loop {
            tokio::select! { _ = interrupt.recv() => {} _ = terminate.recv() => {} _ = hangup.recv() => {} }
            if shutdown.is_cancelled() {
                std::process::exit(130);
            }
            shutdown.cancel();
        }
    });
    Ok(())
}
