//! The keys of the proxy itself, and all sections together.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use florin_checkout_api::Environment;
use florin_orders::StoreId;
use florin_storage::{Endpoint, PostgresOptions};
use ipnet::IpNet;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use url::{Host, Url};

use crate::config::effective_settings::Setting;
use crate::config::gateway::unchecked_page;
use crate::config::gateway::{Gateway, GatewayTable, gateway};
use crate::config::secrets::TokenKey;
use crate::config::sections::{
    DatabaseTable, Operator, OperatorTable, RateLimit, Tracing, TracingTable, check_database_url,
    database, database_url, database_url_direct, operators, tracing,
};
use crate::config::store::{Store, StoreTable, Webhook, store};
use crate::config::web_address::{Origin, network, open_to_all, web_address};
use crate::config::{Errors, Problem, Problems};

/// A configuration that passed every check.
#[derive(Debug)]
pub struct Config {
    /// Where browsers and stores call.
    pub listen: SocketAddr,
    pub admin_listen: SocketAddr,
    /// Where browsers reach `listen` from outside; without a trailing slash.
    pub public_url: PublicUrl,
    /// `sqlite://…` or `postgres://…`.
    pub database_url: DatabaseUrl,
    /// Past the pooler that `database_url` leads to, if it leads to one.
    pub database_url_direct: Option<DatabaseUrl>,
    /// Limits of the connections to PostgreSQL.
    pub database: PostgresOptions,
    pub environment: Environment,
    pub gateway: Gateway,
    /// The stores, one at least.
    pub stores: Vec<Store>,
    pub(crate) operators: Vec<Operator>,
    pub(crate) trusted_proxies: Vec<IpNet>,
    pub(crate) rate_limit: RateLimit,
    pub(crate) tracing: Option<Tracing>,
    /// What is logged: `tracing` filter directives.
    pub log: String,
    /// What is valid and probably a mistake.
    pub warnings: Vec<Problem>,
    pub(crate) settings: Vec<Setting>,
    /// How often the process has reloaded its configuration before this one.
    pub(crate) generation: u64,
}

impl Config {
    pub(crate) fn store(&self, id: &StoreId) -> Option<&Store> {
        self.stores.iter().find(|store| store.id == *id)
    }

    pub(crate) fn webhook(&self, endpoint: &Endpoint) -> Option<&Webhook> {
        let mut webhooks = self.store(&endpoint.store)?.webhooks.iter();
        webhooks.find(|webhook| webhook.key == *endpoint)
    }

    /// The address of the database itself, past a pooler.
    pub fn direct_url(&self) -> &str {
        self.database_url_direct
            .as_ref()
            .unwrap_or(&self.database_url)
    }

    pub(crate) fn knows_origin(&self, origin: &str) -> bool {
        self.stores.iter().any(|store| store.lists_origin(origin))
    }
}

/// The database's address. It may hold a password: its `Debug` shows none.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl std::ops::Deref for DatabaseUrl {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[redacted]")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    base: String,
    origin: Origin,
}

impl PublicUrl {
    pub(crate) fn of(url: &Url) -> Self {
        let base = url.as_str().trim_end_matches('/').to_owned();
        Self {
            base,
            origin: Origin::of(url),
        }
    }

