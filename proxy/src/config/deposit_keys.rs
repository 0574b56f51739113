//! `[[gateway.deposit_key]]`: the keys that deposit addresses are derived from.

use std::collections::BTreeMap;

use florin_address::{DepositKey, Network};
use florin_money::{Asset, CryptoCode};
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use crate::config::secrets::secret;
use crate::config::{Errors, Gateway, Problem};

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

pub(crate) fn deposit_keys(
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
