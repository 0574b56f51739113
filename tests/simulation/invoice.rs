//! An invoice of the model: its payments on the chain, and the correct status.

use std::collections::BTreeSet;

use florin_invariants::amount::{share, text, units};
use florin_invariants::{Part, Report, Requested, Shown};
use serde_json::{Map, Value, json};

use crate::asset::Asset;
use crate::timeline::Millis;

/// An amount in the asset, in dollars and in the local currency, in units.
pub(crate) type Amounts = [i128; 3];

/// The status of an expired unpaid invoice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterExpiry {
    Failed,
    StillChecking,
    Forgotten,
}

/// A transaction.
#[derive(Clone, Debug)]
pub(crate) struct Payment {
    pub(crate) units: i128,
    pub(crate) seen_at: Millis,
    /// Times of the first, second and third confirmation.
    pub(crate) confirmed_at: [Millis; 3],
    /// The interval in which a reorganisation has removed it.
    pub(crate) gone: Option<(Millis, Millis)>,
    pub(crate) hash: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Invoice {
    pub(crate) id: String,
    /// The request that has created it.
    pub(crate) requested: Requested,
    /// The price of one unit in dollars; `None` for a session.
    pub(crate) rate: Option<i128>,
    pub(crate) asset: Asset,
    pub(crate) asked: Amounts,
    pub(crate) local_currency: &'static str,
    pub(crate) address: String,
    pub(crate) qr_string: String,
    /// Its session, if the customer pays on the hosted page.
    pub(crate) session: Option<Session>,
    pub(crate) created_at: Millis,
    pub(crate) expires_at: Millis,
    pub(crate) afterwards: AfterExpiry,
    pub(crate) payments: Vec<Payment>,
    /// Intervals with a status that overrides the chain's: stuck, cancelled, reverted.
    pub(crate) overrides: Vec<(Millis, Millis, &'static str)>,
    /// The response to POST /invoice was lost or wrong: this invoice must not be shown.
    pub(crate) is_tainted: bool,
    /// The gateway once reported another address for it, so that blocking it is correct.
    pub(crate) is_contradicted: bool,
}

/// A hosted session.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) page: String,
    /// `true` once the customer has chosen an asset; only then there is an address.
    pub(crate) has_chosen: bool,
}

/// The correct status at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) word: &'static str,
    pub(crate) received: i128,
    confirmations: Option<usize>,
    hash: String,
}

impl Payment {
    fn is_there(&self, at: Millis) -> bool {
        let is_gone = self.gone.is_some_and(|(from, to)| (from..to).contains(&at));
        self.seen_at <= at && !is_gone
    }

    fn confirmations(&self, at: Millis) -> usize {
        let is_back = self.gone.is_none_or(|(_, to)| to <= at);
        let counted = self.confirmed_at.iter().filter(|confirmed| {
            let before_the_reorganisation = self.gone.is_some_and(|(from, _)| at < from);
            **confirmed <= at && (is_back || before_the_reorganisation)
        });
        counted.count()
    }
}

impl Invoice {
    /// Returns `true` if the gateway has deleted it.
    pub(crate) fn is_forgotten(&self, at: Millis) -> bool {
        let is_untouched = !self.payments.iter().any(|payment| payment.is_there(at));
        self.afterwards == AfterExpiry::Forgotten && at >= self.expires_at && is_untouched
    }

    pub(crate) fn status_at(&self, at: Millis) -> Status {
        let there = || {
            self.payments
                .iter()
                .filter(move |payment| payment.is_there(at))
        };
        let complete = || there().filter(|payment| payment.confirmations(at) == 3);
        let sum = |units: i128, payment: &Payment| units + payment.units;
        let fewest = there().map(|payment| payment.confirmations(at)).min();
        let hash = there().next_back().map(|payment| payment.hash.clone());
        let (word, received, confirmations) = if complete().next().is_some() {
            ("COMPLETED", complete().fold(0, sum), Some(3))
        } else if let Some(fewest) = fewest {
            let word = if fewest == 0 {
                "CHECKING"
            } else {
                "PROCESSING"
            };
            (word, there().fold(0, sum), Some(fewest))
        } else if at >= self.expires_at && self.afterwards == AfterExpiry::Failed {
            ("FAILED", 0, None)
        } else {
            ("CHECKING", 0, None)
        };
        let other = self
            .overrides
            .iter()
            .find(|(from, to, _)| (*from..*to).contains(&at));
        Status {
            word: other.map_or(word, |(_, _, word)| word),
            received,
            confirmations,
            hash: hash.unwrap_or_default(),
        }
    }

    /// Converts a received amount to the three amounts of a response.
    fn amounts(&self, received: i128) -> Amounts {
        let [crypto, usd, local] = self.asked;
        [
            received,
            share(usd, received, crypto, 2),
            share(local, received, crypto, 2),
        ]
    }

