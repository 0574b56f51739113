//! A shard: one proxy with its gateway, its shop, its customers and its kills.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use florin_postgres::free_port;
use tokio::net::TcpListener;
use tokio::sync::{RwLock, broadcast};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::background_load::{inject_faults, mine_blocks};
use super::counters::Counters;
use super::customer::Customers;
use super::disaster::Disaster;
use super::invoice_index::InvoiceIndex;
use super::lost::Lost;
use super::random::SeededRandom;
use super::shop::Shop;
use super::supervisor::Supervisor;
use super::traffic_log::{Link, Passed, TrafficLog};
use crate::clock::MovableClock;
use crate::faulty_machine::FaultyMachine;
use crate::program::{Folder, write_private};
use crate::sandbox_control::SandboxControl;
use crate::store_server::TokenSigner;
use crate::world;
use crate::world::config::{Addresses, florin_toml};
use crate::world::secrets;

/// Customers who buy at the same time.
pub(super) const CUSTOMERS: u64 = 10;

pub(super) const DATABASE: &str = "florin.db";
pub(super) const SANDBOX_LOG: &str = "sandbox.jsonl";
pub(super) const SHOP_LOG: &str = "shop.jsonl";
pub(super) const RESTORE_LOG: &str = "restores.jsonl";
pub(super) const CLOCK_LOG: &str = "clock.jsonl";

/// A shard.
pub(super) struct Shard {
    pub(super) folder: Folder,
    pub(super) invoices: Arc<InvoiceIndex>,
    pub(super) http: reqwest::Client,
    pub(super) shop: Shop,
    pub(super) sandbox: SandboxControl,
    pub(super) addresses: Addresses,
    pub(super) counters: Arc<Counters>,
    /// The proxy with customers.
    pub(super) supervisor: Supervisor,
    /// The proxy that is killed during its first migration.
    pub(super) first_start: Supervisor,
    pub(super) random: SeededRandom,
    pub(super) traffic: broadcast::Sender<Passed>,
    pub(super) gateway_traffic: TrafficLog,
    /// What the proxy runs on.
    pub(super) machine: FaultyMachine,
    /// The disasters that come next, in a random order; each comes before any comes again.
    pub(super) disasters: Vec<Disaster>,
    /// Backups restored so far.
    pub(super) restores: u64,
    pub(super) lost: Arc<Lost>,
    /// `true` while the proxy's clock is wrong, and shortly after: tokens can be refused.
    pub(super) clock_is_wrong: Arc<AtomicBool>,
    /// Kept because dropping them closes their connections.
    _other_traffic: [TrafficLog; 2],
    mining: Arc<RwLock<()>>,
    is_closing: Arc<AtomicBool>,
    /// Customers, miner and gateway. All end with the shard.
    others: JoinSet<()>,
    shutdown: CancellationToken,
}

impl Shard {
    /// Sets everything up; the proxy is not started.
    pub(super) async fn open(
        number: u64,
        seed: u64,
        program: &Path,
        counters: Arc<Counters>,
    ) -> Self {
        let mut random = SeededRandom::new(seed).split(number);
        let folder = Folder::new();
        write_private(&folder.file(RESTORE_LOG), "");
        let shutdown = CancellationToken::new();
        let traffic = broadcast::channel(1024).0;
        let (sandbox, sandbox_address) = bind().await;
        let shop = Shop::open(&folder.file(SHOP_LOG), random.split(1), counters.clone()).await;
        let [public, admin, first @ ..] = free_ports::<4>();
        let traffic_log = async |there, link| TrafficLog::to(there, link, traffic.clone()).await;
        let proxy = traffic_log(public, Link::Proxy).await;
        let gateway = traffic_log(sandbox_address, Link::Gateway).await;
        let store = traffic_log(shop.address, Link::Shop).await;
        let addresses = Addresses {
            front: proxy.address,
            public,
            admin,
            gateway: gateway.address,
            sandbox: sandbox_address,
            shop: shop.address,
            webhook: store.address,
        };
        let world_config = world::WorldConfig::default();
        let machine = FaultyMachine::build(folder.path(), &folder.file(CLOCK_LOG));
        let supervisor = |database: &str, public, admin| Supervisor {
            program: program.to_owned(),
            config: folder.file("florin.toml"),
            database: folder.file(database),
            database_url: format!("sqlite://{}", folder.file(database).display()),
            public,
            admin,
            log: folder.file("proxy.log"),
            variables: machine.variables().into(),
        };
        let first_start = supervisor("first.db", first[0], first[1]);
        let supervisor = supervisor(DATABASE, public, admin);
        let toml = florin_toml(&addresses, &world_config, &supervisor.database_url);
        write_private(&supervisor.config, &toml);
        let invoices = Arc::new(InvoiceIndex::of(folder.file(SANDBOX_LOG)));
        let settings = florin_sandbox::Settings {
            seed: random.next(),
            log_file: Some(folder.file(SANDBOX_LOG)),
            ..world_config.sandbox(&addresses, MovableClock::default())
        };
        let mut others = JoinSet::new();
        let serve = florin_sandbox::run(sandbox, settings, shutdown.clone());
        others.spawn(async move { serve.await.expect("the sandbox runs to the end") });
        let http = client();
        let sandbox = SandboxControl {
            http: http.clone(),
            base: format!("http://{sandbox_address}"),
        };
        Self {
            folder,
            invoices,
            http,
            shop,
            sandbox,
            addresses,
            counters,
            supervisor,
            first_start,
            random,
            traffic,
            gateway_traffic: gateway,
            machine,
            disasters: Vec::new(),
            restores: 0,
            lost: Arc::default(),
            clock_is_wrong: Arc::default(),
            _other_traffic: [proxy, store],
            mining: Arc::default(),
            is_closing: Arc::default(),
            others,
            shutdown,
        }
    }

