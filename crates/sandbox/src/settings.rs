//! Configuration: the random draws from its seed; time, where it comes from, and how far the sandbox is ahead of it.

use core::fmt;
use core::pin::Pin;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use florin_money::{Amount, Currency};
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Configuration. [`Settings::default`] is a gateway with public test credentials.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Source of ids, addresses and prices.
    pub seed: u64,
    /// The key that callers send in `apikey`.
    pub api_key: String,
    /// The secret that callers sign with.
    pub api_secret: SecretString,
    /// Where COMPLETED and FAILED are sent; `None` sends nothing.
    ///
    /// `Assumed:` invoices of POST /invoice, which name no URL themselves, use one of the account. Disproved by a
    /// gateway that sends callbacks for hosted checkouts only.
    pub callback_url: Option<String>,
    /// Where browsers reach the sandbox, for the pages it links to; `None`: the address it listens on.
    pub public_url: Option<String>,
    /// The currency of `amount_in_local_currency`.
    pub local_currency: Currency,
    /// Units of the local currency for one US dollar.
    pub local_per_usd: Amount,
    /// Whether GET /prices also offers `USDTSOL`, an asset that the specification does not list.
    pub unknown_asset: bool,
    /// A node of a chain of Ethereum's kind, whose transfers pay the invoices: its chain id is 11155111 for ETH and USDTERC20,
    /// or 97 for BNB. `None`: only the control API pays.
    pub evm_rpc_url: Option<String>,
    /// Where every request and every event is appended, one JSON object per line; `None` keeps the newest ones in
    /// memory only.
    pub log_file: Option<PathBuf>,
    /// The file that keeps invoices, hosted checkouts and the time; `None`: a restart forgets them.
    pub state_file: Option<PathBuf>,
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 1,
            api_key: "florin_sandbox_key".to_owned(),
            api_secret: "florin_sandbox_secret".into(),
            callback_url: None,
            public_url: None,
            local_currency: Currency::USD,
            local_per_usd: Amount::ONE,
            unknown_asset: false,
            evm_rpc_url: None,
            log_file: None,
            state_file: None,
            clock: Arc::new(SystemClock),
        }
    }
}

/// Draws ids, addresses and hashes.
///
/// A draw depends on its label and number only, never on earlier draws: one more GET /prices does not change the
/// address of the next invoice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed(u64);

impl Seed {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The 32 bytes of a label's `index`-th draw.
    pub(crate) fn draw(self, label: &str, index: u64) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.0.to_be_bytes());
        hash.update(index.to_be_bytes());
        hash.update(label.as_bytes());
        hash.finalize().into()
    }

    /// An id of 24 hexadecimal digits.
    pub(crate) fn id(self, label: &str, index: u64) -> String {
        hex::encode(&self.draw(label, index)[..12])
    }

    /// A number below `limit`.
    ///
    /// # Panics
    /// When `limit` is zero.
    pub(crate) fn below(self, label: &str, index: u64, limit: u32) -> u32 {
        let [a, b, c, d, ..] = self.draw(label, index);
        u32::from_be_bytes([a, b, c, d]) % limit
    }
}

/// The future of [`Clock::sleep`].
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where the sandbox takes its time from.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The current time.
    fn now(&self) -> Timestamp;

    /// Waits: before a slow response, and between two tries of a callback.
    fn sleep(&self, duration: Duration) -> Sleep;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where the sandbox reads the time"
    )]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where the sandbox waits"
    )]
    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// The time of invoices, prices and payments: that of the clock, plus every jump.
///
/// Nonces are compared with the clock itself, so that a caller still signs with the time of day after a jump.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct VirtualClock {
    ahead: SignedDuration,
}

/// Longest jump: a year.
pub(crate) const MAX_JUMP_SECONDS: u32 = 366 * 24 * 60 * 60;

impl VirtualClock {
    /// The sandbox's time when the clock shows `clock`.
    pub(crate) fn now(self, clock: Timestamp) -> Timestamp {
        clock.saturating_add(self.ahead).unwrap_or(clock)
    }

    pub(crate) fn jump(&mut self, seconds: u32) {
        let jump = SignedDuration::from_secs(i64::from(seconds));
        self.ahead = self.ahead.saturating_add(jump);
    }

    pub(crate) fn ahead_seconds(self) -> i64 {
        self.ahead.as_secs()
    }
}
