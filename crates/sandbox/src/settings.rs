//! Configuration: the random draws from its seed; time, where it comes from, and how far the sandbox is ahead of it.

use core::fmt;
use core::pin::Pin;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser as _;
use florin_money::{Amount, Currency};
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The options of the program, and what tests set beside them. [`Settings::default`] is a gateway with public test
/// credentials.
#[derive(Clone, Debug, clap::Args)]
pub struct Settings {
    /// Source of ids, addresses and prices; the same seed gives the same ones.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    // `Assumed:` invoices of POST /invoice, which name no URL themselves, use one of the account. Disproved by a gateway that
    // sends callbacks for hosted checkouts only.
    /// Where to POST callbacks of completed and failed invoices.
    #[arg(long, value_parser = url)]
    pub callback_url: Option<String>,
    /// A file to which every request and every event is appended, one JSON object per line.
    #[arg(long = "log", value_name = "FILE")]
    pub log_file: Option<PathBuf>,
    /// A file that keeps the invoices over a restart; without it the sandbox forgets them, and a proxy reports each open one.
    #[arg(long = "state", value_name = "FILE")]
    pub state_file: Option<PathBuf>,
    /// Where browsers reach the sandbox; default: the address it listens on.
    #[arg(long, value_name = "URL", value_parser = url)]
    pub public_url: Option<String>,
    /// A node of a chain of Ethereum's kind, whose transfers pay the invoices (chain id 11155111 or 97).
    #[arg(long, value_name = "URL", value_parser = url)]
    pub evm_rpc_url: Option<String>,
    /// The account's local currency beside US dollars, and what one dollar costs in it.
    #[arg(long, value_name = "CODE=PER_USD", default_value = "USD=1", value_parser = local_currency)]
    pub local_currency: (Currency, Amount),
    /// The API key of callers.
    #[arg(long, default_value = "florin_sandbox_key")]
    pub api_key: String,
    /// The API secret that callers sign with.
    #[arg(long, default_value = "florin_sandbox_secret")]
    pub api_secret: SecretString,
    /// Whether GET /prices also offers `USDTSOL`, an asset that the specification does not list.
    #[arg(skip)]
    pub unknown_asset: bool,
    /// Where time comes from.
    #[arg(skip = Arc::new(SystemClock) as Arc<dyn Clock>)]
    pub clock: Arc<dyn Clock>,
}

impl Default for Settings {
    fn default() -> Self {
        #[derive(clap::Parser)]
        struct Options {
            #[command(flatten)]
            settings: Settings,
        }
        Options::parse_from(["florin-sandbox"]).settings
    }
}

fn url(text: &str) -> Result<String, String> {
    let url = reqwest::Url::parse(text).map_err(|error| error.to_string())?;
    Ok(url.into())
}

/// Reads `EUR=0.92`.
fn local_currency(text: &str) -> Result<(Currency, Amount), String> {
    let (code, per_usd) = text
        .split_once('=')
        .ok_or("write a currency and what a dollar costs in it, like EUR=0.92")?;
    let currency = Currency::parse(code).map_err(|error| error.to_string())?;
    let per_usd = Amount::parse(per_usd).map_err(|error| error.to_string())?;
    Ok((currency, per_usd))
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
