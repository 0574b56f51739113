//! Every check of the configuration. All of them run: whoever mends one key is not told of the next one only then.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use checkout_api::Environment;
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use super::check_store::store;
use super::check_token_keys::require_distinct_keys;
use super::client_settings::{REQUESTS_PER_SECOND, nonce_rule};
use super::secret::secret;
use super::source::{File, ServiceTable};
use super::web_address::web_address;
use super::{Config, Network, Problem, Problems, PublicUrl, Service, Store};

/// Characters of a secret that somebody could guess at over the network.
pub(super) const MIN_GUESSABLE_CHARS: usize = 32;
/// Who buys opens one or two orders; behind the one address of an office there are some more.
const OPENS_PER_MINUTE: u32 = 30;

/// What was found wrong so far.
#[derive(Default)]
pub(super) struct Findings(Vec<Problem>);

impl Findings {
    pub(super) fn add(&mut self, key: &str, message: impl Into<String>) {
        self.0.push(Problem {
            key: key.to_owned(),
            message: message.into(),
        });
    }

    /// The value, or a finding.
    pub(super) fn take<T>(&mut self, key: &str, result: Result<T, String>) -> Option<T> {
        result.map_err(|message| self.add(key, message)).ok()
    }
}

/// Checks the settings, all of them.
pub(super) fn check(file: File, unknown_variables: Vec<String>) -> Result<Config, Problems> {
    let mut findings = Findings::default();
    for variable in unknown_variables {
        let message = "is no variable of Florin's: see florin-proxy config-reference";
        findings.add(&variable, message);
    }
    let environment = findings.take("environment", environment(file.environment.as_deref()));
    let is_test = environment != Some(Environment::Production);
    let listen = address(&mut findings, "listen", file.listen, "127.0.0.1:8080");
    let admin_listen = address(
        &mut findings,
        "admin_listen",
        file.admin_listen,
        "127.0.0.1:9090",
    );
    let public_url = file
        .public_url
        .as_deref()
        .unwrap_or("http://127.0.0.1:8080");
    let public_url = findings.take("public_url", public_address(public_url));
    let database_url = file
        .database_url
        .unwrap_or_else(|| "sqlite://florin.db".into());
    let in_memory = database_url.contains(":memory:") || database_url.contains("mode=memory");
    if !database_url.starts_with("sqlite://") || in_memory {
        let message =
            "write sqlite://path/to/florin.db: a ledger is a file, and no other is served";
        findings.add("database_url", message);
    }
    // Port 0 is whichever port is free: two of them differ.
    if listen.is_some_and(|address| address.port() != 0) && listen == admin_listen {
        findings.add(
            "admin_listen",
            "is the same as listen: the operator's pages need their own",
        );
    }
    let log = file.log.unwrap_or_else(|| "info".into());
    if let Err(error) = crate::log::check(&log) {
        findings.add("log", error);
    }
    let trusted_proxies = trusted_proxies(&mut findings, &file.trusted_proxies);
    let opens_per_minute = file.opens_per_minute.unwrap_or(OPENS_PER_MINUTE);
    if !(1..=10_000).contains(&opens_per_minute) {
        findings.add("opens_per_minute", "write 1 to 10000 orders a minute");
    }
    let service = service(&mut findings, file.service);
    let mut stores = Vec::new();
    let mut ids = BTreeSet::new();
    if file.store.is_empty() {
        findings.add("store", "describe one store at least, as [[store]]");
    }
    let is_only = file.store.len() == 1;
    for mut table in file.store {
        // The account at the service is everybody's: with several stores each is allowed to touch it by name only.
        table.service_access.get_or_insert(is_only);
        if !ids.insert(table.id.clone()) {
            findings.add(
                &format!("store.{}", table.id),
                "there are two stores of this id",
            );
        }
        stores.extend(store(&mut findings, table, is_test));
    }
    same_key_twice(&mut findings, &stores);
    require_distinct_keys(&mut findings, &stores);
    let config = (|| {
        Some(Config {
            listen: listen?,
            admin_listen: admin_listen?,
            public_url: public_url?,
            database_url,
            environment: environment?,
            service: service?,
            stores,
            trusted_proxies,
            opens_per_minute,
            log,
        })
    })();
    config
        .filter(|_| findings.0.is_empty())
        .ok_or(Problems(findings.0))
}

