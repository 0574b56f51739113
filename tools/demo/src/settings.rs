//! Settings that the three parts of the demo share: ports, secrets, and the proxy's configuration.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use florin_money::Currency;
use florin_servers::merchant;
use florin_shop::{DONATIONS_TOML, PRODUCTS_TOML};

/// The name with which the operator signs in.
pub(crate) const OPERATOR: &str = "owner";

#[derive(Clone, Copy)]
pub(crate) struct Ports {
    pub(crate) proxy: u16,
    pub(crate) shop: u16,
    /// The page with the wallet, where there is a chain.
    pub(crate) wallet: u16,
    pub(crate) sandbox: u16,
    pub(crate) admin: u16,
}

impl Ports {
    /// `base` is at most 64525, so that the admin port exists. `xtask/src/demo.rs` checks the same ports before it builds.
    pub(crate) fn from_base(base: u16) -> Self {
        Self {
            proxy: base,
            shop: base + 1,
            wallet: base + 2,
            sandbox: base + 10,
            admin: base + 1010,
        }
    }

    /// Where a proxy of several listens, behind the address of all.
    pub(crate) fn replica(self, number: u8) -> u16 {
        self.proxy + 20 + u16::from(number)
    }

    /// The first one has the port of a single proxy.
    pub(crate) fn replica_admin(self, number: u8) -> u16 {
        let of_several = self.proxy + 30 + u16::from(number);
        if number == 1 { self.admin } else { of_several }
    }

    pub(crate) fn chain(self) -> u16 {
        self.proxy + 3
    }

    pub(crate) fn tour(self) -> u16 {
        self.proxy + 4
    }

    /// The gateway has the sandbox's port, and this for its health and metrics.
    pub(crate) fn gateway_admin(self) -> u16 {
        self.sandbox + 1
    }
}

/// Secrets of one run. Only the operator's password is printed.
pub(crate) struct Secrets {
    api_key: String,
    api_secret: String,
    /// Part of the callbacks' URL.
    pub(crate) callback_token: String,
    pub(crate) secret_key: String,
    pub(crate) token_key: String,
    /// `whsec_` and base64 of 24 bytes.
    pub(crate) webhook_secret: String,
    pub(crate) operator_password: String,
}

impl Secrets {
    pub(crate) fn generate() -> Self {
        Self {
            api_key: random_hex::<32>(),
            api_secret: random_hex::<32>(),
            callback_token: random_hex::<32>(),
            secret_key: format!("sk_{}", random_hex::<32>()),
            token_key: random_hex::<32>(),
            webhook_secret: format!("whsec_{}", STANDARD.encode(random::<24>())),
            operator_password: random_hex::<10>(),
        }
    }

    /// Where the gateway reports payments.
    fn callback_url(&self, ports: Ports) -> String {
        let (proxy, token) = (ports.proxy, &self.callback_token);
        format!("http://127.0.0.1:{proxy}/callbacks/{token}")
    }

    /// The configuration of a gateway in place of the sandbox; `chains` is its end.
    pub(crate) fn gateway_toml(&self, ports: Ports, database: &Path, chains: &str) -> String {
        format!(
            r#"listen = "127.0.0.1:{listen}"
admin_listen = "127.0.0.1:{admin}"
database_url = "sqlite://{database}?mode=rwc"
network = "regtest"
api_key = "{api_key}"
api_secret = "{api_secret}"
callback_url = "{callback_url}"
{chains}"#,
            listen = ports.sandbox,
            admin = ports.gateway_admin(),
            database = database.display(),
            api_key = self.api_key,
            api_secret = self.api_secret,
            callback_url = self.callback_url(ports),
        )
    }

    pub(crate) fn sandbox(&self, ports: Ports) -> florin_sandbox::Settings {
        florin_sandbox::Settings {
            callback_url: Some(self.callback_url(ports)),
            api_key: self.api_key.clone(),
            api_secret: self.api_secret.clone().into(),
            ..florin_sandbox::Settings::default()
        }
    }

