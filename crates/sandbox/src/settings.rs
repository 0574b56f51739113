//! Configuration: the random draws from its seed; time, where it comes from, and how far the sandbox is ahead of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use clap::Parser as _;
use florin_gateway::{Clock, Random, Sleep, SystemClock};
use florin_money::{Amount, Currency};
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;
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
    /// A database file that keeps the invoices over a restart; without it the sandbox forgets them, and a proxy reports each open one.
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

    /// A number below `limit`.
    ///
    /// # Panics
    /// When `limit` is zero.
    pub(crate) fn below(self, label: &str, index: u64, limit: u32) -> u32 {
        let [a, b, c, d, ..] = self.draw(label, index);
        u32::from_be_bytes([a, b, c, d]) % limit
    }
}

/// Longest jump: a year.
pub(crate) const MAX_JUMP_SECONDS: u32 = 366 * 24 * 60 * 60;

/// The time of invoices, prices and payments: that of the clock, plus every jump.
///
/// Nonces are compared with the clock itself, so that a caller still signs with the time of day after a jump.
#[derive(Clone, Debug)]
pub(crate) struct VirtualClock {
    clock: Arc<dyn Clock>,
    ahead_seconds: Arc<AtomicI64>,
}

impl VirtualClock {
    pub(crate) fn new(clock: Arc<dyn Clock>, ahead_seconds: i64) -> Self {
        let ahead_seconds = Arc::new(AtomicI64::new(ahead_seconds));
        Self {
            clock,
            ahead_seconds,
        }
    }

    pub(crate) fn jump(&self, seconds: u32) {
        self.ahead_seconds
            .fetch_add(i64::from(seconds), Ordering::Relaxed);
    }

    pub(crate) fn ahead_seconds(&self) -> i64 {
        self.ahead_seconds.load(Ordering::Relaxed)
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        let clock = self.clock.now();
        let ahead = SignedDuration::from_secs(self.ahead_seconds());
        clock.saturating_add(ahead).unwrap_or(clock)
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        self.clock.sleep(duration)
    }
}

impl Random for Seed {
    fn draw(&self, label: &str, index: u64) -> [u8; 32] {
        Self::draw(*self, label, index)
    }
}
