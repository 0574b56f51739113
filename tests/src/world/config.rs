//! Configuration of a world, and the proxy's configuration file.

use std::net::SocketAddr;
use std::sync::Arc;

use florin_money::{Amount, Currency};
use florin_shop::{DONATIONS_TOML, PRODUCTS_TOML};

use super::secrets::{
    API_KEY, API_SECRET, CALLBACK_TOKEN, NEXT_TOKEN_KEY, OPERATOR_HASH, OPERATOR_TOKEN,
    OTHER_STORE_KEY, OTHER_TOKEN_KEY, READER_HASH, READER_TOKEN, STORE_KEY, TOKEN_KEY, WEBHOOK,
};
use crate::clock::MovableClock;
use crate::real_chains::RealChains;

#[derive(Clone, Debug)]
pub struct WorldConfig {
    pub callbacks: bool,
    /// The store's `currency`. Without dollars it has no catalogue, whose prices have two decimals.
    pub currency: &'static str,
    /// The local currency of the gateway's account, and what a dollar costs in it.
    pub account: (&'static str, &'static str),
    pub origins: Vec<String>,
    /// Lines of `florin.toml` that are added to the demo shop's store.
    pub store: String,
    /// The `image_origins` of both stores; on the first of them the other store's product has its picture.
    pub image_origins: Vec<String>,
    pub unknown_asset: bool,
    /// `gateway.requests_per_second`.
    pub requests_per_second: u32,
    /// `rate_limit.orders_per_minute_per_ip`.
    pub orders_per_minute_per_ip: Option<u32>,
    /// `gateway.checkout_url`; the sandbox's own when `None`, absent when empty.
    pub checkout_url: Option<String>,
    pub trusted_proxies: Vec<String>,
    /// `environment`: `test`, or `production`, where the store has no webhook.
    pub environment: &'static str,
    /// The database; a file in the world's folder when `None`.
    pub database_url: Option<String>,
    pub evm_rpc_url: Option<String>,
    /// `florin-gateway` on these nodes in place of the sandbox.
    pub real_chains: Option<Arc<RealChains>>,
    /// Stores beside the two, without a webhook.
    pub more_stores: u32,
    pub staff_pages: &'static str,
    /// `true` if the operators `ada` and `rita` are configured.
    pub has_operators: bool,
}

impl Default for WorldConfig {
    fn default() -> Self {
        Self {
            callbacks: true,
            currency: "USD",
            account: ("USD", "1"),
            origins: Vec::new(),
            store: String::new(),
            image_origins: Vec::new(),
            unknown_asset: false,
            requests_per_second: 100,
            orders_per_minute_per_ip: None,
            checkout_url: None,
            trusted_proxies: Vec::new(),
            environment: "test",
            database_url: None,
            evm_rpc_url: None,
            real_chains: None,
            more_stores: 0,
            staff_pages: "write",
            has_operators: true,
        }
    }
}

