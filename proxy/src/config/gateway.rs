//! `[gateway]`: how the payment gateway is reached and asked.

use std::collections::BTreeMap;
use std::time::Duration;

use florin_address::{DepositKey, Network};
use florin_checkout_api::Environment;
use florin_gateway_client::{Credentials, NonceRule, Settings};
use florin_money::{Amount, Asset, CryptoCode};
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use url::Url;

use crate::config::secrets::{MIN_GUESSABLE_CHARS, OneOrMore, SecretPair, secret, secret_pair};
use crate::config::web_address::web_address;
use crate::config::{Errors, Problem};

pub(crate) const REQUESTS_PER_SECOND: u32 = 10;
const QUOTE_TTL_SECONDS: u64 = 60;
const POLL_INTERVAL_SECONDS: u64 = 5;

#[derive(Debug)]
pub struct Gateway {
    pub client: Settings,
    pub(crate) callback_token: SecretPair,
    pub(crate) checkout_url: Option<Url>,
    pub(crate) quote_ttl: Duration,
    pub(crate) poll_interval: Duration,
    /// What a transfer of an asset costs its sender, about, in US dollars.
    pub(crate) network_fees: BTreeMap<CryptoCode, Amount>,
    /// Where its addresses are.
    pub(crate) network: Network,
    pub(crate) deposit_keys: BTreeMap<CryptoCode, DepositKey>,
}

impl Gateway {
    /// The first address of each deposit key, by asset. A wallet shows it as its first one to receive with.
    pub fn first_addresses(&self) -> BTreeMap<String, String> {
        let keys = self.deposit_keys.iter();
        keys.map(|(code, key)| (code.to_string(), key.address(0)))
            .collect()
    }
}

/// How the payment gateway is reached and asked.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GatewayTable {
    /// Base address of the gateway, with its `/api`.
    #[schemars(extend("x-default" = "required"))]
    pub(crate) url: Option<String>,
    /// Names the account at the gateway.
    #[schemars(extend("x-default" = "required"))]
    pub(crate) api_key: Option<String>,
    pub(crate) api_key_file: Option<String>,
    /// Signs the calls to the gateway.
    #[schemars(extend("x-default" = "required"))]
    pub(crate) api_secret: Option<String>,
    pub(crate) api_secret_file: Option<String>,
    /// 32 or more random characters. The gateway sends its callbacks to `{public_url}/callbacks/{callback_token}`. Or a list
    /// of two while one replaces the other: new invoices name the first, callbacks to both are accepted.
    #[schemars(extend("x-default" = "required"))]
    pub(crate) callback_token: Option<OneOrMore>,
    pub(crate) callback_token_file: Option<OneOrMore>,
    /// Address of the gateway's hosted page. Orders with `flow` `hosted` need it: their customers are sent nowhere else.
    pub(crate) checkout_url: Option<String>,
    /// How long a price is offered, 10 to 600. Assumed: a `conversion_id` lives at least this long.
    #[schemars(range(min = 10, max = 600), extend("x-default" = QUOTE_TTL_SECONDS))]
    pub(crate) quote_ttl_seconds: Option<u64>,
    /// Time between two polls of an attempt that a page watches, while its customer has just reported a payment, 1 to 60; three
    /// times as long while its order stays open. In the first ten minutes of an attempt, three tenths of it.
    #[schemars(range(min = 1, max = 60), extend("x-default" = POLL_INTERVAL_SECONDS))]
    pub(crate) poll_interval_seconds: Option<u64>,
    /// Most requests to the gateway, 1 to 1000. A 429 halves it, other responses raise it again. Assumed: the gateway
    /// accepts ten.
    #[schemars(range(min = 1, max = 1000), extend("x-default" = REQUESTS_PER_SECOND))]
    pub(crate) requests_per_second: Option<u32>,
    /// `must_increase` if the gateway accepts each nonce once only. The proxy then sends one request a second.
    #[schemars(with = "String", extend("enum" = ["may_repeat", "must_increase"]))]
    #[serde(default)]
    pub(crate) nonces: NonceRule,
    /// `true` if the signature of a PUT covers its body. Assumed: it does not, because the specification signs the body of
    /// a POST alone.
    #[serde(default)]
    pub(crate) sign_put_body: bool,
    /// `true` if the gateway's nodes are development nodes: regtest for Bitcoin's family, Anvil (chain 31337) for Ethereum's.
    /// In the environment `test` alone.
    #[serde(default)]
    pub(crate) regtest: bool,
    #[serde(default)]
    pub(crate) network_fee: Vec<NetworkFeeTable>,
    #[serde(default)]
    pub(crate) deposit_key: Vec<DepositKeyTable>,
}

/// What a transfer of an asset costs its sender, about. The list of assets shows it; of an asset without one it shows none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NetworkFeeTable {
    /// The asset: `USDTTRC20`.
    pub(crate) crypto_code: String,
    /// The fee in US dollars: "1.20".
    pub(crate) usd: String,
}

