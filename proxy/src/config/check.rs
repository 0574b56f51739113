//! Every check of the configuration. All of them run: whoever mends one key is not told of the next one only then.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use checkout_api::Environment;
use ledger::StoreId;
use money::{Amount, Currency};
use secrecy::{ExposeSecret as _, SecretString};
use url::{Host, Url};

use super::secret::secret;
use super::source::{File, ProductTable, ServiceTable, StoreTable, WebhookTable};
use super::{Config, Origin, Problem, Problems, Product, PublicUrl, Service, Store, Webhook};
use crate::webhook::WebhookSecret;

/// Characters of a secret that somebody could guess at over the network.
const MIN_GUESSABLE_CHARS: usize = 32;
/// Bytes of a webhook secret. Source: Standard Webhooks 1.0.0, "Signature scheme": between 24 and 64.
const WEBHOOK_SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// What was found wrong so far.
#[derive(Default)]
struct Findings(Vec<Problem>);

impl Findings {
    fn add(&mut self, key: &str, message: impl Into<String>) {
        self.0.push(Problem {
            key: key.to_owned(),
            message: message.into(),
        });
    }

    /// The value, or a finding.
    fn take<T>(&mut self, key: &str, result: Result<T, String>) -> Option<T> {
        result.map_err(|message| self.add(key, message)).ok()
    }
}

/// Checks the settings, all of them.
pub(super) fn check(file: File) -> Result<Config, Problems> {
    let mut findings = Findings::default();
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
    if !database_url.starts_with("sqlite:") {
        findings.add(
            "database_url",
            "write sqlite://path/to/florin.db: no other database is served",
        );
    }
    let service = service(&mut findings, file.service);
    let mut stores = Vec::new();
    let mut ids = BTreeSet::new();
    if file.store.is_empty() {
        findings.add("store", "describe one store at least, as [[store]]");
    }
    for table in file.store {
        if !ids.insert(table.id.clone()) {
            findings.add(
                &format!("store.{}", table.id),
                "there are two stores of this id",
            );
        }
        stores.extend(store(&mut findings, table, is_test));
    }
    same_key_twice(&mut findings, &stores);
    let config = (|| {
        Some(Config {
            listen: listen?,
            admin_listen: admin_listen?,
            public_url: public_url?,
            database_url,
            environment: environment?,
            service: service?,
            stores,
            log: file.log.unwrap_or_else(|| "info".into()),
        })
    })();
    config
        .filter(|_| findings.0.is_empty())
        .ok_or(Problems(findings.0))
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

/// An `https` address, or an `http` one on this machine.
fn web_address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text)
        .map_err(|error| format!("{text:?} is no address ({error}): write like https://…"))?;
    if url.cannot_be_a_base() || url.host().is_none() {
        return Err(format!(
            "{text:?} is no web address: write like https://pay.shop.example"
        ));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must carry no user name and no password".into());
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        "http" => Err(format!(
            "{text:?} is not encrypted: write https://… (http only on loopback)"
        )),
        other => Err(format!("{other}: is no web address: write https://…")),
    }
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

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