impl WorldConfig {
    pub(crate) fn sandbox(
        &self,
        addresses: &Addresses,
        clock: MovableClock,
    ) -> florin_sandbox::Settings {
        let token = CALLBACK_TOKEN;
        let callbacks = format!("{}/callbacks/{token}", addresses.proxy_url());
        florin_sandbox::Settings {
            seed: 7,
            api_key: API_KEY.to_owned(),
            api_secret: API_SECRET.into(),
            callback_url: self.callbacks.then_some(callbacks),
            unknown_asset: self.unknown_asset,
            evm_rpc_url: self.evm_rpc_url.clone(),
            local_currency: (
                Currency::parse(self.account.0).expect("a code of ISO 4217"),
                Amount::parse(self.account.1).expect("an amount"),
            ),
            clock: Arc::new(clock),
            ..florin_sandbox::Settings::default()
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Addresses {
    pub(crate) front: SocketAddr,
    pub(crate) public: SocketAddr,
    pub(crate) admin: SocketAddr,
    /// The gateway as the proxy reaches it.
    pub(crate) gateway: SocketAddr,
    pub(crate) sandbox: SocketAddr,
    pub(crate) shop: SocketAddr,
    /// The store's endpoint as the proxy reaches it.
    pub(crate) webhook: SocketAddr,
}

impl Addresses {
    pub(crate) fn proxy_url(&self) -> String {
        format!("http://{}", self.front)
    }

    pub(crate) fn shop_url(&self) -> String {
        format!("http://{}", self.shop)
    }
}

/// Endpoints of this machine are for the test environment alone.
fn webhook_section(environment: &str, webhook: SocketAddr) -> String {
    if environment == "production" {
        return String::new();
    }
    format!(
        "[[store.webhook]]\nurl = \"http://{webhook}/florin\"\nsecret = \"{WEBHOOK}\"\n\
         dangerous_allow_private_targets = true"
    )
}

const ASKING_PRODUCT_TOML: &str =
    "[[store.product]]\nsku = \"guide\"\nprice = \"9.00\"\nask = [\"email\"]\n";

/// The text of `florin.toml`: the demo shop's store with its catalogue, and another one.
pub(crate) fn florin_toml(
    addresses: &Addresses,
    config: &WorldConfig,
    database_url: &str,
) -> String {
    let Addresses {
        front,
        public,
        admin,
        gateway,
        sandbox,
        shop,
        webhook,
    } = addresses;
    let WorldConfig {
        trusted_proxies,
        requests_per_second,
        image_origins,
        currency,
        environment,
        staff_pages,
        store,
        ..
    } = config;
    let origins = [&[addresses.shop_url()], &config.origins[..]].concat();
    let setting = |name: &str, value: Option<&str>| {
        value.map_or_else(String::new, |value| format!("{name} = {value:?}"))
    };
    let picture = image_origins.first().map(|at| format!("{at}/ebook.jpg"));
    let picture = setting("image_url", picture.as_deref());
    let own_page = format!("http://{sandbox}/checkout");
    let checkout_url = config.checkout_url.as_deref().unwrap_or(&own_page);
    let checkout_url = Some(checkout_url).filter(|url| !url.is_empty());
    let checkout_url = setting("checkout_url", checkout_url);
    let catalogue = match *currency {
        "USD" => format!("{PRODUCTS_TOML}\n{ASKING_PRODUCT_TOML}\n{DONATIONS_TOML}"),
        _ => String::new(),
    };
    let webhook = webhook_section(environment, *webhook);
    let rate_limit = rate_limit(config.orders_per_minute_per_ip);
    let operators = operators(config.has_operators);
    let keys = config
        .real_chains
        .as_ref()
        .map(|_| florin_servers::merchant::proxy_toml());
    let keys = keys.unwrap_or_default();
    format!(
        r#"listen = "{public}"
admin_listen = "{admin}"
public_url = "http://{front}"
database_url = "{database_url}"
environment = "{environment}"
trusted_proxies = {trusted_proxies:?}

{rate_limit}[gateway]
url = "http://{gateway}/api"
api_key = "{API_KEY}"
api_secret = "{API_SECRET}"
callback_token = "{CALLBACK_TOKEN}"
{checkout_url}
poll_interval_seconds = 1
requests_per_second = {requests_per_second}
{keys}
[[store]]
id = "other"
name = "Another shop"
origins = ["https://other.example"]
secret_key = "{OTHER_STORE_KEY}"
staff_pages = "{staff_pages}"
token_keys = [{{ kid = "k1", secret = "{OTHER_TOKEN_KEY}" }}]
image_origins = {image_origins:?}
[[store.product]]
sku = "ebook"
{picture}
title = "Another e-book"
price = "7.00"
[[store.donation]]
id = "coffee"
min = "1"
max = "9"

[[store]]
id = "demo"
name = "Quiet Goods"
origins = {origins:?}
currency = "{currency}"
secret_key = "{STORE_KEY}"
staff_pages = "{staff_pages}"
token_keys = [{{ kid = "k1", secret = "{TOKEN_KEY}" }}, {{ kid = "k2", secret = "{NEXT_TOKEN_KEY}" }}]
return_url = "http://{shop}/thanks"
support_url = "mailto:help@quiet-goods.example"
image_origins = {image_origins:?}
{store}

{webhook}

{catalogue}
{operators}"#
    )
}

fn rate_limit(orders_per_minute_per_ip: Option<u32>) -> String {
    orders_per_minute_per_ip.map_or_else(String::new, |orders| {
        format!("[rate_limit]\norders_per_minute_per_ip = {orders}\n")
    })
}

fn operators(has_operators: bool) -> String {
    if !has_operators {
        return String::new();
    }
    [
        operator("ada", OPERATOR_HASH, OPERATOR_TOKEN, "write"),
        operator("rita", READER_HASH, READER_TOKEN, "read"),
    ]
    .concat()
}

fn operator(name: &str, hash: &str, token: &str, role: &str) -> String {
    format!(
        "\n[[operator]]\nname = \"{name}\"\npassword_hash = \"{hash}\"\ntoken = \"{token}\"\nrole = \"{role}\"\n"
    )
}

/// The text of stores without a webhook and without a product, to add to `florin.toml`.
pub(crate) fn more_stores(count: u32) -> String {
    let key = STORE_KEY;
    let stores = (1..=count).map(|number| {
        format!(
            "\n[[store]]\nid = \"s{number}\"\nname = \"Shop {number}\"\n\
             origins = [\"https://s{number}.example\"]\nsecret_key = \"{key}{number}\"\n"
        )
    });
    stores.collect::<Vec<_>>().concat()
}
