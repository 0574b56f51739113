//! The gateway's warnings, which every customer should read before paying.

use serde::{Deserialize, Serialize};
use strum::VariantArray;

/// One warning about an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// What it is about. A page shows a known kind in its customer's language, and `other` by its `text`.
    pub kind: WarningKind,
    /// The gateway's own words, in its language: at most 1000 characters.
    #[cfg_attr(feature = "schema", schemars(length(max = 1000)))]
    pub text: String,
    /// The one number that the text names: of confirmations for `confirmations`, of minutes for `expiry` and `late_price`.
    /// Absent when it names none, and for every other kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
}

/// The subject of a warning.
///
/// The proxy names a kind only for a sentence that it knows from the first word to the last and
/// that speaks of this attempt's asset and network. A sentence with any other content is `other`,
/// so that nothing is left out.
///
/// Source: payment-service.md, "Invoice": `warning_messages`, which lists subjects and no sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, VariantArray)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WarningKind {
    /// Only this asset may be sent, on this network; anything else is lost.
    OnlyThisAsset,
    /// What is sent on another network is lost.
    WrongNetwork,
    /// The payment is complete after `number` confirmations.
    Confirmations,
    /// The address is valid for `number` minutes.
    Expiry,
    /// A network fee that is too low may keep the payment from being confirmed.
    NetworkFee,
    /// The price may no longer hold for a payment that arrives late: after `number` minutes where the text names them.
    LatePrice,
    /// Anything else. A kind that a page does not know is read as this one.
    #[serde(other)]
    Other,
}
