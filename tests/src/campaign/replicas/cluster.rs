//! Several proxies on one PostgreSQL, behind one address, with a gateway, a shop and customers.

use std::fs::File;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use florin_postgres::{Durability, PostgresServer};
use florin_proxy::clock::{Clock as _, SystemClock};
use jiff::SignedDuration;
use serde_json::json;
use tokio::sync::{RwLock, broadcast};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::campaign::background_load::{inject_faults, mine_blocks};
use crate::campaign::counters::Counters;
use crate::campaign::customer::Customers;
use crate::campaign::drain::{Drain, Source};
use crate::campaign::event_reader::{EVENT_LOG, EventReader};
use crate::campaign::invoice_index::InvoiceIndex;
use crate::campaign::proxy_process::ProxyProcess;
use crate::campaign::random::SeededRandom;
use crate::campaign::shard::{
    CLOCK_LOG, CUSTOMERS, SANDBOX_LOG, SHOP_LOG, bind, client, free_ports, token_signer,
};
use crate::campaign::shop::Shop;
use crate::campaign::supervisor::Supervisor;
use crate::campaign::traffic_log::{Link, Passed, TrafficLog};
use crate::clock::MovableClock;
use crate::faulty_machine::FaultyMachine;
use crate::program::{Folder, write_private};
use crate::sandbox_control::SandboxControl;
use crate::tcp_proxy::TcpProxy;
use crate::wait::{pause, within};
use crate::world;
use crate::world::config::{Addresses, florin_toml};

const DATABASE: &str = "florin";
/// Most proxies on one database.
const MOST: usize = 8;
/// Longest start of all proxies on a loaded machine.
const READY: Duration = Duration::from_mins(1);
/// The last words of a process are in its log by then.
const PRINTED: Duration = Duration::from_secs(2);
/// Longest time to read the rest of the list.
const LISTED: Duration = Duration::from_secs(30);
const POLL_EVERY: Duration = Duration::from_millis(20);

/// Settings of a campaign.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of kills.
    pub kills: u64,
    /// Proxies on one database.
    pub replicas: u64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// `florin-proxy`
    pub proxy: PathBuf,
    /// No kill is begun after this time.
    pub longest: Duration,
}

/// One of the proxies.
#[derive(Debug)]
pub(super) struct Replica {
    supervisor: Supervisor,
    /// Its way to the database.
    database: TcpProxy,
    machine: FaultyMachine,
    process: Option<ProxyProcess>,
}

/// The proxies with everything around them.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) folder: Folder,
    pub(super) counters: Arc<Counters>,
    pub(super) random: SeededRandom,
    pub(super) traffic: broadcast::Sender<Passed>,
    pub(super) replicas: Vec<Replica>,
    pub(super) database_url: String,
    /// Of the next disaster.
    pub(super) disasters: usize,
    /// The replica whose clock is off.
    pub(super) wrong_clock: Option<usize>,
    /// `None` while another thread calls it.
    primary: Option<PostgresServer>,
    invoices: Arc<InvoiceIndex>,
    http: reqwest::Client,
    shop: Shop,
    pub(super) sandbox: SandboxControl,
    addresses: Addresses,
    /// Kept because dropping them closes their connections.
    _other_traffic: [TrafficLog; 3],
    mining: Arc<RwLock<()>>,
    is_closing: Arc<AtomicBool>,
    is_drained: Arc<AtomicBool>,
    load: JoinSet<()>,
    reader: JoinSet<()>,
    gateway: JoinSet<()>,
    shutdown: CancellationToken,
}

impl Replica {
    pub(super) fn start(&mut self) {
        self.process = Some(self.supervisor.start());
    }

    /// Kills it. Returns `true` if it was running.
    pub(super) fn kill(&mut self) -> bool {
        let process = self.process.take();
        process.is_some_and(|mut process| process.kill())
    }

    /// Ends its connections to the database and refuses others, or forwards nothing more, or nothing of the open ones.
    pub(super) async fn cut_off(&mut self, how: u64) {
        match how {
            0 => self.database.cut().await,
            1 => self.database.freeze(),
            _ => self.database.silence(),
        }
    }

    /// Lets it connect again.
    pub(super) async fn reconnect(&mut self) {
        self.database.restore().await;
    }

