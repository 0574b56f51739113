//! Price lists of the gateway.

use jiff::Timestamp;

/// The gateway's prices as they were at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceList {
    /// When they were fetched, in whole milliseconds.
    pub fetched_at: Timestamp,
    /// The prices, as the caller writes them.
    pub body: String,
}
