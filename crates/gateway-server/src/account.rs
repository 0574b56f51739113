//! Settlement wallets and the PSP API: POST and PUT /preferences, POST /aggregator/merchants, GET /merchant/account,
//! PUT /settings.
//!
//! `Assumed:` every shape; the specification lists these endpoints by name only. One wallet for each merchant and asset,
//! `crypto_code` and `wallet_address` as strings, `merchant_id` optional; POST adds and PUT changes. Other members are
//! kept and sent back as they are.

use axum::http::Method;
use serde_json::{Map, Value, json};

use crate::api::request::{ApiError, Call};
use crate::gateway::Gateway;

/// Records; more are rejected.
const CAPACITY: u64 = 1_000;
const MAX_MEMBERS: usize = 200;

type Record = Map<String, Value>;

/// POST /aggregator/merchants: needs a `merchant_name`; the request comes back with a `merchant_id`.
pub(crate) async fn onboard(gateway: &Gateway, call: &Call) -> Result<Value, ApiError> {
    let members = call.members()?;
    if members.text("merchant_name")?.trim().is_empty() {
        return Err(ApiError::invalid("merchant_name must not be empty"));
    }
    let number = gateway.database().next_merchant().await?;
    let id = gateway.id("mer", "", number);
    let mut merchant = members.into_object();
    merchant.insert("merchant_id".to_owned(), json!(id));
    merchant.insert("kyc_status".to_owned(), json!("PENDING"));
    Ok(json!({"message": "OK", "merchant": merchant}))
}

/// POST /preferences adds a wallet for an asset that has none; PUT /preferences changes the members that are named.
pub(crate) async fn set_wallet(gateway: &Gateway, call: &Call) -> Result<Value, ApiError> {
    let members = call.members()?;
    let merchant = members.optional_text("merchant_id")?.unwrap_or_default();
    let coin = gateway.prices.coin(members.text("crypto_code")?)?;
    if members.text("wallet_address")?.trim().is_empty() {
        return Err(ApiError::invalid("wallet_address must not be empty"));
    }
    let (merchant, code) = (merchant.to_owned(), coin.code.as_str());
    let old = gateway.database().record_of(&merchant, code).await?;
    match (call.method == Method::POST, old.is_some()) {
        (true, true) => Err(ApiError::invalid(format!(
            "there is a wallet for {code} already: PUT /preferences changes it"
        ))),
        (false, false) => Err(ApiError::not_found(format!(
            "there is no wallet for {code} yet: POST /preferences adds it"
        ))),
        _ => {
            let wallet = merge(gateway, (&merchant, code), old, members.into_object()).await?;
            Ok(json!({"message": "OK", "preference": wallet}))
        }
    }
}

/// PUT /settings: changes the members that are named.
pub(crate) async fn change_settings(gateway: &Gateway, call: &Call) -> Result<Value, ApiError> {
    let members = call.members()?;
    let merchant = members.optional_text("merchant_id")?.unwrap_or_default();
    let merchant = merchant.to_owned();
    let old = gateway.database().record_of(&merchant, "").await?;
    let profile = merge(gateway, (&merchant, ""), old, members.into_object()).await?;
    Ok(json!({"message": "OK", "settings": profile}))
}

/// Changes the named members of a record, or makes it. `key` is the merchant (empty: the account itself) and the asset (empty:
/// the profile).
async fn merge(
    gateway: &Gateway,
    key: (&str, &str),
    old: Option<Record>,
    changes: Record,
) -> Result<Record, ApiError> {
    let is_new = old.is_none();
    let mut record = old.unwrap_or_default();
    record.extend(changes);
    let database = gateway.database();
    if record.len() > MAX_MEMBERS || is_new && database.count_records().await? >= CAPACITY {
        return Err(ApiError::invalid(
            "the gateway keeps a thousand records of 200 members each",
        ));
    }
    database.put_record(key.0, key.1, &record).await?;
    Ok(record)
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
        "upload_url": format!("{public_url}/kyc/{folder}"),
        "expires_in": "15",
    }))
}