    /// Sends a signal, unless it has exited.
    pub(super) fn signal(&mut self, name: &str) {
        if let Some(process) = &mut self.process
            && process.exit_status().is_none()
        {
            process.signal(name);
        }
    }

    /// Its log ends with the reason why it did not start.
    async fn expect_refusal(&self, status: ExitStatus) {
        let is_refused = within(PRINTED, async || {
            let tail = self.supervisor.log_tail();
            let last = tail.lines().next_back()?;
            last.starts_with("florin-proxy: database_url: the database")
                .then_some(())
        });
        let is_refused = is_refused.await.is_some();
        let tail = self.supervisor.log_tail();
        assert!(is_refused, "a proxy exited by itself ({status}):\n{tail}");
    }

    /// The address by which the requests of its customers are recognised.
    pub(super) fn public(&self) -> SocketAddr {
        self.supervisor.public
    }
}

impl Cluster {
    /// Starts the database and everything around the proxies, and the proxies.
    pub(super) async fn open(options: &Options) -> Self {
        let mut random = SeededRandom::new(options.seed).split(7_000);
        let (folder, counters) = (Folder::new(), Arc::new(Counters::default()));
        let primary = PostgresServer::start(Durability::Full).expect("PostgreSQL is installed");
        primary
            .create_database(DATABASE, None)
            .expect("the server makes databases");
        let database_url = primary.url(DATABASE);
        let migrated = florin_storage::migrate_postgres(&database_url, "test").await;
        migrated.expect("an empty database can be migrated");
        let traffic = broadcast::channel(1024).0;
        let shutdown = CancellationToken::new();
        let (sandbox, sandbox_address) = bind().await;
        let shop = Shop::open(&folder.file(SHOP_LOG), random.split(1), counters.clone()).await;
        let replicas = usize::try_from(options.replicas).unwrap_or(MOST).min(MOST);
        let ports = free_ports::<{ 2 * MOST }>();
        let (public, admin) = (&ports[..replicas], &ports[MOST..MOST + replicas]);
        let front = TrafficLog::balanced(public.to_vec(), Link::Proxy, traffic.clone()).await;
        let store = TrafficLog::to(shop.address, Link::Shop, traffic.clone()).await;
        // One address for all: the account whose limits they share is named by it.
        let gateway_link = TrafficLog::to(sandbox_address, Link::Gateway, traffic.clone()).await;
        let addresses = Addresses {
            front: front.address,
            public: public[0],
            admin: admin[0],
            gateway: gateway_link.address,
            sandbox: sandbox_address,
            shop: shop.address,
            webhook: store.address,
        };
        let world_config = world::WorldConfig::default();
        let config = folder.file("florin.toml");
        write_private(
            &config,
            &florin_toml(&addresses, &world_config, &database_url),
        );
        drop(clock_log(&folder));
        let mut running = Vec::new();
        for (number, (public, admin)) in public.iter().zip(admin).enumerate() {
            let database = TcpProxy::to(address_of(&primary)).await;
            let machine = machine(&folder, number);
            let mut replica = Replica {
                supervisor: Supervisor {
                    program: options.proxy.clone(),
                    config: config.clone(),
                    database: folder.file("none.db"),
                    database_url: primary.url_at(database.address().port(), DATABASE),
                    public: *public,
                    admin: *admin,
                    log: folder.file(&format!("proxy-{number}.log")),
                    variables: machine.variables().into(),
                },
                database,
                machine,
                process: None,
            };
            replica.start();
            running.push(replica);
        }
        let settings = florin_sandbox::Settings {
            seed: random.next(),
            log_file: Some(folder.file(SANDBOX_LOG)),
            ..world_config.sandbox(&addresses, MovableClock::default())
        };
        let mut gateway = JoinSet::new();
        let serve = florin_sandbox::run(sandbox, settings, shutdown.clone());
        gateway.spawn(async move { serve.await.expect("the sandbox runs to the end") });
        let http = client();
        let sandbox = SandboxControl {
            http: http.clone(),
            base: format!("http://{sandbox_address}"),
        };
        Self {
            invoices: Arc::new(InvoiceIndex::of(folder.file(SANDBOX_LOG))),
            folder,
            counters,
            random,
            traffic,
            replicas: running,
            database_url,
            disasters: 0,
            wrong_clock: None,
            primary: Some(primary),
            http,
            shop,
            sandbox,
            addresses,
            _other_traffic: [front, store, gateway_link],
            mining: Arc::default(),
            is_closing: Arc::default(),
            is_drained: Arc::default(),
            load: JoinSet::new(),
            reader: JoinSet::new(),
            gateway,
            shutdown,
        }
    }

