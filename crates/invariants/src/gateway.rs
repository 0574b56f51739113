//! The gateway's record: what it was requested to make, and what GET /invoice states from each moment on.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::Millis;
use crate::amount::{Price, at_least};

#[derive(Clone, Debug, Default)]
pub struct Gateway {
    /// Every request, in the order of their sending.
    pub requests: Vec<Request>,
    pub pauses: Vec<Pause>,
    /// Every POST /invoice and POST /checkout, whatever the response was.
    pub requested: Vec<Requested>,
    pub invoices: BTreeMap<String, Invoice>,
}

#[derive(Clone, Debug)]
pub struct Request {
    /// By the clock of its sender.
    pub at: Millis,
    /// The process that has sent it: each knows only its own pauses.
    pub process: u64,
    /// `GET /prices`
    pub endpoint: Cow<'static, str>,
}

#[derive(Clone, Debug)]
pub struct Pause {
    pub process: u64,
    /// Number of requests that were sent before the process could know of it.
    pub known_after: usize,
    /// Its end, by the process's clock.
    pub until: Millis,
}

/// The content of a POST /invoice or POST /checkout. Amounts of one value are equal, however they are written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Requested {
    Invoice {
        conversion_id: String,
        crypto_code: String,
        /// In the asset, US dollars and the local currency; `None` for text that is no amount.
        amounts: [Option<i128>; 3],
    },
    Session {
        email: String,
        currency: String,
        /// `None` for text that is no amount.
        amount: Option<i128>,
    },
}

/// What customers see of an invoice or a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// ISO 4217; `None` for a session.
    pub local_currency: Option<String>,
    /// `None` for a session.
    pub address: Option<String>,
    /// As the gateway has sent it; `None` for a session.
    pub qr_string: Option<String>,
    /// The gateway's page; `None` for an invoice.
    pub page_url: Option<String>,
}

/// The gateway's invoice, or its session with the invoice that follows from it.
#[derive(Clone, Debug)]
pub struct Invoice {
    /// By the gateway's clock.
    pub created_at: Millis,
    /// The end of its time, by the gateway's clock; `None` if the source does not know it.
    pub expires_at: Option<Millis>,
    pub requested: Requested,
    pub shown: Shown,
    /// What GET /invoice states from each moment on, oldest first.
    pub reports: Vec<Report>,
    /// What has arrived, in the asset.
    pub received: i128,
    /// `true` if the response that created it was lost or wrong: customers must not see it.
    pub is_tainted: bool,
    /// `true` if the gateway has contradicted itself about it: not to credit it is right.
    pub is_contradicted: bool,
    /// The price of one unit in US dollars, and what the invoice asks for in the asset and in dollars; `None` if the
    /// source does not know the price.
    pub rate: Option<[i128; 3]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// By the gateway's clock.
    pub at: Millis,
    /// `COMPLETED`
    pub status: String,
    /// What was requested and what was received, in each unit that the source knows; empty before an asset is chosen.
    pub parts: Vec<Part>,
}

/// What was requested and what was received: in the asset, in dollars or in the local currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// In units.
    pub requested: i128,
    /// In units.
    pub received: i128,
}

impl Invoice {
    pub fn covered_at(&self, price: Price) -> Option<Millis> {
        let covering = self.reports.iter().find(|report| report.covers(price));
        covering.map(|report| report.at)
    }

    /// Returns `true` if it was completed with enough at a moment, and is at the end of the record.
    pub fn is_covered_since(&self, price: Price, moment: Millis) -> bool {
        let then = self.reports.iter().rfind(|report| report.at <= moment);
        then.is_some_and(|report| report.covers(price))
            && self
                .reports
                .last()
                .is_some_and(|report| report.covers(price))
    }

    /// Returns `true` if it was once completed with less than a price.
    pub fn was_short(&self, price: Price) -> bool {
        let mut reports = self.reports.iter();
        reports.any(|report| report.status == "COMPLETED" && !report.covers(price))
    }
}

impl Report {
    /// Returns `true` if it is COMPLETED and every received amount covers its share of the price, less the tolerance.
    pub fn covers(&self, price: Price) -> bool {
        let least = (price.amount - price.tolerance).max(0);
        let mut parts = self.parts.iter();
        self.status == "COMPLETED"
            && !self.parts.is_empty()
            && parts.all(|part| at_least(part.received, price.amount, part.requested, least))
    }
}
