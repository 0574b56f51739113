//! The evidence of a run of the program: its database, and the logs of the gateway and of the shop.

mod databases;
mod logs;
mod sandbox_log;

use std::path::PathBuf;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

pub use self::databases::read_tables;
use self::sandbox_log::SandboxLog;
use crate::Millis;
use crate::evidence::{ClockRecord, Evidence, Shop};
use crate::rules::{Finding, Moment, check};

/// Longest time between the gateway's last line and the proxy's last write.
const AFTERWARDS: Millis = 60_000;

/// Where the evidence of a run is.
#[derive(Clone, Debug, clap::Args)]
pub struct Sources {
    /// The proxy's SQLite file, which no proxy has open; or `postgres://…`, which no proxy writes to.
    #[arg(
        long,
        value_name = "FILE|URL",
        env = "AUDITOR_DATABASE",
        hide_env_values = true
    )]
    pub database: String,
    /// The log of `florin-sandbox --log`.
    #[arg(long, value_name = "FILE")]
    pub sandbox_log: PathBuf,
    /// The log of the shop's endpoint: a JSON object for each delivery.
    #[arg(long, value_name = "FILE")]
    pub shop_log: PathBuf,
    /// What a reader of `GET /v1/events` has read, if there was one: a JSON object for each event.
    #[arg(long, value_name = "FILE")]
    pub event_log: Option<PathBuf>,
    /// The changes of the proxy's clock, if it was wrong at times: a JSON object for each.
    #[arg(long, value_name = "FILE")]
    pub clock_log: Option<PathBuf>,
    /// The secret of the store's webhook: `whsec_…`.
    #[arg(long, env = "AUDITOR_WEBHOOK_SECRET", hide_env_values = true)]
    pub webhook_secret: String,
}

/// Checks every rule for a drained proxy.
///
/// # Errors
/// Something cannot be read, or nothing was paid or delivered: where nothing happened every rule holds, which proves
/// nothing.
pub async fn audit(sources: &Sources) -> anyhow::Result<Vec<Finding>> {
    let evidence = sources.read().await?;
    anyhow::ensure!(
        !evidence.database.credits.is_empty() && !evidence.shop.deliveries.is_empty(),
        "nothing was paid or nothing was delivered: there is nothing to check"
    );
    Ok(check(&evidence, Moment::Drained))
}

impl Sources {
    async fn read(&self) -> anyhow::Result<Evidence> {
        let secret = secret(&self.webhook_secret);
        let is_server = databases::is_address(&self.database);
        let SandboxLog {
            gateway, ended_at, ..
        } = SandboxLog::read(&self.sandbox_log, is_server)?;
        let clock = match &self.clock_log {
            Some(path) => logs::clock_changes(path, ended_at + AFTERWARDS)?,
            None => ClockRecord::default(),
        };
        let (mut database, files) = databases::read_whole(&self.database).await?;
        for credit in &mut database.credits {
            credit.at = clock.right_time(credit.at);
        }
        let listing = self.event_log.as_deref().map(logs::listing);
        Ok(Evidence {
            taken_at: ended_at,
            due_at: Millis::MAX,
            clock,
            database,
            gateway,
            shop: Shop {
                deliveries: logs::deliveries(&self.shop_log)?,
                subscribed: None,
                webhook_secret: secret.context("the webhook's secret is whsec_ and base64")?,
                listing: listing.transpose()?,
            },
            files,
            ..Evidence::default()
        })
    }
}

/// Reads a secret as it is written: `whsec_` and base64. Returns `None` for anything else.
pub(crate) fn secret(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text.strip_prefix("whsec_")?).ok()
}
