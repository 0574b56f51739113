//! Keys of rate limits.

use sha2::{Digest as _, Sha256};

/// What a limit counts by: a digest, so that a dump of the database lists no addresses of customers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LimitKey(pub(crate) [u8; 32]);

impl LimitKey {
    /// The key of `text` in the limit of this name.
    pub fn new(limit: &str, text: &str) -> Self {
        let mut digest = Sha256::new();
        digest.update(limit);
        digest.update([0]);
        digest.update(text);
        Self(digest.finalize().into())
    }
}
