//! A shard: proxies on one database, with a gateway, a shop, customers and kills.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use florin_servers::{Durability, PostgresServer};
use serde_json::json;
use tokio::sync::broadcast;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::customer::Customers;
use super::drain::drain;
use super::real_gateway::{RealGateway, start_nodes};
use super::replica::Replica;
use super::shop::Shop;
use super::{DATABASE, EVENT_LOG, Remains, SANDBOX_LOG, SHOP_LOG};
use crate::clock::MovableClock;
use crate::counters::Counters;
use crate::program::{Folder, append_to, write_private};
use crate::random::SeededRandom;
use crate::replicas::free_address;
use crate::sandbox_control::SandboxControl;
use crate::tcp_proxy::{Passed, Route, TcpProxy, Traffic};
use crate::wait::{pause, within};
use crate::world;
use crate::world::config::{Addresses, florin_toml};

pub(super) const DATABASE_ON_SERVER: &str = "florin";
const CUSTOMERS: u64 = 10;
/// Longest start on a loaded machine.
pub(super) const READY: Duration = Duration::from_mins(1);
const POLL_EVERY: Duration = Duration::from_millis(5);
const BLOCK_EVERY: Duration = Duration::from_millis(500);
const REAL_BLOCK_EVERY: Duration = Duration::from_secs(1);
/// Blocks of Ethereum for one of Litecoin, whose private network has three hundred left.
const LITECOIN_EVERY: u64 = 8;
const FAULT_EVERY: Duration = Duration::from_millis(1500);
const SLOW_MS: u64 = 400;
/// The sandbox keeps a hundred.
const MAX_WAITING_FAULTS: usize = 20;
/// Longest time until the gateway has seen the last block.
const SEEN: Duration = Duration::from_secs(30);
/// Longest time to read the rest of the list of events.
const LISTED: Duration = Duration::from_secs(30);

/// Kills proxies again and again while customers buy, and audits the evidence.
#[derive(Clone, Debug, clap::Parser)]
#[command(name = "kill-campaign")]
pub struct Options {
    /// Number of kills, over all shards.
    #[arg(long, default_value_t = 500)]
    pub kills: u64,
    /// Databases that are used in parallel, each with its own proxies, gateway, shop and customers.
    #[arg(long, default_value_t = 3)]
    pub shards: u64,
    /// Proxies on one PostgreSQL, in one shard, instead of one on a file in each.
    #[arg(long, value_parser = clap::value_parser!(u64).range(2..=8))]
    pub replicas: Option<u64>,
    /// `florin-gateway` on real nodes, which is killed too, in place of the sandbox.
    #[arg(long, value_name = "FILE")]
    pub gateway: Option<PathBuf>,
    /// No kill is begun after this number of minutes.
    #[arg(long, default_value_t = 600)]
    pub minutes: u64,
    /// Seed of customers, kill plans and faults.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// `florin-proxy`
    #[arg(long, value_name = "FILE")]
    pub proxy: PathBuf,
}

pub(super) struct Shard {
    pub(super) folder: Folder,
    pub(super) counters: Arc<Counters>,
    pub(super) random: SeededRandom,
    pub(super) replicas: Vec<Replica>,
    pub(super) server: Option<PostgresServer>,
    pub(super) real: Option<RealGateway>,
    pub(super) traffic: broadcast::Sender<Passed>,
    pub(super) gateway_link: TcpProxy,
    /// Number of the next disaster.
    pub(super) disasters: usize,
    customers: Customers,
    shop: Shop,
    /// Kept because dropping them closes their connections.
    _other_links: [TcpProxy; 2],
    spare: [SocketAddr; 2],
    is_drained: Arc<AtomicBool>,
    load: JoinSet<()>,
    faults: JoinSet<()>,
    reader: JoinSet<()>,
    gateway: JoinSet<()>,
    shutdown: CancellationToken,
}

