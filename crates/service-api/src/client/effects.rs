//! Time and chance, given by whoever builds a client.

use core::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

/// What time it is, and waiting.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;

    /// Returns after that time.
    async fn sleep(&self, time: Duration);
}

/// Chance.
pub trait Random: Send + Sync {
    /// A number from 0 up to but not including `bound`, which is not 0; each as likely as the others.
    fn below(&self, bound: u64) -> u64;
}
