//! POST /aggregator/merchants, GET /merchant/account, PUT /settings: what platforms do for their merchants.
//!
//! `Assumed:` every shape; see [`crate::platform`].

use serde_json::{Value, json};

use super::body::Members;
use super::{Call, Refusal};
use crate::state::{Sandbox, State};

/// POST /aggregator/merchants: needs a `merchant_name`; everything that was said comes back with a `merchant_id`.
pub(super) fn onboard(state: &mut State, call: &Call) -> Result<Value, Refusal> {
    let members = Members::of(call)?;
    if members.text("merchant_name")?.trim().is_empty() {
        return Err(Refusal::request("merchant_name must not be empty"));
    }
    let merchant = state.platform.onboard(members.into_object());
    Ok(json!({"message": "OK", "merchant": merchant.map_err(|_| full())?}))
}

/// GET /merchant/account: where documents are uploaded, for the merchant named in the query, or the account itself.
pub(super) fn account(sandbox: &Sandbox, state: &State, call: &Call) -> Result<Value, Refusal> {
    let query = call.query.as_deref().unwrap_or_default();
    let id = match query.split_once('=') {
        None if query.is_empty() => None,
        Some(("merchant_id", id)) if !id.contains('&') => Some(id),
        _ => {
            return Err(Refusal::request(format!(
                "the query takes merchant_id once, not {query:?}"
            )));
        }
    };
    let merchant = named(state, id)?;
    let folder = if merchant.is_empty() {
        "account"
    } else {
        &merchant
    };
    Ok(json!({
        "merchant_id": merchant,
        "upload_url": format!("{}/sandbox/kyc/{folder}", sandbox.public_url),
        "expires_in": "15",
    }))
}

/// PUT /settings: what is named is changed, the rest stays; the whole comes back.
pub(super) fn change_settings(state: &mut State, call: &Call) -> Result<Value, Refusal> {
    let members = Members::of(call)?;
    let merchant = named(state, members.maybe_text("merchant_id")?)?;
    let settings = state
        .platform
        .change_profile(&merchant, members.into_object());
    Ok(json!({"message": "OK", "settings": settings.map_err(|_| full())?}))
}

/// The merchant that is named; empty for the account itself. A platform names one that it has onboarded, another
/// account any.
pub(super) fn named(state: &State, id: Option<&str>) -> Result<String, Refusal> {
    match id {
        None if state.rules.platform => Err(Refusal::request(
            "merchant_id is missing: this account is a platform's",
        )),
        None => Ok(String::new()),
        Some(id) if !state.rules.platform || state.platform.knows(id) => Ok(id.to_owned()),
        Some(id) => Err(Refusal::not_found(format!("there is no merchant {id:?}"))),
    }
}

pub(super) fn full() -> Refusal {
    Refusal::request(
        "the sandbox keeps a thousand records of a kind, of 200 members each, and no more",
    )
}
