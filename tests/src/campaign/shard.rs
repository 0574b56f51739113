//! One proxy with its service, its shop and its customers, and the blows that it is dealt.

use std::net::{SocketAddr, TcpListener as Port};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{RwLock, broadcast};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::Options;
use super::background_load::{blocks_are_found, the_service_errs};
use super::counters::Tally;
use super::customer::Street;
use super::purchases::Register;
use super::random::Dice;
use super::shop::Shop;
use super::supervisor::Post;
use super::traffic_log::{Between, Moment, Tap};
use crate::clock::MovableClock;
use crate::folder::Folder;
use crate::sandbox_control::SandboxControl;
use crate::token_signer::TokenSigner;
use crate::world;
use crate::world::proxy_config::{Places, florin_toml};
use crate::world::secrets;

/// Customers who are buying at once.
const CUSTOMERS: u64 = 10;

pub(super) const DATABASE: &str = "florin.db";
pub(super) const SANDBOX_LOG: &str = "sandbox.jsonl";
pub(super) const SHOP_LOG: &str = "shop.jsonl";

/// A proxy and its world.
pub(super) struct Lane {
    pub(super) folder: Folder,
    pub(super) register: Arc<Register>,
    pub(super) http: reqwest::Client,
    pub(super) shop: Shop,
    pub(super) chain: SandboxControl,
    pub(super) places: Places,
    pub(super) tally: Arc<Tally>,
    /// Where the proxy is that everybody knows.
    pub(super) post: Post,
    /// Where one is now and then that makes its first database.
    pub(super) first_post: Post,
    pub(super) dice: Dice,
    pub(super) moments: broadcast::Sender<Moment>,
    pub(super) service_tap: Tap,
    /// They carry as long as they are kept.
    _other_taps: [Tap; 2],
    mining: Arc<RwLock<()>>,
    is_closing: Arc<AtomicBool>,
    /// Customers, miners and the service. All end with the lane.
    others: JoinSet<()>,
    shutdown: CancellationToken,
}

impl Lane {
    /// Sets everything up, without a proxy.
    pub(super) async fn open(number: u64, config: &Options, tally: Arc<Tally>) -> Self {
        let mut dice = Dice::new(config.seed).split(number);
        let folder = Folder::new();
        let shutdown = CancellationToken::new();
        let moments = broadcast::channel(1024).0;
        let (sandbox, sandbox_address) = bind().await;
        let shop = Shop::open(&folder.file(SHOP_LOG), dice.split(1), tally.clone()).await;
        let [public, admin, first @ ..] = free_ports(number);
        let tap = async |there, between| Tap::to(there, between, moments.clone()).await;
        let front = tap(public, Between::EverybodyAndProxy).await;
        let service = tap(sandbox_address, Between::ProxyAndService).await;
        let store = tap(shop.address, Between::ProxyAndShop).await;
        let places = Places {
            front: front.address,
            public,
            admin,
            service: service.address,
            sandbox: sandbox_address,
            shop: shop.address,
            webhook: store.address,
        };
        let wants = world::WorldConfig::default();
        let post = |database: &str, public, admin| Post {
            program: config.proxy.clone(),
            config: folder.file("florin.toml"),
            database: folder.file(database),
            public,
            admin,
            log: folder.file("proxy.log"),
        };
        let first_post = post("first.db", first[0], first[1]);
        let post = post(DATABASE, public, admin);
        let toml = florin_toml(&places, &wants, &post.database_url());
        std::fs::write(&post.config, toml).expect("the folder is writable");
        let register = Arc::new(Register::of(folder.file(SANDBOX_LOG)));
        let settings = florin_sandbox::Settings {
            seed: dice.roll(),
            log_file: Some(folder.file(SANDBOX_LOG)),
            ..wants.sandbox(&places, MovableClock::default())
        };
        let mut others = JoinSet::new();
        let serve = florin_sandbox::run(sandbox, settings, shutdown.clone());
        others.spawn(async move { serve.await.expect("the sandbox runs to the end") });
        let http = client();
        let chain = SandboxControl {
            http: http.clone(),
            base: format!("http://{sandbox_address}"),
        };
        Self {
            folder,
            register,
            http,
            shop,
            chain,
            places,
            tally,
            post,
            first_post,
            dice,
            moments,
            service_tap: service,
            _other_taps: [front, store],
            mining: Arc::default(),
            is_closing: Arc::default(),
            others,
            shutdown,
        }
    }

    /// Customers come, blocks are found, and the service has its bad moments.
    pub(super) fn begins(&mut self) {
        let street = self.street();
        for number in 0..CUSTOMERS {
            let dice = self.dice.split(100 + number);
            self.others.spawn(street.clone().customers_come(dice));
        }
        let (chain, closing) = (self.chain.clone(), self.is_closing.clone());
        let dice = self.dice.split(2);
        self.others
            .spawn(blocks_are_found(chain, self.mining.clone(), closing, dice));
        let (chain, closing) = (self.chain.clone(), self.is_closing.clone());
        let dice = self.dice.split(3);
        self.others
            .spawn(the_service_errs(chain, self.tally.clone(), closing, dice));
    }

    /// Customers come once more, while no blow falls.
    pub(super) async fn serves_the_last(&mut self) {
        let street = self.street();
        street.last_customers_come(&mut self.dice).await;
    }

    fn street(&self) -> Street {
        Street {
            http: self.http.clone(),
            proxy: self.places.proxy_url(),
            mint: self.token_signer(),
            chain: self.chain.clone(),
            register: self.register.clone(),
            tally: self.tally.clone(),
            mining: self.mining.clone(),
            is_closing: self.is_closing.clone(),
        }
    }

    fn token_signer(&self) -> TokenSigner {
        TokenSigner {
            audience: self.places.proxy_url(),
            clock: MovableClock::default(),
            store: "demo".to_owned(),
            kid: "k1".to_owned(),
            secret: secrets::TOKEN_KEY.to_owned(),
        }
    }

    /// No more customers, no more bad moments.
    pub(super) async fn calms_down(&mut self) {
        self.is_closing.store(true, Ordering::Relaxed);
        self.shop.calms_down();
        // All but the service end by themselves.
        while self.others.len() > 1 {
            let ended = self
                .others
                .join_next()
                .await
                .expect("there is more than one");
            ended.expect("nobody panics in a lane");
        }
        self.chain.clear_faults().await;
    }

    /// Ends everything but the proxy; what is left is the evidence.
    pub(super) async fn close(mut self) -> Folder {
        self.shutdown.cancel();
        while let Some(ended) = self.others.join_next().await {
            ended.expect("nobody panics in a lane");
        }
        self.folder
    }
}

async fn bind() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    (listener, address)
}

/// Ports for a program that is away half of the time: below those that the kernel gives to outgoing connections, so that
/// nobody takes them meanwhile.
///
/// Source: ip(7), `ip_local_port_range`: 32768 to 60999.
fn free_ports(lane: u64) -> [SocketAddr; 4] {
    let start = 20_000 + (u64::from(std::process::id()) * 61 + lane * 499) % 12_000;
    let ports = (start..start + 400).filter_map(|port| {
        let address = SocketAddr::from(([127, 0, 0, 1], u16::try_from(port).ok()?));
        Port::bind(address).ok().map(|_| address)
    });
    let found: Vec<SocketAddr> = ports.take(4).collect();
    found
        .try_into()
        .expect("four of four hundred ports are free")
}

fn client() -> reqwest::Client {
    // Fails when another lane was first, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = crate::http::client().timeout(Duration::from_secs(5));
    builder.build().expect("the crypto provider is installed")
}
