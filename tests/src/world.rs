//! The world: gateway, proxy, shop and the store's endpoint.

pub(crate) mod config;
pub mod secrets;
mod server;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use florin_money::Currency;
use florin_servers::free_port;
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::subscriber::DefaultGuard;

use self::config::Addresses;
pub use self::config::WorldConfig;
use self::server::{Log, RunningProxy};
use crate::clock::MovableClock;
use crate::customer::{Checkout, Customer, HostedPage};
use crate::http_response::HttpResponse;
use crate::local_server::StoreSite;
use crate::program::{Folder, write_private};
use crate::real_chains::RealChains;
use crate::sandbox_control::SandboxControl;
use crate::store_server::{OperatorApi, StoreServer, TokenSigner, WebhookReceiver};
use crate::tcp_proxy::TcpProxy;
use crate::wait::eventually;

pub struct World {
    pub clock: MovableClock,
    pub front_link: TcpProxy,
    /// What stands between the proxy and the gateway.
    pub gateway_link: TcpProxy,
    pub webhooks: WebhookReceiver,
    /// Its changes hold from the proxy's next start on.
    pub config: WorldConfig,
    addresses: Addresses,
    proxy: Option<RunningProxy>,
    http: reqwest::Client,
    folder: Folder,
    shutdown: CancellationToken,
    log: Log,
    expected: Mutex<BTreeSet<String>>,
    has_ended: bool,
    _keeps_the_log: DefaultGuard,
}

impl World {
    pub async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// With a page of the store.
    pub async fn with_site() -> (StoreSite, Self) {
        let site = StoreSite::open().await;
        let origins = vec![site.url().to_owned()];
        let world = Self::with(|config| config.origins = origins).await;
        (site, world)
    }

    pub async fn start_on(database_url: &str) -> Self {
        Self::with(|config| config.database_url = Some(database_url.to_owned())).await
    }

    pub async fn with(set: impl FnOnce(&mut WorldConfig)) -> Self {
        let mut config = WorldConfig::default();
        set(&mut config);
        let (log, keeps_the_log) = Log::begin();
        let (clock, folder) = (MovableClock::default(), Folder::new());
        let shutdown = CancellationToken::new();
        let [sandbox, shop, public, admin] =
            [bind().await, bind().await, bind().await, bind().await];
        let shop_url = format!("http://{}", shop.1);
        let webhooks = WebhookReceiver::open(clock.clone(), shop_url).await;
        let front_link = TcpProxy::to(public.1).await;
        let gateway_link = TcpProxy::to(sandbox.1).await;
        let addresses = Addresses {
            front: front_link.address(),
            public: public.1,
            admin: admin.1,
            gateway: gateway_link.address(),
            sandbox: sandbox.1,
            shop: shop.1,
            webhook: webhooks.address(),
        };
        if let Some(chains) = &config.real_chains {
            // The gateway binds it again.
            drop(sandbox.0);
            let listen = sandbox.1.to_string();
            let toml = chains.gateway_toml(&listen, &addresses.proxy_url(), &folder);
            let gateway = RealChains::gateway(&toml);
            spawn(florin_gateway::server::serve_until(
                gateway,
                shutdown.clone(),
            ));
        } else {
            let settings = config.sandbox(&addresses, clock.clone());
            spawn(florin_sandbox::run(sandbox.0, settings, shutdown.clone()));
        }
        let answers = format!("http://{}/checkout/session", sandbox.1);
        eventually("the gateway answers", async || {
            client().get(&answers).send().await.ok()
        })
        .await;
        let shops_clock = clock.clone();
        let settings = florin_shop::Settings {
            proxy_url: addresses.proxy_url(),
            store_id: "demo".to_owned(),
            secret_key: secrets::STORE_KEY.into(),
            webhook_secret: secrets::WEBHOOK.into(),
            token_key: secrets::TOKEN_KEY.into(),
            currency: Currency::USD,
            new_reference: secrets::new_reference,
            now: Box::new(move || shops_clock.now().as_second().unsigned_abs()),
        };
        spawn(florin_shop::run(shop.0, settings, shutdown.clone()));
        let mut world = Self {
            clock,
            front_link,
            gateway_link,
            webhooks,
            config,
            addresses,
            proxy: None,
            http: client(),
            folder,
            shutdown,
            log,
            expected: Mutex::default(),
            has_ended: false,
            _keeps_the_log: keeps_the_log,
        };
        world.run_proxy(public.0, admin.0).await;
        world
    }

    pub fn proxy_url(&self) -> String {
        self.addresses.proxy_url()
    }

    pub fn shop_url(&self) -> String {
        self.addresses.shop_url()
    }

    pub fn checkout_page(&self) -> String {
        format!("{}/pay?store=demo&product=ebook", self.proxy_url())
    }

    pub fn sandbox_url(&self) -> String {
        format!("http://{}", self.addresses.sandbox)
    }

    /// The address that the proxy listens on; [`World::proxy_url`] leads there by a link.
    pub fn listen_address(&self) -> SocketAddr {
        self.addresses.public
    }

    pub fn admin_url(&self) -> String {
        format!("http://{}", self.addresses.admin)
    }