    /// The address without a trailing slash: `https://pay.shop.example`.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Where the proxy listens if browsers reach it directly: the address and port of an `http` one on loopback.
    fn direct(&self) -> Option<SocketAddr> {
        let url = Url::parse(&self.base).ok()?;
        if url.scheme() != "http" {
            return None;
        }
        let ip = match url.host()? {
            Host::Ipv4(ip) => IpAddr::V4(ip),
            Host::Ipv6(ip) => IpAddr::V6(ip),
            Host::Domain(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        };
        Some(SocketAddr::new(ip, url.port_or_known_default()?))
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }
}

pub(crate) fn schema() -> serde_json::Value {
    let settings = SchemaSettings::draft2020_12()
        .for_deserialize()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
    settings
        .into_generator()
        .into_root_schema_for::<File>()
        .to_value()
}

/// The file as it is written. Unknown keys are refused by name.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// Address and port that browsers and stores call.
    #[schemars(extend("x-default" = "that of an http `public_url`, else 127.0.0.1:8080"))]
    pub(crate) listen: Option<String>,
    /// Address and port of the health pages and the operator's pages; keep them from the public.
    #[schemars(extend("x-default" = "127.0.0.1:9090"))]
    pub(crate) admin_listen: Option<String>,
    /// Where browsers reach `listen`: scheme, host and port; https unless loopback.
    #[schemars(extend("x-default" = "http://127.0.0.1 and the port of `listen`"))]
    pub(crate) public_url: Option<String>,
    /// The SQLite file, made when it is missing; or `postgres://user:password@host/database`, which several proxies share and
    /// `florin-proxy migrate` prepares. It records its environment and refuses the other.
    #[schemars(extend("x-default" = "sqlite://florin.db"))]
    pub(crate) database_url: Option<String>,
    #[serde(rename = "database_url_file")]
    pub(crate) database_url_path: Option<String>,
    /// The same PostgreSQL database past the pooler in transaction mode (PgBouncer) that `database_url` leads to: announcements
    /// are received there, and `florin-proxy migrate` uses it.
    pub(crate) database_url_direct: Option<String>,
    #[serde(rename = "database_url_direct_file")]
    pub(crate) database_url_direct_path: Option<String>,
    /// `test` or `production`; production must be set explicitly.
    #[schemars(extend("x-default" = "test"))]
    pub(crate) environment: Option<Environment>,
    /// A `tracing` filter, like `info` or `florin_proxy=debug`. Log lines are JSON when they do not go to a terminal.
    #[schemars(extend("x-default" = "info"))]
    pub(crate) log: Option<String>,
    /// Reverse proxies in front, like `["10.0.0.0/8"]`: their `X-Forwarded-For` names the client.
    #[serde(default)]
    pub(crate) trusted_proxies: Vec<String>,
    /// Whether this file and the files of secrets may be readable or writable by others, for containers whose platform
    /// sets their permissions.
    #[serde(default)]
    #[expect(dead_code, reason = "read before the file is, in config/source.rs")]
    pub(crate) dangerous_allow_shared_files: bool,
    #[serde(default)]
    pub(crate) database: DatabaseTable,
    #[serde(default)]
    pub(crate) gateway: GatewayTable,
    #[serde(default)]
    pub(crate) rate_limit: RateLimit,
    #[serde(default)]
    pub(crate) tracing: TracingTable,
    #[serde(default)]
    pub(crate) store: Vec<StoreTable>,
    #[serde(default)]
    pub(crate) operator: Vec<OperatorTable>,
}

pub(crate) fn check(
    mut errors: Errors,
    file: File,
    settings: Vec<Setting>,
) -> Result<Config, Problems> {
    let environment = file.environment.unwrap_or(Environment::Test);
    let is_test = environment == Environment::Test;
    let mut warnings = Vec::new();
    let (listen, public_url) = addresses(
        &mut errors,
        &mut warnings,
        file.listen,
        file.public_url.as_deref(),
        is_test,
    );
    let admin_listen = admin_listen(&mut errors, file.admin_listen);
    warnings.extend(admin_listen.and_then(open_to_all));
    let database_url = database_url(&mut errors, file.database_url, file.database_url_path);
    check_database_url(&mut errors, &mut warnings, database_url.as_deref());
    let is_server = database_url
        .as_deref()
        .is_none_or(florin_storage::is_postgres);
    let database_url_direct = database_url_direct(
        &mut errors,
        file.database_url_direct,
        file.database_url_direct_path,
        is_server,
    );
    let database = database(&mut warnings, &file.database, is_server);
    // Port 0 is whichever port is free: two of them differ.
    if listen.is_some_and(|address| address.port() != 0) && listen == admin_listen {
        errors.add(
            "admin_listen",
            "is the same as listen: the operator's pages need their own",
        );
    }
    let log = file.log.unwrap_or_else(|| "info".into());
    if let Err(error) = crate::log::check(&log) {
        errors.add("log", error);
    }
    let trusted_proxies = trusted_proxies(&mut errors, &file.trusted_proxies);
    let gateway = gateway(&mut errors, file.gateway, environment);
    warnings.extend(gateway.as_ref().and_then(unchecked_page));
    let tracing = tracing(&mut errors, &file.tracing);
    let mut stores = Vec::new();
    if file.store.is_empty() {
        errors.add("store", "describe one store at least, as [[store]]");
    }
    errors.require_distinct("store", "id", file.store.iter().map(|store| &store.id));
    let is_only = file.store.len() == 1;
    for mut table in file.store {
        // All stores share the account at the gateway: with several stores each needs its own permission.
        table.gateway_access.get_or_insert(is_only);
        stores.extend(store(&mut errors, table, is_test));
    }
    let operators = operators(&mut errors, file.operator);
    require_distinct_keys(&mut errors, gateway.as_ref(), &stores, &operators);
    let config = (|| {
        Some(Config {
            listen: listen?,
            admin_listen: admin_listen?,
            public_url: public_url?,
            database_url: DatabaseUrl(database_url?),
            database_url_direct: database_url_direct.map(DatabaseUrl),
            database,
            environment,
            gateway: gateway?,
            stores,
            operators,
            trusted_proxies,
            rate_limit: file.rate_limit,
            tracing,
            log,
            warnings,
            settings,
            generation: 0,
        })
    })();
    errors.finish(config)
}