impl Shard {
    pub(super) async fn open(number: u64, options: &Options, counters: Arc<Counters>) -> Self {
        let random = SeededRandom::new(options.seed).split(number);
        let folder = Folder::new();
        let server = match options.replicas {
            Some(_) => Some(start_server().await),
            None => None,
        };
        let shutdown = CancellationToken::new();
        let traffic = broadcast::channel(1024).0;
        let (sandbox, mut sandbox_address) = world::bind().await;
        let mut world_config = world::WorldConfig::default();
        let mut nodes = None;
        if options.gateway.is_some() {
            // The gateway binds it again after each kill.
            sandbox_address = free_address();
            let started = start_nodes().await;
            world_config.real_chains = Some(started.0.clone());
            nodes = Some(started);
        }
        let shop_log = folder.file(SHOP_LOG);
        let shop = Shop::open(&shop_log, random.split(1), counters.clone()).await;
        let replicas = 0..options.replicas.unwrap_or(1);
        let free = replicas.map(|_| [free_address(), free_address()]);
        let proxies: Vec<[SocketAddr; 2]> = free.collect();
        let public = proxies.iter().map(|[public, _]| *public).collect();
        let observed = |route| {
            let passed = traffic.clone();
            Some(Traffic { route, passed })
        };
        let front = TcpProxy::balanced(public, observed(Route::Proxy)).await;
        let store = TcpProxy::balanced(vec![shop.address()], observed(Route::Shop)).await;
        // One address for all proxies: the account whose limits they share is named by it.
        let gateway = vec![sandbox_address];
        let gateway_link = TcpProxy::balanced(gateway, observed(Route::Gateway)).await;
        let [public, admin] = proxies[0];
        let addresses = Addresses {
            front: front.address(),
            public,
            admin,
            gateway: gateway_link.address(),
            sandbox: sandbox_address,
            shop: shop.address(),
            webhook: store.address(),
        };
        let config = folder.file("florin.toml");
        let url = url_of(&folder.file(DATABASE));
        write_private(&config, &florin_toml(&addresses, &world_config, &url));
        let mut replicas = Vec::new();
        for (number, addresses) in proxies.into_iter().enumerate() {
            let files = [options.proxy.clone(), config.clone()];
            let replica = replica(&folder, number, files, addresses, server.as_ref());
            replicas.push(replica.await);
        }
        let settings = florin_sandbox::Settings {
            seed: random.draw(),
            log_file: Some(folder.file(SANDBOX_LOG)),
            ..world_config.sandbox(&addresses, MovableClock::default())
        };
        let mut gateway = JoinSet::new();
        let proxy = addresses.proxy_url();
        let real = options.gateway.clone().zip(nodes).map(|(program, nodes)| {
            RealGateway::start(program, nodes, sandbox_address, &proxy, &folder)
        });
        if real.is_none() {
            let serve = florin_sandbox::run(sandbox, settings, shutdown.clone());
            gateway.spawn(async move { serve.await.expect("the sandbox runs to the end") });
        }
        let http = crate::http_response::client().timeout(Duration::from_secs(5));
        let http = http.build().expect("the crypto provider is installed");
        let customers = Customers {
            proxy,
            sandbox: SandboxControl {
                http: http.clone(),
                base: format!("http://{sandbox_address}"),
            },
            http,
            counters: counters.clone(),
            is_closing: Arc::default(),
            chains: world_config.real_chains,
        };
        Self {
            folder,
            counters,
            random,
            replicas,
            server,
            real,
            traffic,
            gateway_link,
            disasters: 0,
            customers,
            shop,
            _other_links: [front, store],
            spare: [free_address(), free_address()],
            is_drained: Arc::default(),
            load: JoinSet::new(),
            faults: JoinSet::new(),
            reader: JoinSet::new(),
            gateway,
            shutdown,
        }
    }

