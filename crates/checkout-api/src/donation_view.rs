//! A declared donation, before its customer has named an amount.

use money::AmountText;

use crate::fields::{amount, text};
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
        const SUGGESTED: Unreadable = Unreadable("suggested");
        let mut suggested = Vec::new();
        // A loop, since collecting results would cost every customer half a kilobyte.
        for text in fields.texts("suggested").ok_or(SUGGESTED)? {
            suggested.push(AmountText::parse(&text).map_err(|_| SUGGESTED)?);
        }
        Ok(Self {
            environment: Environment::read(fields)?,
            store: StoreView::read(fields)?,
            title: text(fields, "title")?,
            currency: text(fields, "currency")?,
            min: amount(fields, "min")?,
            max: amount(fields, "max")?,
            suggested,
        })
    }
}
