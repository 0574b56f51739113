//! What a run left behind. Nothing here asks the proxy: the file and two logs are all there is.

mod ledger;
mod service_log;
mod shop_log;

use std::path::Path;

use anyhow::Context as _;
use jiff::Timestamp;

pub(crate) use self::ledger::{Attempt, Event, Ledger, Order};
pub(crate) use self::service_log::{Asked, Invoice, ServiceLog, Shown};
pub(crate) use self::shop_log::Delivery;

/// All of it.
#[derive(Debug)]
pub(crate) struct Evidence {
    pub(crate) ledger: Ledger,
    pub(crate) service: ServiceLog,
    /// First one first.
    pub(crate) heard: Vec<Delivery>,
    /// What the store's deliveries are signed with.
    pub(crate) webhook_secret: Vec<u8>,
}

impl Evidence {
    /// # Errors
    /// A file cannot be read, or is not what it should be.
    pub(crate) async fn read(
        database: &Path,
        service_log: &Path,
        shop_log: &Path,
        webhook_secret: Vec<u8>,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            ledger: Ledger::read(database).await?,
            service: ServiceLog::read(service_log)?,
            heard: shop_log::read(shop_log)?,
            webhook_secret,
        })
    }

    /// The service's record of an attempt's invoice.
    pub(crate) fn invoice_of(&self, attempt: &Attempt) -> Option<&Invoice> {
        self.service.invoices.get(attempt.invoice_id.as_ref()?)
    }

    /// Every attempt whose invoice the service completed with all of what was asked for, and when it first did.
    pub(crate) fn paid_attempts(&self) -> impl Iterator<Item = (&Attempt, Timestamp)> {
        self.ledger.attempts.iter().filter_map(|attempt| {
            let covered_at = self.invoice_of(attempt)?.covered_at?;
            Some((attempt, covered_at))
        })
    }
}

fn lines(path: &Path) -> anyhow::Result<Vec<String>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(text.lines().map(str::to_owned).collect())
}
