//! All fields of all ways to open an order, so that an error can name the unexpected field.

use florin_money::AmountText;

use super::OpenOrderRequest;

/// The members as they came.
#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawOpenOrder {
    store: Option<String>,
    product: Option<String>,
    quantity: Option<u32>,
    donation: Option<String>,
    amount: Option<AmountText>,
    order_token: Option<String>,
}

/// The error for a request that names no way or several.
const ONE_SOURCE: &str =
    "name exactly one of: store and product, store, donation and amount, or order_token";

impl TryFrom<RawOpenOrder> for OpenOrderRequest {
    type Error = String;

    fn try_from(any: RawOpenOrder) -> Result<Self, String> {
        let RawOpenOrder {
            store,
            product,
            quantity,
            donation,
            amount,
            order_token,
        } = any;
        let no_quantity = (quantity.is_some(), "quantity");
        let no_amount = (amount.is_some(), "amount");
        match (product, donation, order_token) {
            (Some(product), None, None) => {
                reject_unknown(&[no_amount])?;
                Ok(Self::Product {
                    store: required(store, "store")?,
                    product,
                    quantity,
                })
            }
            (None, Some(donation), None) => {
                reject_unknown(&[no_quantity])?;
                Ok(Self::Donation {
                    store: required(store, "store")?,
                    donation,
                    amount: required(amount, "amount")?,
                })
            }
            (None, None, Some(order_token)) => {
                reject_unknown(&[(store.is_some(), "store"), no_quantity, no_amount])?;
                Ok(Self::OrderToken { order_token })
            }
            _ => Err(ONE_SOURCE.to_owned()),
        }
    }
}

fn required<T>(member: Option<T>, name: &str) -> Result<T, String> {
    member.ok_or_else(|| format!("missing field `{name}`"))
}

/// A field of another way is unknown like any other.
fn reject_unknown(members: &[(bool, &str)]) -> Result<(), String> {
    match members.iter().find(|(is_there, _)| *is_there) {
        Some((_, name)) => Err(format!(
            "unknown field `{name}` in this way to open an order"
        )),
        None => Ok(()),
    }
}