fn service(findings: &mut Findings, table: ServiceTable) -> Option<Service> {
    let url = table
        .url
        .ok_or_else(|| "is required: the payment service's address".to_owned());
    let url = findings.take("service.url", url.and_then(|text| web_address(&text)));
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
    Some(Service {
        url: url?,
        api_key: api_key?,
        api_secret: api_secret?,
        callback_token: token?,
        quote_lifetime: quote?,
        watch_interval: watch?,
    })
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

fn store(findings: &mut Findings, table: StoreTable, is_test: bool) -> Option<Store> {
    let key = |name: &str| format!("store.{}.{name}", table.id);
    let id = StoreId::parse(&table.id).map_err(|error| error.to_string());
    let id = findings.take(&key("id"), id);
    let currency = Currency::parse(table.currency.as_deref().unwrap_or("USD"));
    let currency = findings.take(
        &key("currency"),
        currency.map_err(|error| error.to_string()),
    );
    let mut origins = Vec::new();
    for text in &table.origins {
        origins.extend(findings.take(&key("origins"), origin(text)));
    }
    let secret_key = if table.secret_key.is_some() || table.secret_key_file.is_some() {
        let found = secret(table.secret_key, table.secret_key_file, MIN_GUESSABLE_CHARS);
        findings.take(&key("secret_key"), found)
    } else {
        None
    };
    for (name, link) in [
        ("return_url", &table.return_url),
        ("support_url", &table.support_url),
    ] {
        if let Some(text) = link {
            findings.take(&key(name), link_address(text, name == "support_url"));
        }
    }
    let tolerance = Amount::parse(table.underpayment_tolerance.as_deref().unwrap_or("0"));
    let tolerance = findings.take(
        &key("underpayment_tolerance"),
        tolerance.map_err(|error| error.to_string()),
    );
    let confirmations_required = table.confirmations_required.unwrap_or(3);
    if !(1..=100).contains(&confirmations_required) {
        findings.add(&key("confirmations_required"), "write 1 to 100 blocks");
    }
    let theme = table.theme.preset.unwrap_or_else(|| "auto".into());
    if !["auto", "light", "dark"].contains(&theme.as_str()) {
        findings.add(&key("theme.preset"), "write auto, light or dark");
    }
    let webhook = table.webhook.and_then(|hook| {
        let found = webhook(hook, is_test);
        findings.take(&key("webhook"), found)
    });
    let mut products = Vec::new();
    for product in table.product {
        let sku_key = key(&format!("product.{}", product.sku));
        let found = currency.ok_or_else(String::new).and_then(|currency| {
            self::product(product, currency, tolerance.unwrap_or(Amount::ZERO))
        });
        let found = findings.take(&sku_key, found);
        products.extend(found);
    }
    for (n, product) in products.iter().enumerate() {
        if products[..n]
            .iter()
            .any(|earlier: &Product| earlier.sku == product.sku)
        {
            findings.add(
                &key(&format!("product.{}", product.sku)),
                "there are two of this sku",
            );
        }
    }
    Some(Store {
        name: table.name.unwrap_or_else(|| table.id.clone()),
        id: id?,
        origins,
        currency: currency?,
        secret_key,
        return_url: table.return_url,
        support_url: table.support_url,
        tolerance: tolerance?,
        confirmations_required,
        webhook,
        theme,
        products,
    })
}

fn origin(text: &str) -> Result<Origin, String> {
    let url = web_address(text)?;
    let origin = Origin::of(&url);
    if origin.as_str() == text {
        return Ok(origin);
    }
    Err(format!(
        "{text:?} is no origin: write {:?}",
        origin.as_str()
    ))
}

fn link_address(text: &str, may_be_mail: bool) -> Result<(), String> {
    if may_be_mail
        && text
            .strip_prefix("mailto:")
            .is_some_and(|to| to.contains('@'))
    {
        return Ok(());
    }
    web_address(text).map(|_| ())
}

fn product(table: ProductTable, currency: Currency, tolerance: Amount) -> Result<Product, String> {
    let text = table.price.ok_or("needs a price")?;
    let price = Amount::parse(&text).map_err(|error| error.to_string())?;
    if price.is_zero() {
        return Err("the price must be above zero".into());
    }
    if price <= tolerance {
        return Err("the price must be above the store's underpayment_tolerance".into());
    }
    if price.decimals() > currency.decimals() {
        let decimals = currency.decimals();
        return Err(format!(
            "{text} has more than the {decimals} decimals of {currency}"
        ));
    }
    let max_quantity = table.max_quantity.unwrap_or(1);
    if !(1..=10_000).contains(&max_quantity) {
        return Err("max_quantity: write 1 to 10000".into());
    }
    price
        .times(max_quantity)
        .map_err(|error| format!("price × max_quantity: {error}"))?;
    let title = table.title.unwrap_or_else(|| table.sku.clone());
    if title.chars().count() > 100 {
        return Err("the title has more than 100 characters".into());
    }
    Ok(Product {
        sku: table.sku,
        title,
        price: price.padded(currency.decimals()),
        max_quantity,
    })
}

fn webhook(table: WebhookTable, is_test: bool) -> Result<Webhook, String> {
    let private = table.dangerous_allow_private_targets;
    if private && !is_test {
        return Err("dangerous_allow_private_targets is for the environment test alone".into());
    }
    let url = web_address(&table.url).map_err(|message| format!("url: {message}"))?;
    let literal = match url.host() {
        Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
        _ => None,
    };
    if !private && (is_loopback(&url) || literal.is_some_and(|a| !crate::webhook::is_public(a))) {
        return Err(format!(
            "url: {} is a private address; for a test on one machine set \
             dangerous_allow_private_targets = true",
            table.url
        ));
    }
    let text = secret(table.secret, table.secret_file, 1).map_err(|m| format!("secret: {m}"))?;
    let shape = "secret: write whsec_ and 24 to 64 random bytes in base64";
    let encoded = text.expose_secret().strip_prefix("whsec_").ok_or(shape)?;
    let bytes = STANDARD.decode(encoded).map_err(|_| shape)?;
    if !WEBHOOK_SECRET_BYTES.contains(&bytes.len()) {
        return Err(shape.into());
    }
    let secret = WebhookSecret::new(bytes);
    Ok(Webhook {
        url,
        secret,
        dangerous_allow_private_targets: private,
    })
}

/// Two stores of one key could not be told apart.
fn same_key_twice(findings: &mut Findings, stores: &[Store]) {
    let mut seen = BTreeSet::new();
    for store in stores {
        if let Some(key) = &store.secret_key
            && !seen.insert(key.expose_secret().to_owned())
        {
            findings.add(
                &format!("store.{}.secret_key", store.id),
                "is another store's key too",
            );
        }
    }
}