    /// Returns what GET /invoice states at every moment up to `now` at which it may change.
    fn reports(&self, now: Millis) -> Vec<Report> {
        let payments = self.payments.iter().flat_map(|payment| {
            let [first, second, third] = payment.confirmed_at;
            let (from, to) = payment.gone.unwrap_or((first, first));
            [payment.seen_at, first, second, third, from, to]
        });
        let overrides = self.overrides.iter().flat_map(|(from, to, _)| [*from, *to]);
        let always = [self.created_at, self.expires_at];
        let changes = payments.chain(overrides).chain(always);
        let changes: BTreeSet<Millis> = changes.filter(|at| *at <= now).collect();
        let report = |at| {
            let status = self.status_at(at);
            let received = self.amounts(status.received);
            let part = |(asked, received): (&i128, i128)| Part {
                asked: *asked,
                received,
            };
            Report {
                at,
                status: status.word.to_owned(),
                parts: self.asked.iter().zip(received).map(part).collect(),
            }
        };
        changes.into_iter().map(report).collect()
    }

    /// The record up to a moment, for the rules.
    pub(crate) fn evidence(&self, now: Millis) -> florin_invariants::Invoice {
        let [crypto, usd, _] = self.asked;
        let page = self.session.as_ref().map(|session| session.page.clone());
        let shown = match page {
            Some(page) => Shown {
                page_url: Some(page),
                ..Shown::default()
            },
            None => Shown {
                local_currency: Some(self.local_currency.to_owned()),
                address: Some(self.address.clone()),
                qr_string: Some(self.qr_string.clone()),
                page_url: None,
            },
        };
        florin_invariants::Invoice {
            created_at: self.created_at,
            requested: self.requested.clone(),
            shown,
            reports: self.reports(now),
            received: self.payments.iter().map(|payment| payment.units).sum(),
            is_tainted: self.is_tainted,
            is_contradicted: self.is_contradicted,
            rate: self.rate.map(|rate| [rate, crypto, usd]),
        }
    }

    /// The `data` of GET /invoice.
    pub(crate) fn record(&self, at: Millis) -> Map<String, Value> {
        let status_at = self.status_at(at);
        let received = self.amounts(status_at.received);
        let [crypto, usd, local] = self.asked.map(text);
        let [received_crypto, received_usd, received_local] = received.map(text);
        let confirmations = status_at
            .confirmations
            .map_or_else(String::new, |count| format!("{count}/3"));
        let record = json!({
            "invoice_id": self.id,
            "transaction_status": status_at.word,
            "invoice_amount_in_local_currency": local,
            "invoice_amount_in_usd": usd,
            "invoice_crypto_amount": crypto,
            "received_amount_in_local_currency": received_local,
            "received_amount_in_usd": received_usd,
            "received_crypto_amount": received_crypto,
            "local_currency_code": self.local_currency,
            "transaction_crypto": self.asset.code,
            "invoice_creation_time": (self.created_at / 1000).to_string(),
            "depositor_email_id": "",
            "blockchain_transaction_status": if status_at.hash.is_empty() { "" } else { "PENDING" },
            "transaction_hash": status_at.hash,
            "blockchain_confirmations": confirmations,
            "wallet_address": self.address,
            "transaction_time": "",
        });
        let Value::Object(mut record) = record else {
            unreachable!("the macro creates an object");
        };
        if self.session.as_ref().is_some_and(|on| !on.has_chosen) {
            for member in [
                "invoice_crypto_amount",
                "transaction_crypto",
                "wallet_address",
            ] {
                record[member] = "".into();
            }
        }
        record
    }

    /// The response to POST /invoice or POST /checkout.
    pub(crate) fn answer(&self) -> Value {
        if let Some(session) = &self.session {
            return json!({ "session_id": self.id, "payment_process_url": session.page });
        }
        let [crypto, usd, local] = self.asked.map(text);
        json!({
            "invoice_id": self.id,
            "invoice_expired_in": ((self.expires_at - self.created_at) / 60_000).to_string(),
            "deposit_crypto": self.asset.code,
            "deposit_address": self.address,
            "qr_string": self.qr_string,
            "invoice_amount_in_crypto": crypto,
            "invoice_amount_in_usd": usd,
            "local_currency_amount": local,
            "local_currency_code": self.local_currency,
            "warning_messages": ["Send only the right asset."],
        })
    }
}

/// The three amounts of a request.
pub(crate) fn asked(request: &Value) -> Option<Amounts> {
    let read = |member: &str| units(request[member].as_str()?);
    Some([
        read("amount_in_crypto")?,
        read("amount_in_usd")?,
        read("amount_in_local_currency")?,
    ])
}
