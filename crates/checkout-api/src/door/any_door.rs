//! Every member of every door at once, so that a refusal can name the member that does not belong.

use florin_money::AmountText;

use super::Door;

/// The members as they came.
#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnyDoor {
    store: Option<String>,
    product: Option<String>,
    quantity: Option<u32>,
    donation: Option<String>,
    amount: Option<AmountText>,
    order_token: Option<String>,
}

/// The doors, for whoever named none of them or more than one.
const ONE_DOOR: &str =
    "name exactly one door: store and product, store, donation and amount, or order_token";

impl TryFrom<AnyDoor> for Door {
    type Error = String;

    fn try_from(any: AnyDoor) -> Result<Self, String> {
        let AnyDoor {
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
                stray(&[no_amount])?;
                Ok(Self::Product {
                    store: needed(store, "store")?,
                    product,
                    quantity,
                })
            }
            (None, Some(donation), None) => {
                stray(&[no_quantity])?;
                Ok(Self::Donation {
                    store: needed(store, "store")?,
                    donation,
                    amount: needed(amount, "amount")?,
                })
            }
            (None, None, Some(order_token)) => {
                stray(&[(store.is_some(), "store"), no_quantity, no_amount])?;
                Ok(Self::OrderToken { order_token })
            }
            _ => Err(ONE_DOOR.to_owned()),
        }
    }
}

fn needed<T>(member: Option<T>, name: &str) -> Result<T, String> {
    member.ok_or_else(|| format!("missing field `{name}`"))
}

/// A member of another door is as unknown at this one as any other.
fn stray(members: &[(bool, &str)]) -> Result<(), String> {
    match members.iter().find(|(is_there, _)| *is_there) {
        Some((_, name)) => Err(format!("unknown field `{name}` at this door")),
        None => Ok(()),
    }
}
