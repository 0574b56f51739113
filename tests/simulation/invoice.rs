//! An invoice of the model: its payments on the chain, and the correct status.

use serde_json::{Map, Value, json};

use crate::asset::Asset;
use crate::decimal::{at_least, share, text, units};
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

/// A price and its tolerance, in units of its currency.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Price {
    pub(crate) amount: i128,
    pub(crate) tolerance: i128,
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

    /// Returns `true` if this price was paid in full at some moment up to `until`.
    pub(crate) fn was_completed(&self, price: Price, until: Millis) -> bool {
        self.changes(until).any(|at| self.is_completed(price, at))
    }

    /// Returns `true` if less than this price was paid at some moment up to `until`.
    pub(crate) fn was_short(&self, price: Price, until: Millis) -> bool {
        self.changes(until)
            .any(|at| self.status_at(at).word == "COMPLETED" && !self.is_completed(price, at))
    }

    /// Returns the moments up to `until` at which the status may have changed.
    fn changes(&self, until: Millis) -> impl Iterator<Item = Millis> {
        let changes = self.payments.iter().map(|payment| payment.confirmed_at[2]);
        let ends = self.overrides.iter().map(|(_, to, _)| *to);
        let backs = self.payments.iter().filter_map(|p| Some(p.gone?.1));
        changes
            .chain(ends)
            .chain(backs)
            .filter(move |at| *at <= until)
    }

    /// Returns `true` if this price is paid in full at a moment.
    pub(crate) fn is_completed(&self, price: Price, at: Millis) -> bool {
        let status_at = self.status_at(at);
        let enough = self.amounts(status_at.received);
        let covered = |(asked, received): (&i128, &i128)| {
            at_least(
                *received,
                price.amount,
                *asked,
                price.amount - price.tolerance,
            )
        };
        status_at.word == "COMPLETED" && self.asked.iter().zip(&enough).all(covered)
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