    pub(super) async fn start(&mut self) {
        self.restart_exited().await;
        for number in 0..CUSTOMERS {
            let customers = self.customers.clone();
            self.load
                .spawn(customers.run(self.random.split(100 + number)));
        }
        let (customers, random) = (self.customers.clone(), self.random.split(2));
        self.load.spawn(mine_blocks(customers, random));
        let (customers, random) = (self.customers.clone(), self.random.split(3));
        if self.real.is_none() {
            self.faults.spawn(inject_faults(customers, random));
        }
        let log = append_to(&self.folder.file(EVENT_LOG));
        let (customers, is_drained) = (self.customers.clone(), self.is_drained.clone());
        self.reader.spawn(customers.follow_events(log, is_drained));
    }

    /// Calls the primary, which blocks.
    pub(super) fn call_server<T>(&mut self, call: impl FnOnce(&mut PostgresServer) -> T) -> T {
        let server = self.server.as_mut();
        let server = server.expect("plans without a server need none");
        tokio::task::block_in_place(|| call(server))
    }

    pub(super) fn any_replica(&self) -> usize {
        let at = self.random.below(self.replicas.len() as u64);
        usize::try_from(at).expect("below the length")
    }

    /// A proxy on a file, beside the others and without customers.
    pub(super) fn spare(&self, database: &Path) -> Replica {
        self.replicas[0].beside(self.spare, url_of(database))
    }

    pub(super) async fn wait_for_spare(&self, spare: &Replica) {
        let http = &self.customers.http;
        let ready = within(READY, async || spare.is_ready(http).await.then_some(()));
        let is_ready = ready.await.is_some();
        assert!(is_ready, "it is not ready:\n{}", spare.log_tail());
    }

    pub(super) async fn wait_until_ready(&mut self, at: usize) {
        let reached = async {
            while !self.replicas[at].is_ready(&self.customers.http).await {
                self.restart_exited().await;
                pause(POLL_EVERY).await;
            }
        };
        let reached = tokio::time::timeout(READY, reached).await;
        let tail = self.replicas[at].log_tail();
        assert!(reached.is_ok(), "it is not ready:\n{tail}");
    }

    /// Kills a replica. Returns 1, or 0 if it had exited.
    pub(super) async fn kill_replica(&mut self, at: usize, theme: &'static str, what: &str) -> u64 {
        let has_exited = self.has_exited(at).await;
        self.replicas[at].kill();
        if has_exited {
            return 0;
        }
        self.counters.one(theme, what);
        1
    }

    pub(super) async fn restart_exited(&mut self) {
        for at in 0..self.replicas.len() {
            if self.replicas[at].process.is_none() || self.has_exited(at).await {
                self.replicas[at].start();
            }
        }
    }

    /// Returns `true` if a replica has exited: in order, or because it started without its database server.
    async fn has_exited(&mut self, at: usize) -> bool {
        let replica = &mut self.replicas[at];
        let Some(status) = replica.exit_status() else {
            return false;
        };
        let what = if status.success() {
            "in order before the kill"
        } else {
            replica.expect_refusal(status).await;
            "at the start, without the database"
        };
        self.counters.one("exits", what);
        true
    }

    pub(super) async fn end(mut self) -> Remains {
        for at in 0..self.replicas.len() {
            self.wait_until_ready(at).await;
        }
        self.faults.shutdown().await;
        if self.real.is_none() {
            self.customers.sandbox.clear_faults().await;
        }
        self.customers.clone().run_final(&self.random).await;
        self.customers.is_closing.store(true, Ordering::Relaxed);
        self.shop.accept_all();
        join(&mut self.load).await;
        let database = match &self.server {
            Some(server) => server.url(DATABASE_ON_SERVER),
            None => self.folder.file(DATABASE).display().to_string(),
        };
        let log = self.folder.file(SANDBOX_LOG);
        drain(&self.customers, &database, &log, self.real.as_ref()).await;
        self.is_drained.store(true, Ordering::Relaxed);
        let read = tokio::time::timeout(LISTED, join(&mut self.reader)).await;
        assert!(read.is_ok(), "the list of events has no end");
        for replica in &mut self.replicas {
            replica.stop().await;
        }
        self.shutdown.cancel();
        join(&mut self.gateway).await;
        let mut contradictions = Vec::new();
        if let Some(real) = &self.real {
            let rows = florin_invariants::read_tables(&database).await;
            let attempts = rows.expect("the proxy's database").attempts;
            real.write_log(&log, &attempts).await;
            // The gateway still looks at the chain.
            let agree = async || real.contradictions().await.is_empty().then_some(());
            if within(SEEN, agree).await.is_none() {
                contradictions = real.contradictions().await;
            }
        }
        Remains {
            folder: self.folder,
            server: self.server,
            contradictions,
        }
    }
}