/// `listen` and `public_url`. One of them alone decides the other; two that differ are a warning.
fn addresses(
    errors: &mut Errors,
    warnings: &mut Vec<Problem>,
    listen: Option<String>,
    public_url: Option<&str>,
    is_test: bool,
) -> (Option<SocketAddr>, Option<PublicUrl>) {
    let given = public_url.map(public_address);
    let is_listen_given = listen.is_some();
    // Without encryption browsers reach the proxy itself.
    let of_url = given.as_ref().and_then(|url| url.as_ref().ok()?.direct());
    let default = of_url.map_or_else(|| "127.0.0.1:8080".to_owned(), |of_url| of_url.to_string());
    let listen = address(errors, "listen", listen, &default);
    let public_url = match given {
        Some(given) => given,
        None if is_test => {
            let port = listen.map_or(8080, |listen| listen.port());
            // Port 0 is whichever port is free.
            let port = if port == 0 { 8080 } else { port };
            public_address(&format!("http://127.0.0.1:{port}"))
        }
        None => Err(
            "is required in production: links and callbacks lead there. Write the address under which browsers reach \
             `listen`, like https://pay.shop.example"
                .to_owned(),
        ),
    };
    let public_url = errors.record("public_url", public_url);
    if let (true, Some(listen), Some(of_url), Some(url)) =
        (is_listen_given, listen, of_url, &public_url)
        && listen.port() != of_url.port()
    {
        warnings.push(Problem::new(
            "listen",
            format!(
                "has port {}, and browsers are sent to {}: unless a reverse proxy listens there, write one port in \
                 listen and public_url, or leave listen out",
                listen.port(),
                url.base()
            ),
        ));
    }
    (listen, public_url)
}

pub(crate) fn admin_listen(errors: &mut Errors, text: Option<String>) -> Option<SocketAddr> {
    address(errors, "admin_listen", text, "127.0.0.1:9090")
}

fn trusted_proxies(errors: &mut Errors, list: &[String]) -> Vec<IpNet> {
    let read = |text: &String| errors.record("trusted_proxies", network(text));
    list.iter().filter_map(read).collect()
}

fn address(
    errors: &mut Errors,
    key: &str,
    text: Option<String>,
    default: &str,
) -> Option<SocketAddr> {
    let text = text.unwrap_or_else(|| default.to_owned());
    let parsed = text.parse::<SocketAddr>();
    errors.record(
        key,
        parsed.map_err(|_| format!("{text:?} is no address: write like {default}")),
    )
}

fn public_address(text: &str) -> Result<PublicUrl, String> {
    let url = web_address(text)?;
    if url.query().is_some() || url.fragment().is_some() || url.path() != "/" {
        return Err(format!(
            "{text:?} has a path or query: write scheme, host and port alone"
        ));
    }
    Ok(PublicUrl::of(&url))
}

/// Requires that no secret has two uses: who learns it by one of them must not have the other. The token of the callbacks,
/// for example, is in the access logs of reverse proxies.
fn require_distinct_keys(
    errors: &mut Errors,
    gateway: Option<&Gateway>,
    stores: &[Store],
    operators: &[Operator],
) {
    let mut secrets = Vec::new();
    if let Some(gateway) = gateway {
        let secret = &gateway.client.credentials.api_secret;
        secrets.push(("gateway.api_secret".to_owned(), secret));
        secrets.extend(gateway.callback_token.named("gateway.callback_token"));
    }
    for store in stores {
        let of_store = |name: &str| format!("store.{}.{name}", store.id);
        if let Some(key) = &store.secret_key {
            secrets.extend(key.named(&of_store("secret_key")));
        }
        let keys = store.token_keys.iter();
        secrets.extend(
            keys.map(|TokenKey { kid, secret }| (of_store(&format!("token_keys.{kid}")), secret)),
        );
    }
    for operator in operators {
        if let Some(token) = &operator.token {
            secrets.extend(token.named(&format!("operator.{}.token", operator.name)));
        }
    }
    for (n, (key, secret)) in secrets.iter().enumerate() {
        let is_same = |known: &SecretString| known.expose_secret() == secret.expose_secret();
        if let Some((first, _)) = secrets[..n].iter().find(|(_, known)| is_same(known)) {
            let message = format!("is the same as {first}: generate a separate one");
            errors.add(key, message);
        }
    }
}
