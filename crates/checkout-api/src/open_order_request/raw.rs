//! All fields of all ways to open an order, so that an error can name the unexpected field.

use florin_money::AmountText;

/// The members as they came.
#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawOpenOrder {
    pub(super) store: Option<String>,
    pub(super) product: Option<String>,
    pub(super) quantity: Option<u32>,
    pub(super) donation: Option<String>,
    pub(super) amount: Option<AmountText>,
    pub(super) order_token: Option<String>,
}

/// The error for a request that names no way or several.
pub(super) const ONE_SOURCE: &str =
    "name exactly one of: store and product, store, donation and amount, or order_token";

pub(super) fn required<T>(member: Option<T>, name: &str) -> Result<T, String> {
    member.ok_or_else(|| format!("missing field `{name}`"))
}

/// A field of another way is unknown like any other.
pub(super) fn reject_unknown(members: &[(bool, &str)]) -> Result<(), String> {
    match members.iter().find(|(is_there, _)| *is_there) {
        Some((_, name)) => Err(format!(
            "unknown field `{name}` in this way to open an order"
        )),
        None => Ok(()),
    }
}
