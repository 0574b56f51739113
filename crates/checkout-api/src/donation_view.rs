//! A declared donation, before its customer has named an amount.

use florin_money::AmountText;
use serde::{Deserialize, Serialize};

use crate::{Environment, StoreView};

/// What a checkout shows while it asks for the amount. The proxy checks the amount when it opens
/// the order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DonationView {
    /// Which money moves.
    pub environment: Environment,
    /// Who takes it.
    pub store: StoreView,
    /// What it is for, in the store's words.
    pub title: String,
    /// ISO 4217 code of the amounts.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Currency"))]
    pub currency: String,
    /// The least that is taken.
    pub min: AmountText,
    /// The most that is taken.
    pub max: AmountText,
    /// Amounts to offer, within the bounds; may be empty.
    pub suggested: Vec<AmountText>,
}