    /// Starts customers, mining and faults.
    pub(super) fn start_load(&mut self) {
        let customers = self.customers();
        for number in 0..CUSTOMERS {
            let random = self.random.split(100 + number);
            self.others.spawn(customers.clone().run(random));
        }
        let (sandbox, closing) = (self.sandbox.clone(), self.is_closing.clone());
        let random = self.random.split(2);
        self.others
            .spawn(mine_blocks(sandbox, self.mining.clone(), closing, random));
        let (sandbox, closing) = (self.sandbox.clone(), self.is_closing.clone());
        let random = self.random.split(3);
        self.others.spawn(inject_faults(
            sandbox,
            self.counters.clone(),
            closing,
            random,
        ));
    }

    /// Runs the last customers, without kills.
    pub(super) async fn run_final_customers(&mut self) {
        let customers = self.customers();
        customers.run_final(&mut self.random).await;
    }

    pub(super) fn customers(&self) -> Customers {
        Customers {
            http: self.http.clone(),
            proxy: self.addresses.proxy_url(),
            token_signer: token_signer(&self.addresses),
            sandbox: self.sandbox.clone(),
            invoices: self.invoices.clone(),
            counters: self.counters.clone(),
            mining: self.mining.clone(),
            is_closing: self.is_closing.clone(),
            clock_is_wrong: self.clock_is_wrong.clone(),
            lost: self.lost.clone(),
        }
    }

    /// Ends customers, mining and faults.
    pub(super) async fn stop_load(&mut self) {
        self.is_closing.store(true, Ordering::Relaxed);
        self.shop.accept_all();
        // All but the gateway end by themselves.
        while self.others.len() > 1 {
            let exit_status = self
                .others
                .join_next()
                .await
                .expect("there is more than one");
            exit_status.expect("no task of a shard panics");
        }
        self.sandbox.clear_faults().await;
    }

    /// Ends everything but the proxy; returns the evidence.
    pub(super) async fn close(mut self) -> Folder {
        self.shutdown.cancel();
        while let Some(exit_status) = self.others.join_next().await {
            exit_status.expect("no task of a shard panics");
        }
        self.folder
    }
}

/// Signs order tokens as the store's server does.
pub(super) fn token_signer(addresses: &Addresses) -> TokenSigner {
    TokenSigner {
        audience: addresses.proxy_url(),
        clock: MovableClock::default(),
        store: "demo".to_owned(),
        kid: "k1".to_owned(),
        secret: secrets::TOKEN_KEY.to_owned(),
    }
}

pub(super) async fn bind() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    (listener, address)
}

/// Addresses for a program that often restarts.
pub(super) fn free_ports<const PORTS: usize>() -> [SocketAddr; PORTS] {
    std::array::from_fn(|_| SocketAddr::from(([127, 0, 0, 1], free_port())))
}

pub(super) fn client() -> reqwest::Client {
    // Fails when another shard has installed it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = crate::http_response::client().timeout(Duration::from_secs(5));
    builder.build().expect("the crypto provider is installed")
}