fn trusted_proxies(findings: &mut Findings, list: &[String]) -> Vec<Network> {
    let read = |text: &String| findings.take("trusted_proxies", Network::parse(text));
    list.iter().filter_map(read).collect()
}

fn environment(word: Option<&str>) -> Result<Environment, String> {
    match word {
        None | Some("test") => Ok(Environment::Test),
        Some("production") => Ok(Environment::Production),
        Some(other) => Err(format!(
            "{other:?} is no environment: write test or production"
        )),
    }
}

fn address(
    findings: &mut Findings,
    key: &str,
    text: Option<String>,
    default: &str,
) -> Option<SocketAddr> {
    let text = text.unwrap_or_else(|| default.to_owned());
    let parsed = text.parse::<SocketAddr>();
    findings.take(
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

fn service(findings: &mut Findings, table: ServiceTable) -> Option<Service> {
    let url = table
        .url
        .ok_or_else(|| "is required: the payment service's address".to_owned());
    let url = findings.take("service.url", url.and_then(|text| service_address(&text)));
    let api_key = secret(table.api_key, table.api_key_file, 1);
    let api_key = findings.take("service.api_key", api_key);
    let api_secret = secret(table.api_secret, table.api_secret_file, 1);
    let api_secret = findings.take("service.api_secret", api_secret);
    let token = secret(
        table.callback_token,
        table.callback_token_file,
        MIN_GUESSABLE_CHARS,
    );
    let token = findings.take("service.callback_token", token.and_then(fits_a_path));
    let checkout_url = table
        .checkout_url
        .and_then(|text| findings.take("service.checkout_url", service_address(&text)));
    let quote = seconds(
        findings,
        "service.quote_seconds",
        table.quote_seconds,
        60,
        10..=600,
    );
    let watch = seconds(
        findings,
        "service.watch_seconds",
        table.watch_seconds,
        5,
        1..=60,
    );
    let rate = table.requests_per_second.unwrap_or(REQUESTS_PER_SECOND);
    let rate = u32::try_from(rate)
        .ok()
        .filter(|rate| (1..=1000).contains(rate))
        .ok_or_else(|| "write 1 to 1000 requests a second".to_owned());
    let rate = findings.take("service.requests_per_second", rate);
    let nonces = findings.take("service.nonces", nonce_rule(table.nonces.as_deref()));
    Some(Service {
        url: url?,
        api_key: api_key?,
        api_secret: api_secret?,
        callback_token: token?,
        checkout_url,
        quote_lifetime: quote?,
        watch_interval: watch?,
        requests_per_second: rate?,
        nonces: nonces?,
        sign_put_body: table.sign_put_body.unwrap_or(false),
    })
}

/// The signed path begins behind the base address, so nothing may follow that.
fn service_address(text: &str) -> Result<Url, String> {
    let url = web_address(text)?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!(
            "{text:?} has a query: write scheme, host, port and path alone"
        ));
    }
    Ok(url)
}

fn fits_a_path(token: SecretString) -> Result<SecretString, String> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if token.expose_secret().bytes().all(plain) {
        return Ok(token);
    }
    Err("is part of a path: use letters, digits, - and _".into())
}

fn seconds(
    findings: &mut Findings,
    key: &str,
    value: Option<u64>,
    default: u64,
    range: std::ops::RangeInclusive<u64>,
) -> Option<Duration> {
    let value = value.unwrap_or(default);
    if range.contains(&value) {
        return Some(Duration::from_secs(value));
    }
    findings.add(
        key,
        format!("write {} to {} seconds", range.start(), range.end()),
    );
    None
}

/// Two stores of one key could not be told apart.
fn same_key_twice(findings: &mut Findings, stores: &[Store]) {
    let mut context = BTreeSet::new();
    for store in stores {
        if let Some(key) = &store.secret_key
            && !context.insert(key.expose_secret().to_owned())
        {
            findings.add(
                &format!("store.{}.secret_key", store.id),
                "is another store's key too",
            );
        }
    }
}
