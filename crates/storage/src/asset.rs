//! Files of the checkout.

/// A file whose name changes with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Its name.
    pub name: String,
    /// The content.
    pub whole: Vec<u8>,
    /// The content, compressed with brotli.
    pub brotli: Option<Vec<u8>>,
}