pub(crate) fn gateway(
    errors: &mut Errors,
    table: GatewayTable,
    environment: Environment,
) -> Option<Gateway> {
    let url = table
        .url
        .ok_or_else(|| "is required: the gateway's address".to_owned());
    let url = errors.record("gateway.url", url.and_then(|text| gateway_address(&text)));
    let api_key = secret(table.api_key, table.api_key_file, 1);
    let api_key = errors.record("gateway.api_key", api_key.and_then(fits_a_header));
    let api_secret = secret(table.api_secret, table.api_secret_file, 1);
    let api_secret = errors.record("gateway.api_secret", api_secret);
    let token = secret_pair(
        table.callback_token,
        table.callback_token_file,
        MIN_GUESSABLE_CHARS,
    );
    let token = errors.record("gateway.callback_token", token.and_then(fits_a_path));
    let checkout_url = table
        .checkout_url
        .and_then(|text| errors.record("gateway.checkout_url", gateway_address(&text)));
    let network_fees = network_fees(errors, &table.network_fee);
    let network = errors.record("gateway.regtest", network(environment, table.regtest))?;
    let deposit_keys = deposit_keys(errors, table.deposit_key, network);
    let credentials = Credentials {
        api_key: api_key?,
        api_secret: api_secret?,
    };
    Some(Gateway {
        client: Settings {
            requests_per_second: table.requests_per_second.unwrap_or(REQUESTS_PER_SECOND),
            nonces: table.nonces,
            sign_put_body: table.sign_put_body,
            ..Settings::new(url?, credentials)
        },
        callback_token: token?,
        checkout_url,
        quote_ttl: Duration::from_secs(table.quote_ttl_seconds.unwrap_or(QUOTE_TTL_SECONDS)),
        poll_interval: Duration::from_secs(
            table.poll_interval_seconds.unwrap_or(POLL_INTERVAL_SECONDS),
        ),
        network_fees,
        network,
        deposit_keys,
    })
}

fn network(environment: Environment, is_regtest: bool) -> Result<Network, String> {
    match (environment, is_regtest) {
        (Environment::Test, true) => Ok(Network::Regtest),
        (Environment::Test, false) => Ok(Network::Test),
        (Environment::Production, false) => Ok(Network::Main),
        (Environment::Production, true) => {
            Err("is for the environment test: leave it out in production".to_owned())
        }
    }
}

fn network_fees(errors: &mut Errors, tables: &[NetworkFeeTable]) -> BTreeMap<CryptoCode, Amount> {
    const KEY: &str = "gateway.network_fee";
    let codes = tables.iter().map(|table| &table.crypto_code);
    errors.require_distinct(KEY, "crypto_code", codes);
    let mut fees = BTreeMap::new();
    for NetworkFeeTable { crypto_code, usd } in tables {
        let key = format!("{KEY}.{crypto_code}");
        let code = CryptoCode::parse(crypto_code).map_err(|error| error.to_string());
        let usd = Amount::parse(usd).map_err(|error| format!("usd: {error}"));
        if let (Some(code), Some(usd)) = (errors.record(&key, code), errors.record(&key, usd)) {
            fees.insert(code, usd);
        }
    }
    fees
}

/// The signed path begins behind the base address, so nothing may follow that.
fn gateway_address(text: &str) -> Result<Url, String> {
    let url = web_address(text)?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!(
            "{text:?} has a query: write scheme, host, port and path alone"
        ));
    }
    Ok(url)
}

fn fits_a_header(key: SecretString) -> Result<SecretString, String> {
    if key.expose_secret().bytes().all(|b| b.is_ascii_graphic()) {
        return Ok(key);
    }
    Err("is sent in a header: use visible ASCII characters".into())
}

fn fits_a_path(token: SecretPair) -> Result<SecretPair, String> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    let fits = |token: &SecretString| token.expose_secret().bytes().all(plain);
    if token.all().all(fits) {
        return Ok(token);
    }
    Err("is part of a path: use letters, digits, - and _".into())
}

/// The public key of the wallet that receives an asset. Its addresses are then derived here too, and an invoice with any
/// other is blocked. The gateway must name the index of each address. Of an asset without a key, addresses are not derived.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DepositKeyTable {
    /// The asset: `BTC`. Tokens of a chain have their own entry: `USDTERC20`.
    pub(crate) crypto_code: String,
    /// The account's public key as the wallet exports it, the same as at the gateway: an output descriptor, zpub or ypub for
    /// BTC and LTC, an extended public key (xpub) for other assets. It spends nothing, but shows all that was ever received.
    #[schemars(extend("x-default" = "required"))]
    pub(crate) key: Option<String>,
    pub(crate) key_file: Option<String>,
}

fn deposit_keys(
    errors: &mut Errors,
    tables: Vec<DepositKeyTable>,
    network: Network,
) -> BTreeMap<CryptoCode, DepositKey> {
    const KEY: &str = "gateway.deposit_key";
    let codes = tables.iter().map(|table| &table.crypto_code);
    errors.require_distinct(KEY, "crypto_code", codes);
    let mut keys = BTreeMap::new();
    for table in tables {
        let name = format!("{KEY}.{}", table.crypto_code);
        let asset = CryptoCode::parse(&table.crypto_code)
            .ok()
            .and_then(|code| Asset::of(&code))
            .ok_or_else(|| "is no asset that Florin knows".to_owned());
        let text = secret(table.key, table.key_file, 1);
        let (Some(asset), Some(text)) = (errors.record(&name, asset), errors.record(&name, text))
        else {
            continue;
        };
        if let Some(key) = errors.record(&name, parse(asset, network, &text)) {
            keys.insert(asset.crypto_code(), key);
        }
    }
    keys
}

fn parse(asset: Asset, network: Network, text: &SecretString) -> Result<DepositKey, String> {
    let key = DepositKey::parse(asset, network, text.expose_secret());
    key.map_err(|error| format!("key: {error}"))
}

/// Warns of the gateway's own page, where no key is asked.
pub(crate) fn unchecked_page(gateway: &Gateway) -> Option<Problem> {
    let is_unchecked = gateway.checkout_url.is_some() && !gateway.deposit_keys.is_empty();
    is_unchecked.then(|| {
        Problem::new(
            "gateway.checkout_url",
            "leads to pages whose addresses no gateway.deposit_key checks: leave it out unless orders need `flow` `hosted`",
        )
    })
}
