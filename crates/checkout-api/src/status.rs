//! The status of an order, as its customer sees it.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

/// The life of an order: `open → awaiting_payment → checking → processing →` one of the ends.
///
/// Only the server decides: a browser never concludes that a payment expired, failed or arrived.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Status {
    /// Nothing chosen yet: the customer picks an asset.
    Open,
    /// An invoice is shown; nothing was seen on the chain.
    AwaitingPayment,
    /// The customer reported the payment, or a transaction without a confirmation was detected.
    Checking,
    /// On the chain, with fewer confirmations than required.
    Processing,
    /// Paid, exactly or within the store's tolerance. Final.
    Paid,
    /// Paid, and more than asked for. Final; the order is paid.
    Overpaid,
    /// Completed by the gateway with less than asked for. Never shipped; the rest can still be sent.
    Underpaid,
    /// The gateway reports the payment as failed.
    Failed,
    /// Given up before anything was paid.
    Cancelled,
    /// The invoice ran out before anything arrived. A new quote can be had.
    Expired,
    /// The invoice did not pass our checks: its address is not shown.
    Blocked,
}

impl Status {
    /// Returns `true` if the order is paid.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Paid | Self::Overpaid)
    }
}
