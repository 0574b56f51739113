//! The networks of an asset.

/// Which chain of an asset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Where coins have a price.
    Main,
    /// Where they have none.
    Test,
}
