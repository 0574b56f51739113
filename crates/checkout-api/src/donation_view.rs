//! A declared donation, before its customer has named an amount.

use money::AmountText;

use crate::fields::Reader;
use crate::{Environment, Fields, StoreView, Unreadable};

/// What a checkout shows while it asks for the amount. Whether one fits, the proxy says when it opens the order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "server", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DonationView {
    /// Which money moves.
    pub environment: Environment,
    /// Who takes it.
    pub store: StoreView,
    /// What it is for, in the store's words.
    pub title: String,
    /// ISO 4217 code of the amounts.
    #[cfg_attr(feature = "schema", schemars(with = "money::Currency"))]
    pub currency: String,
    /// The least that is taken.
    pub min: AmountText,
    /// The most that is taken.
    pub max: AmountText,
    /// Amounts to offer, within the bounds; may be empty.
    pub suggested: Vec<AmountText>,
}

impl DonationView {
    /// Reads a donation.
    ///
    /// # Errors
    /// [`Unreadable`] names the first member that is missing or not of its type.
    pub fn read(fields: &impl Fields) -> Result<Self, Unreadable> {
        let read = Reader::new(fields);
        let environment = read.word("environment", &Environment::ALL)?;
        let store = StoreView::read(fields)?;
        let donation = Self {
            environment,
            store,
            title: read.text("title"),
            currency: read.text("currency"),
            min: read.amount("min"),
            max: read.amount("max"),
            suggested: read.amounts("suggested"),
        };
        read.end(donation)
    }
}