    fn customers(&self) -> Customers {
        Customers {
            http: self.http.clone(),
            proxy: self.addresses.proxy_url(),
            token_signer: token_signer(&self.addresses),
            sandbox: self.sandbox.clone(),
            invoices: self.invoices.clone(),
            counters: self.counters.clone(),
            mining: self.mining.clone(),
            is_closing: self.is_closing.clone(),
            clock_is_wrong: Arc::default(),
            lost: Arc::default(),
        }
    }

    /// Starts customers, the store that follows its events, mining and faults.
    pub(super) fn start_load(&mut self) {
        let customers = self.customers();
        for number in 0..CUSTOMERS {
            let random = self.random.split(100 + number);
            self.load.spawn(customers.clone().run(random));
        }
        let (sandbox, closing) = (self.sandbox.clone(), self.is_closing.clone());
        let (mining, random) = (self.mining.clone(), self.random.split(2));
        self.load
            .spawn(mine_blocks(sandbox, mining, closing, random));
        let (sandbox, closing) = (self.sandbox.clone(), self.is_closing.clone());
        let (counters, random) = (self.counters.clone(), self.random.split(3));
        self.load
            .spawn(inject_faults(sandbox, counters, closing, random));
        let reader = EventReader {
            http: self.http.clone(),
            proxy: self.addresses.proxy_url(),
            counters: self.counters.clone(),
            is_closing: self.is_drained.clone(),
        };
        self.reader.spawn(reader.run(self.folder.file(EVENT_LOG)));
    }

    pub(super) fn primary(&mut self) -> &mut PostgresServer {
        self.primary.as_mut().expect("no other thread calls it")
    }

    /// Starts the primary again and waits until it has recovered.
    pub(super) async fn start_primary(&mut self) {
        self.with_primary(|primary| primary.start_again().expect("the primary recovers"))
            .await;
    }

    /// Starts a standby, and lets each commit wait for it.
    pub(super) async fn start_standby(&mut self) -> PostgresServer {
        self.with_primary(|primary| {
            let standby = primary.start_standby().expect("it follows the primary");
            primary.wait_for_standby().expect("it follows the primary");
            standby
        })
        .await
    }

    /// Makes a standby the primary; the old one is lost.
    pub(super) async fn take_over(&mut self, standby: PostgresServer) {
        self.primary = Some(standby);
        self.with_primary(|primary| primary.promote().expect("it was a standby"))
            .await;
        self.database_url = self.primary().url(DATABASE);
        let address = address_of(self.primary());
        for replica in &mut self.replicas {
            replica.database.redirect(address).await;
        }
    }