    pub fn operator(&self, token: &str) -> OperatorApi {
        OperatorApi {
            http: self.http.clone(),
            base: self.admin_url(),
            token: Some(token.to_owned()),
        }
    }

    /// GET at the proxy, as a browser without a page sends it.
    pub async fn get(&self, path: &str) -> HttpResponse {
        HttpResponse::of(self.http.get(format!("{}{path}", self.proxy_url()))).await
    }

    pub async fn get_admin(&self, path: &str) -> HttpResponse {
        HttpResponse::of(self.http.get(format!("{}{path}", self.admin_url()))).await
    }

    pub fn http(&self) -> &reqwest::Client {
        &self.http
    }

    pub fn customer(&self) -> Customer {
        Customer {
            http: self.http.clone(),
            base: self.proxy_url(),
            headers: vec![("origin", self.shop_url())],
        }
    }

    pub fn sandbox(&self) -> SandboxControl {
        SandboxControl {
            http: self.http.clone(),
            base: self.sandbox_url(),
        }
    }

    pub fn hosted_page(&self, url: &str) -> HostedPage {
        HostedPage::at(self.http.clone(), url)
    }

    pub fn store(&self) -> StoreServer {
        StoreServer {
            http: self.http.clone(),
            base: self.proxy_url(),
            key: secrets::STORE_KEY.to_owned(),
            idempotency_key: None,
        }
    }

    pub fn token_signer(&self) -> TokenSigner {
        TokenSigner::of_demo(self.proxy_url(), self.clock.clone())
    }

    pub fn other_store(&self) -> StoreServer {
        self.store().with_key(secrets::OTHER_STORE_KEY)
    }

    pub async fn shop_orders(&self) -> Vec<serde_json::Value> {
        let request = self.http.get(format!("{}/orders.json", self.shop_url()));
        let response = HttpResponse::of(request).await.with(200);
        response.body["orders"].as_array().expect("a list").clone()
    }

    pub async fn wait_until_paid_in_shop(&self, order: &str) {
        eventually("the shop says that the order is paid", async || {
            let orders = self.shop_orders().await;
            let paid =
                |known: &&serde_json::Value| known["id"] == order && !known["paid_by"].is_null();
            orders.iter().find(paid).map(|_| ())
        })
        .await;
    }

    pub fn skip(&self, time: Duration) {
        self.clock.skip(time);
    }

    pub fn expect_error(&self, text: &str) {
        let mut expected = self.expected.lock();
        expected.insert(text.to_owned());
    }

    pub fn logged(&self, text: &str) -> bool {
        self.log.says(text)
    }

    pub fn database(&self) -> PathBuf {
        self.file("florin.db")
    }

    pub fn database_url(&self) -> String {
        let file = || format!("sqlite://{}", self.database().display());
        self.config.database_url.clone().unwrap_or_else(file)
    }

    pub fn config_file(&self) -> PathBuf {
        self.file("florin.toml")
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.file(name)
    }

    pub async fn stop_proxy(&mut self) {
        if let Some(proxy) = self.proxy.take() {
            proxy.end().await;
        }
    }

    pub async fn start_proxy(&mut self) {
        let bind = async |address| {
            TcpListener::bind(address)
                .await
                .expect("the port is still free")
        };
        let public = bind(self.addresses.public).await;
        let admin = bind(self.addresses.admin).await;
        self.run_proxy(public, admin).await;
    }

    pub async fn wait_for_proxy(&self) {
        let loader = format!("{}/florin.js", self.proxy_url());
        eventually("the proxy listens", async || {
            let response = self.http.get(&loader).send().await.ok()?;
            response.status().is_success().then_some(())
        })
        .await;
    }

    async fn run_proxy(&mut self, public: TcpListener, admin: TcpListener) {
        let file = self.config_file();
        let url = self.database_url();
        let text = config::florin_toml(&self.addresses, &self.config, &url);
        let more_stores = config::more_stores(self.config.more_stores);
        write_private(&file, &[text, more_stores].concat());
        let proxy = RunningProxy::start(&file, self.clock.clone(), public, admin).await;
        self.proxy = Some(proxy);
    }
}

/// The proxy binds it again after a restart.
pub(crate) async fn bind() -> (TcpListener, SocketAddr) {
    let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let listener = TcpListener::bind(address).await;
    (listener.expect("the port is free"), address)
}

/// Pays and confirms the invoice that is shown, and waits until the order is paid.
pub async fn pay_in_full(world: &World, checkout: &Checkout) {
    world.sandbox().settle(checkout, "exact").await;
    checkout.wait_for("paid").await;
}

fn spawn(part: impl Future<Output = anyhow::Result<()>> + Send + 'static) {
    tokio::spawn(async move {
        if let Err(error) = part.await {
            tracing::error!("a part of the world failed: {error:#}");
        }
    });
}

fn client() -> reqwest::Client {
    let builder = crate::http_response::client();
    let builder = builder.redirect(reqwest::redirect::Policy::none());
    let builder = builder.timeout(Duration::from_secs(30));
    builder.build().expect("the crypto provider is installed")
}
