//! What a platform tells the service of its merchants: who they are, where they are settled, what they prefer.
//!
//! `Assumed:` every shape; the specification lists the endpoints by name only. What was put is kept and handed back,
//! whatever it was.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::seed::Seed;

/// Records of each kind that are kept; beyond it, new ones are refused.
const CAPACITY: usize = 1_000;
/// Members of one record.
const MAX_MEMBERS: usize = 200;

/// Merchants, wallets and profiles.
#[derive(Debug)]
pub(crate) struct Platform {
    seed: Seed,
    merchants: BTreeMap<String, Map<String, Value>>,
    /// By merchant (empty for the account itself) and asset.
    wallets: BTreeMap<(String, String), Map<String, Value>>,
    /// By merchant, likewise.
    profiles: BTreeMap<String, Map<String, Value>>,
}

/// Why a record is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotKept {
    /// There is one already.
    Exists,
    /// There is none to change.
    Missing,
    /// There are too many.
    Full,
}

impl Platform {
    pub(crate) fn new(seed: Seed) -> Self {
        Self {
            seed,
            merchants: BTreeMap::new(),
            wallets: BTreeMap::new(),
            profiles: BTreeMap::new(),
        }
    }

    /// Onboards a merchant; what was said of it comes back with its new id.
    pub(crate) fn onboard(&mut self, said: Map<String, Value>) -> Result<Value, NotKept> {
        if self.merchants.len() == CAPACITY {
            return Err(NotKept::Full);
        }
        let nth = u64::try_from(self.merchants.len()).expect("a thousand fit");
        let id = format!("mer_{}", self.seed.id("merchant", nth));
        let mut merchant = said;
        merchant.insert("merchant_id".to_owned(), json!(id));
        merchant.insert("kyc_status".to_owned(), json!("PENDING"));
        self.merchants.insert(id, merchant.clone());
        Ok(Value::Object(merchant))
    }

    pub(crate) fn knows(&self, merchant_id: &str) -> bool {
        self.merchants.contains_key(merchant_id)
    }

    /// Adds a settlement wallet for an asset that has none.
    pub(crate) fn add_wallet(
        &mut self,
        merchant_id: &str,
        crypto_code: &str,
        wallet: Map<String, Value>,
    ) -> Result<Value, NotKept> {
        let key = (merchant_id.to_owned(), crypto_code.to_owned());
        if self.wallets.contains_key(&key) {
            return Err(NotKept::Exists);
        }
        if self.wallets.len() == CAPACITY {
            return Err(NotKept::Full);
        }
        self.wallets.insert(key, wallet.clone());
        Ok(Value::Object(wallet))
    }

    /// Changes a settlement wallet: members that are not named keep their values.
    pub(crate) fn change_wallet(
        &mut self,
        merchant_id: &str,
        crypto_code: &str,
        wallet: Map<String, Value>,
    ) -> Result<Value, NotKept> {
        let key = (merchant_id.to_owned(), crypto_code.to_owned());
        let kept = self.wallets.get_mut(&key).ok_or(NotKept::Missing)?;
        extend(kept, wallet)
    }

    /// Changes a profile: members that are not named keep their values.
    pub(crate) fn change_profile(
        &mut self,
        merchant_id: &str,
        said: Map<String, Value>,
    ) -> Result<Value, NotKept> {
        if self.profiles.len() == CAPACITY && !self.profiles.contains_key(merchant_id) {
            return Err(NotKept::Full);
        }
        let profile = self.profiles.entry(merchant_id.to_owned()).or_default();
        extend(profile, said)
    }
}

/// Changes the members that are named, and shows the whole.
fn extend(kept: &mut Map<String, Value>, said: Map<String, Value>) -> Result<Value, NotKept> {
    let added = said.keys().filter(|name| !kept.contains_key(*name)).count();
    if kept.len() + added > MAX_MEMBERS {
        return Err(NotKept::Full);
    }
    kept.extend(said);
    Ok(Value::Object(kept.clone()))
}