    /// Calls a server in another thread: it blocks.
    async fn with_primary<T: Send + 'static>(
        &mut self,
        call: impl FnOnce(&mut PostgresServer) -> T + Send + 'static,
    ) -> T {
        let mut primary = self.primary.take().expect("no other thread calls it");
        let called = tokio::task::spawn_blocking(move || {
            let done = call(&mut primary);
            (primary, done)
        });
        let (primary, done) = called.await.expect("the call does not panic");
        self.primary = Some(primary);
        done
    }

    /// Sets the clock of a replica's machine. The auditor needs the times at which one was behind.
    pub(super) fn set_clock(&self, at: usize, ahead: SignedDuration) {
        self.replicas[at].machine.set_clock(ahead);
        let behind = ahead.min(SignedDuration::ZERO).as_millis();
        let line = json!({"at": SystemClock.now().to_string(), "ahead_ms": i64::try_from(behind).expect("seconds")});
        let mut log = clock_log(&self.folder);
        writeln!(log, "{line}").expect("the folder is writable");
    }

    /// Starts replicas again that have exited: a proxy that starts refuses to serve without its database, and one that
    /// was stopped has ended in order.
    ///
    /// # Panics
    /// One exited for another reason.
    pub(super) async fn restart_exited(&mut self) {
        for replica in &mut self.replicas {
            let Some(process) = &mut replica.process else {
                replica.start();
                continue;
            };
            let Some(status) = process.exit_status() else {
                continue;
            };
            self.counters.count(if status.success() {
                "shutdowns that were complete before the kill"
            } else {
                replica.expect_refusal(status).await;
                "starts that were refused without the database"
            });
            replica.start();
        }
    }

    async fn wait_until_ready(&mut self) {
        let ready = async {
            loop {
                self.restart_exited().await;
                let mut are_ready = true;
                for replica in &self.replicas {
                    let url = format!("http://{}/health/ready", replica.supervisor.admin);
                    let response = self.http.get(url).send().await;
                    are_ready &= response.is_ok_and(|response| response.status() == 200);
                }
                if are_ready {
                    return;
                }
                pause(POLL_EVERY).await;
            }
        };
        let ready = tokio::time::timeout(READY, ready).await;
        assert!(ready.is_ok(), "a proxy is not ready after {READY:?}");
    }

    /// Waits until every replica is ready, lets the work end, and ends everything but the database.
    pub(super) async fn end(&mut self) {
        if let Some(at) = self.wrong_clock.take() {
            self.set_clock(at, SignedDuration::ZERO);
        }
        self.wait_until_ready().await;
        let customers = self.customers();
        customers.run_final(&mut self.random).await;
        self.is_closing.store(true, Ordering::Relaxed);
        self.shop.accept_all();
        join(&mut self.load).await;
        self.sandbox.clear_faults().await;
        let drain = Drain {
            sandbox: &self.sandbox,
            http: &self.http,
            proxy_url: self.addresses.proxy_url(),
            invoices: &self.invoices,
            database: Source::Server(self.database_url.clone()),
        };
        drain.wait().await;
        self.is_drained.store(true, Ordering::Relaxed);
        let read = tokio::time::timeout(LISTED, join(&mut self.reader)).await;
        assert!(read.is_ok(), "the list of events has no end");
        for replica in &mut self.replicas {
            let process = replica.process.take().expect("it was started");
            let code = process.stop().await;
            let tail = replica.supervisor.log_tail();
            assert_eq!(
                code,
                Some(0),
                "a proxy does not shut down in order:\n{tail}"
            );
        }
        self.shutdown.cancel();
        join(&mut self.gateway).await;
    }

    /// Keeps the folder, with a dump of the database; returns its path.
    pub(super) fn keep(mut self) -> String {
        let dump = self.folder.file("florin.dump");
        let dumped = self.primary().dump(DATABASE, &dump);
        let folder = self.folder.keep().display().to_string();
        match dumped {
            Ok(()) => folder,
            Err(error) => format!("{folder} (without a dump: {error})"),
        }
    }

    /// The address of a copy of the database in which statements were run without triggers.
    pub(super) fn corrupted_copy(&self, name: &str, statements: &str) -> String {
        let primary = self.primary.as_ref().expect("no other thread calls it");
        let copied = primary.create_database(name, Some(DATABASE));
        copied.expect("no connection to the database is left");
        let done = primary.psql(
            name,
            &format!("SET session_replication_role = replica; {statements}"),
        );
        done.unwrap_or_else(|error| panic!("{statements}: {error}"));
        primary.url(name)
    }
}

fn address_of(server: &PostgresServer) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], server.port()))
}

/// A machine with its files in a folder below.
fn machine(folder: &Folder, number: usize) -> FaultyMachine {
    let folder = folder.file(&format!("machine-{number}"));
    std::fs::create_dir(&folder).expect("the folder is writable");
    FaultyMachine::build(&folder, &folder.join(CLOCK_LOG))
}

/// The log of the clocks that were behind.
fn clock_log(folder: &Folder) -> File {
    let log = File::options()
        .create(true)
        .append(true)
        .open(folder.file(CLOCK_LOG));
    log.expect("the folder is writable")
}

async fn join(tasks: &mut JoinSet<()>) {
    while let Some(exit_status) = tasks.join_next().await {
        exit_status.expect("no task of a campaign panics");
    }
}
