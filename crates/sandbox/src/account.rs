//! Settlement wallets and the PSP API: POST and PUT /preferences, POST /aggregator/merchants, GET /merchant/account,
//! PUT /settings.
//!
//! `Assumed:` every shape; the specification lists these endpoints by name only. One wallet for each merchant and asset,
//! `crypto_code` and `wallet_address` as strings, `merchant_id` optional; POST adds and PUT changes. Other members are
//! kept and sent back as they are.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::api::request::{ApiError, Call};
use crate::prices::Prices;
use crate::settings::Seed;

/// Records of each kind; more are rejected.
const CAPACITY: usize = 1_000;
const MAX_MEMBERS: usize = 200;

/// Merchant (empty: the account itself) and asset.
type WalletKey = (String, String);

#[derive(Debug)]
pub(crate) struct Accounts {
    seed: Seed,
    merchant_count: u64,
    wallets: BTreeMap<WalletKey, Map<String, Value>>,
    profiles: BTreeMap<String, Map<String, Value>>,
}

impl Accounts {
    pub(crate) fn new(seed: Seed) -> Self {
        Self {
            seed,
            merchant_count: 0,
            wallets: BTreeMap::new(),
            profiles: BTreeMap::new(),
        }
    }

    /// POST /aggregator/merchants: needs a `merchant_name`; the request comes back with a `merchant_id`.
    pub(crate) fn onboard(&mut self, call: &Call) -> Result<Value, ApiError> {
        let members = call.members()?;
        if members.text("merchant_name")?.trim().is_empty() {
            return Err(ApiError::invalid("merchant_name must not be empty"));
        }
        let id = format!("mer_{}", self.seed.id("merchant", self.merchant_count));
        self.merchant_count += 1;
        let mut merchant = members.into_object();
        merchant.insert("merchant_id".to_owned(), json!(id));
        merchant.insert("kyc_status".to_owned(), json!("PENDING"));
        Ok(json!({"message": "OK", "merchant": merchant}))
    }

    /// POST /preferences: adds a wallet for an asset that has none.
    pub(crate) fn add_wallet(&mut self, prices: &Prices, call: &Call) -> Result<Value, ApiError> {
        let (key, wallet) = wallet(prices, call)?;
        if self.wallets.contains_key(&key) {
            return Err(ApiError::invalid(format!(
                "there is a wallet for {} already: PUT /preferences changes it",
                key.1
            )));
        }
        if self.wallets.len() == CAPACITY || wallet.len() > MAX_MEMBERS {
            return Err(too_many());
        }
        self.wallets.insert(key, wallet.clone());
        Ok(json!({"message": "OK", "preference": wallet}))
    }

    /// PUT /preferences: changes the members that are named.
    pub(crate) fn change_wallet(
        &mut self,
        prices: &Prices,
        call: &Call,
    ) -> Result<Value, ApiError> {
        let (key, changes) = wallet(prices, call)?;
        let wallet = self.wallets.get_mut(&key).ok_or_else(|| {
            ApiError::not_found(format!(
                "there is no wallet for {} yet: POST /preferences adds it",
                key.1
            ))
        })?;
        merge(wallet, changes)?;
        Ok(json!({"message": "OK", "preference": wallet}))
    }

    /// PUT /settings: changes the members that are named.
    pub(crate) fn change_settings(&mut self, call: &Call) -> Result<Value, ApiError> {
        let members = call.members()?;
        let merchant = members.optional_text("merchant_id")?.unwrap_or_default();
        if self.profiles.len() == CAPACITY && !self.profiles.contains_key(merchant) {
            return Err(too_many());
        }
        let profile = self.profiles.entry(merchant.to_owned()).or_default();
        merge(profile, members.into_object())?;
        Ok(json!({"message": "OK", "settings": profile}))
    }
}

/// GET /merchant/account: where documents are uploaded, for the merchant in the query, or for the account itself.
pub(crate) fn upload_url(public_url: &str, call: &Call) -> Result<Value, ApiError> {
    let query = call.query();
    let (merchant, folder) = match query.split_once('=') {
        None if query.is_empty() => ("", "account"),
        Some(("merchant_id", id)) if !id.contains('&') => (id, id),
        _ => {
            return Err(ApiError::invalid(format!(
                "the query takes merchant_id once, not {query:?}"
            )));
        }
    };
    Ok(json!({
        "merchant_id": merchant,
        "upload_url": format!("{public_url}/sandbox/kyc/{folder}"),
        "expires_in": "15",
    }))
}

fn wallet(prices: &Prices, call: &Call) -> Result<(WalletKey, Map<String, Value>), ApiError> {
    let members = call.members()?;
    let merchant = members.optional_text("merchant_id")?.unwrap_or_default();
    let code = members.text("crypto_code")?;
    let mut listed = prices.listed().iter();
    if !listed.any(|listed| listed.coin.code.as_str() == code) {
        return Err(ApiError::unsupported_asset(code, &prices.codes()));
    }
    if members.text("wallet_address")?.trim().is_empty() {
        return Err(ApiError::invalid("wallet_address must not be empty"));
    }
    let key = (merchant.to_owned(), code.to_owned());
    Ok((key, members.into_object()))
}

fn merge(record: &mut Map<String, Value>, changes: Map<String, Value>) -> Result<(), ApiError> {
    let is_new = |name: &&String| !record.contains_key(*name);
    let added = changes.keys().filter(is_new).count();
    if record.len() + added > MAX_MEMBERS {
        return Err(too_many());
    }
    record.extend(changes);
    Ok(())
}

fn too_many() -> ApiError {
    ApiError::invalid("the sandbox keeps a thousand records of a kind, of 200 members each")
}
