//! POST and PUT /preferences: where the money is settled.
//!
//! `Assumed:` one wallet for each merchant and asset, `crypto_code` and `wallet_address` as texts, `merchant_id` for a
//! platform; POST adds and PUT changes. Members beyond these are kept as they are.

use serde_json::{Map, Value, json};

use super::body::Members;
use super::{Call, Code, Refusal, merchants};
use crate::platform::NotKept;
use crate::state::State;

/// POST /preferences
pub(super) fn add(state: &mut State, call: &Call) -> Result<Value, Refusal> {
    let (merchant, code, wallet) = read(state, call)?;
    let kept = state.platform.add_wallet(&merchant, &code, wallet);
    told(kept, &code)
}

/// PUT /preferences
pub(super) fn change(state: &mut State, call: &Call) -> Result<Value, Refusal> {
    let (merchant, code, wallet) = read(state, call)?;
    let kept = state.platform.change_wallet(&merchant, &code, wallet);
    told(kept, &code)
}

fn read(state: &State, call: &Call) -> Result<(String, String, Map<String, Value>), Refusal> {
    let members = Members::of(call)?;
    let merchant = merchants::named(state, members.maybe_text("merchant_id")?)?;
    let code = members.text("crypto_code")?.to_owned();
    if !state.prices.coins().any(|coin| coin.code.as_str() == code) {
        let message = format!(
            "crypto_code {code:?} is not one of {}",
            state.prices.codes()
        );
        return Err(Refusal::new(Code::UnsupportedAsset, message));
    }
    if members.text("wallet_address")?.trim().is_empty() {
        return Err(Refusal::request("wallet_address must not be empty"));
    }
    Ok((merchant, code, members.into_object()))
}

fn told(kept: Result<Value, NotKept>, code: &str) -> Result<Value, Refusal> {
    match kept {
        Ok(wallet) => Ok(json!({"message": "OK", "preference": wallet})),
        Err(NotKept::Exists) => Err(Refusal::request(format!(
            "there is a wallet for {code} already: PUT /preferences changes it"
        ))),
        Err(NotKept::Missing) => Err(Refusal::not_found(format!(
            "there is no wallet for {code} yet: POST /preferences adds it"
        ))),
        Err(NotKept::Full) => Err(merchants::full()),
    }
}
