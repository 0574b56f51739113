//! System clock and randomness. Everything else takes them as parameters.

use std::time::Duration;

use async_trait::async_trait;
pub use florin_gateway_client::{Clock, Random};
use jiff::{SignedDuration, Timestamp};

/// A larger difference between this machine's clock and the gateway's is reported. The gateway's own limit is wider
/// (`HARMLESS_S` of the client).
pub const MAX_SKEW: SignedDuration = SignedDuration::from_secs(2);

#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where the time is read"
    )]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where time is waited for"
    )]
    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// The machine's random numbers, fit for tokens.
#[derive(Clone, Copy, Debug)]
pub struct SystemRandom;

/// Random bytes for ids and tokens.
pub trait RandomBytes: Random {
    /// Fills the bytes; unguessable in the real implementation.
    fn fill(&self, bytes: &mut [u8]);
}

impl RandomBytes for SystemRandom {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where randomness is drawn"
    )]
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system hands out random bytes");
    }
}

impl Random for SystemRandom {
    fn below(&self, bound: u64) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes) % bound.max(1)
    }
}