    pub(crate) fn shop(&self, ports: Ports) -> florin_shop::Settings {
        florin_shop::Settings {
            proxy_url: format!("http://127.0.0.1:{}", ports.proxy),
            store_id: "demo".to_owned(),
            secret_key: self.secret_key.as_str().into(),
            webhook_secret: self.webhook_secret.as_str().into(),
            token_key: self.token_key.as_str().into(),
            currency: Currency::USD,
            new_reference: || format!("cart-{}", random_hex::<16>()),
            now: Box::new(unix_seconds),
        }
    }
}

/// Twice as many hexadecimal digits as bytes.
pub(crate) fn random_hex<const BYTES: usize>() -> String {
    hex::encode(random::<BYTES>())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a program is where randomness comes in"
)]
fn random<const BYTES: usize>() -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    bytes
}

/// The text of `florin.toml`: one store, the demo shop, with its products and donations. With `has_chains` the gateway is
/// one on nodes of this machine, which has no page that takes payments.
pub(crate) fn florin_toml(
    ports: Ports,
    secrets: &Secrets,
    folder: &Path,
    database_url: Option<&str>,
    has_chains: bool,
) -> String {
    let Ports {
        proxy,
        shop,
        wallet,
        sandbox,
        admin,
    } = ports;
    let tour = ports.tour();
    let Secrets {
        api_key,
        api_secret,
        callback_token,
        secret_key,
        token_key,
        webhook_secret,
        operator_password,
    } = secrets;
    let password_hash = florin_proxy::hash_password(&operator_password.as_str().into());
    let password_hash = password_hash.expect("a short text is hashed");
    let here = format!("sqlite://{}", folder.join("florin.db").display());
    let database_url = database_url.unwrap_or(&here);
    let gateway = if has_chains {
        merchant::proxy_toml()
    } else {
        format!("checkout_url = \"http://127.0.0.1:{sandbox}/checkout\"\n")
    };
    format!(
        r#"listen = "127.0.0.1:{proxy}"
admin_listen = "127.0.0.1:{admin}"
public_url = "http://127.0.0.1:{proxy}"
database_url = "{database_url}"
environment = "test"

[gateway]
url = "http://127.0.0.1:{sandbox}/api"
api_key = "{api_key}"
api_secret = "{api_secret}"
callback_token = "{callback_token}"
{gateway}
[[operator]]
name = "{OPERATOR}"
password_hash = "{password_hash}"
role = "write"

[[store]]
id = "demo"
name = "Quiet Goods"
# The second is for a page of yours, like packages/florin/example; the third is that of `trunk serve`, the
# fourth the page with a wallet of `cargo xtask demo --chain`, the fifth the tour.
origins = ["http://127.0.0.1:{shop}", "http://127.0.0.1:3000", "http://127.0.0.1:8085", "http://127.0.0.1:{wallet}", "http://127.0.0.1:{tour}"]
currency = "USD"
secret_key = "{secret_key}"
token_keys = [{{ kid = "k1", secret = "{token_key}" }}]
return_url = "http://127.0.0.1:{shop}/thanks"
support_url = "mailto:help@quiet-goods.example"

[[store.webhook]]
url = "http://127.0.0.1:{shop}/florin"
secret = "{webhook_secret}"
# The shop runs on this machine; allowed in the environment `test` alone.
dangerous_allow_private_targets = true

{PRODUCTS_TOML}
{DONATIONS_TOML}"#
    )
}

#[expect(
    clippy::disallowed_methods,
    reason = "a program is where the clock comes in"
)]
fn unix_seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It refuses a secret that is used twice or can be guessed.
    #[test]
    fn the_proxy_accepts_the_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = Secrets::generate();
        let file = folder.path().join("florin.toml");
        for has_chains in [false, true] {
            let ports = Ports::from_base(8080);
            let toml = florin_toml(ports, &secrets, folder.path(), None, has_chains);
            crate::write_private(&file, &toml).unwrap();
            let config =
                florin_proxy::config::load(Some(&file), &std::collections::BTreeMap::new());
            let config = config.unwrap_or_else(|problems| panic!("{problems}"));
            assert!(config.database_url.ends_with("/florin.db"));
        }
    }
}
