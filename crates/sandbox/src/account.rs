//! Settlement wallets and the PSP API: POST and PUT /preferences, POST /aggregator/merchants, GET /merchant/account,
//! PUT /settings.
//!
//! `Assumed:` every shape; the specification lists these endpoints by name only. One wallet for each merchant and asset,
//! `crypto_code` and `wallet_address` as strings, `merchant_id` optional; POST adds and PUT changes. Other members are
//! kept and sent back as they are.

use std::collections::BTreeMap;

use axum::http::Method;
use serde_json::{Map, Value, json};

use crate::api::request::{ApiError, Call};
use crate::prices::Prices;
use crate::settings::Seed;

/// Records; more are rejected.
const CAPACITY: usize = 1_000;
const MAX_MEMBERS: usize = 200;

type Record = Map<String, Value>;
/// Merchant (empty: the account itself) and asset (empty: the profile).
type Key = (String, String);

#[derive(Debug)]
pub(crate) struct Accounts {
    seed: Seed,
    merchant_count: u64,
    records: BTreeMap<Key, Record>,
}

impl Accounts {
    pub(crate) fn new(seed: Seed) -> Self {
        Self {
            seed,
            merchant_count: 0,
            records: BTreeMap::new(),
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

    /// POST /preferences adds a wallet for an asset that has none; PUT /preferences changes the members that are named.
    pub(crate) fn set_wallet(&mut self, prices: &Prices, call: &Call) -> Result<Value, ApiError> {
        let (key, members) = wallet(prices, call)?;
        let code = &key.1;
        match (call.method == Method::POST, self.records.contains_key(&key)) {
            (true, true) => Err(ApiError::invalid(format!(
                "there is a wallet for {code} already: PUT /preferences changes it"
            ))),
            (false, false) => Err(ApiError::not_found(format!(
                "there is no wallet for {code} yet: POST /preferences adds it"
            ))),
            _ => {
                let wallet = self.merge(key, members)?;
                Ok(json!({"message": "OK", "preference": wallet}))
            }
        }
    }

    /// PUT /settings: changes the members that are named.
    pub(crate) fn change_settings(&mut self, call: &Call) -> Result<Value, ApiError> {
        let members = call.members()?;
        let merchant = members.optional_text("merchant_id")?.unwrap_or_default();
        let key = (merchant.to_owned(), String::new());
        let profile = self.merge(key, members.into_object())?;
        Ok(json!({"message": "OK", "settings": profile}))
    }

    /// Changes the named members of a record, or makes it.
    fn merge(&mut self, key: Key, changes: Record) -> Result<&Record, ApiError> {
        let old = self.records.get(&key);
        let is_new = |name: &&String| old.is_none_or(|old| !old.contains_key(*name));
        let members = changes.keys().filter(is_new).count() + old.map_or(0, Map::len);
        if members > MAX_MEMBERS || old.is_none() && self.records.len() == CAPACITY {
            return Err(ApiError::invalid(
                "the sandbox keeps a thousand records of 200 members each",
            ));
        }
        let record = self.records.entry(key).or_default();
        record.extend(changes);
        Ok(record)
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

fn wallet(prices: &Prices, call: &Call) -> Result<(Key, Record), ApiError> {
    let members = call.members()?;
    let merchant = members.optional_text("merchant_id")?.unwrap_or_default();
    let code = prices.code(members.text("crypto_code")?)?;
    if members.text("wallet_address")?.trim().is_empty() {
        return Err(ApiError::invalid("wallet_address must not be empty"));
    }
    let key = (merchant.to_owned(), code.to_string());
    Ok((key, members.into_object()))
}