async fn mine_blocks(customers: Customers, random: SeededRandom) {
    let mut blocks = 0;
    while customers.is_open() {
        if let Some(chains) = &customers.chains {
            pause(REAL_BLOCK_EVERY).await;
            chains.mine("ETH", 1).await;
            blocks += 1;
            if blocks % LITECOIN_EVERY == 0 {
                chains.mine("LTC", 1).await;
            }
            continue;
        }
        pause(random.up_to(BLOCK_EVERY)).await;
        customers.sandbox.mine(1).await;
    }
}

/// Injects a fault into the gateway now and then, until it is aborted.
async fn inject_faults(customers: Customers, random: SeededRandom) {
    loop {
        pause(random.up_to(FAULT_EVERY)).await;
        // A slow machine makes fewer calls than faults.
        if customers.sandbox.waiting_faults().await >= MAX_WAITING_FAULTS {
            continue;
        }
        let mut fault = match random.below(4) {
            0 => json!({"kind": "status", "status": 500}),
            1 => json!({"kind": "garbled"}),
            2 => json!({"kind": "slow", "delay_ms": random.below(SLOW_MS)}),
            _ => json!({"kind": "drop"}),
        };
        let kind = fault["kind"].as_str().expect("each has one").to_owned();
        customers.counters.one("faults of the gateway", kind);
        let endpoint = random.weigh(&[(2, "invoice"), (2, "create_invoice"), (1, "any")]);
        fault["endpoint"] = endpoint.into();
        customers.sandbox.inject_fault(fault).await;
    }
}

/// Starts a server with an empty database of the proxy.
async fn start_server() -> PostgresServer {
    let server = PostgresServer::start(Durability::Full).expect("PostgreSQL is installed");
    let created = server.create_database(DATABASE_ON_SERVER, None);
    created.expect("the server makes databases");
    let url = server.url(DATABASE_ON_SERVER);
    let migrated = florin_storage::migrate_postgres(&url, "test").await;
    migrated.expect("an empty database can be migrated");
    server
}

pub(super) fn address_of(server: &PostgresServer) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], server.port()))
}

/// A proxy on the file of the shard, or on its server by a separate link.
async fn replica(
    folder: &Folder,
    number: usize,
    [program, config]: [PathBuf; 2],
    [public, admin]: [SocketAddr; 2],
    server: Option<&PostgresServer>,
) -> Replica {
    let (mut link, mut database_url) = (None, url_of(&folder.file(DATABASE)));
    if let Some(server) = server {
        let to_server = TcpProxy::to(address_of(server)).await;
        database_url = server.url_at(to_server.address().port(), DATABASE_ON_SERVER);
        link = Some(to_server);
    }
    Replica {
        program,
        config,
        database_url,
        public,
        admin,
        log: folder.file(&format!("proxy-{number}.log")),
        link,
        process: None,
    }
}

fn url_of(database: &Path) -> String {
    format!("sqlite://{}", database.display())
}

async fn join(tasks: &mut JoinSet<()>) {
    while let Some(exit_status) = tasks.join_next().await {
        exit_status.expect("no task of a campaign panics");
    }
}
