//! An invoice of the model and the truth about it: what was paid on its chain, and what an honest service says of that.

use serde_json::{Map, Value, json};

use crate::coin::Coin;
use crate::decimal::{at_least, share, text, units};
use crate::timeline::Millis;

/// An amount in the asset, in dollars and in the service's currency, in units.
pub(crate) type Figures = [i128; 3];

/// What the service says of an invoice that ran out with nothing paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Afterwards {
    Failed,
    StillChecking,
    Forgotten,
}

/// A transaction.
#[derive(Clone, Debug)]
pub(crate) struct Payment {
    pub(crate) units: i128,
    pub(crate) seen_at: Millis,
    /// When it got its first, second and third confirmation.
    pub(crate) confirmed_at: [Millis; 3],
    /// While a reorganisation had thrown it out.
    pub(crate) gone: Option<(Millis, Millis)>,
    pub(crate) hash: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Invoice {
    pub(crate) id: String,
    pub(crate) coin: Coin,
    pub(crate) asked: Figures,
    pub(crate) local_currency: &'static str,
    pub(crate) address: String,
    pub(crate) qr_string: String,
    /// The session that it is, if its customer pays on the service's own page.
    pub(crate) session: Option<Session>,
    pub(crate) created_at: Millis,
    pub(crate) expires_at: Millis,
    pub(crate) afterwards: Afterwards,
    pub(crate) payments: Vec<Payment>,
    /// While the service says another word than the chain would let it: stuck, cancelled, taken back.
    pub(crate) says: Vec<(Millis, Millis, &'static str)>,
    /// The answer to POST /invoice was such that nobody may be shown this invoice.
    pub(crate) is_tainted: bool,
    /// The service once named another address for it: whoever then stops trusting it is right.
    pub(crate) is_contradicted: bool,
}

/// A customer's way through the service's own page.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) page: String,
    /// Whether the customer has chosen an asset there: only then there is an address.
    pub(crate) has_chosen: bool,
}

/// What an honest service says at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) word: &'static str,
    pub(crate) received: i128,
    confirmations: Option<usize>,
    hash: String,
}

/// A price and how much of it may be missing, in units of its currency.
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
    /// Nothing is known of it any more.
    pub(crate) fn is_forgotten(&self, at: Millis) -> bool {
        let is_untouched = !self.payments.iter().any(|payment| payment.is_there(at));
        self.afterwards == Afterwards::Forgotten && at >= self.expires_at && is_untouched
    }

    pub(crate) fn said(&self, at: Millis) -> Said {
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
        } else if at >= self.expires_at && self.afterwards == Afterwards::Failed {
            ("FAILED", 0, None)
        } else {
            ("CHECKING", 0, None)
        };
        let other = self
            .says
            .iter()
            .find(|(from, to, _)| (*from..*to).contains(&at));
        Said {
            word: other.map_or(word, |(_, _, word)| word),
            received,
            confirmations,
            hash: hash.unwrap_or_default(),
        }
    }

    /// The same amount in the three figures, as the service states it.
    fn figures(&self, received: i128) -> Figures {
        let [crypto, usd, local] = self.asked;
        [
            received,
            share(usd, received, crypto, 2),
            share(local, received, crypto, 2),
        ]
    }

    /// Whether the service truly said, up to a moment, that this price was paid in full.
    pub(crate) fn was_completed(&self, price: Price, until: Millis) -> bool {
        self.turns(until).any(|at| self.is_completed(price, at))
    }

    /// Whether the service truly said, up to a moment, that less than this price was paid.
    pub(crate) fn was_short(&self, price: Price, until: Millis) -> bool {
        self.turns(until)
            .any(|at| self.said(at).word == "COMPLETED" && !self.is_completed(price, at))
    }

    /// The moments, up to one, at which it may have begun to say something else.
    fn turns(&self, until: Millis) -> impl Iterator<Item = Millis> {
        let turns = self.payments.iter().map(|payment| payment.confirmed_at[2]);
        let ends = self.says.iter().map(|(_, to, _)| *to);
        let backs = self.payments.iter().filter_map(|p| Some(p.gone?.1));
        turns
            .chain(ends)
            .chain(backs)
            .filter(move |at| *at <= until)
    }

    /// Whether the service truly says at a moment that this price was paid in full.
    pub(crate) fn is_completed(&self, price: Price, at: Millis) -> bool {
        let said = self.said(at);
        let enough = self.figures(said.received);
        let covered = |(asked, received): (&i128, &i128)| {
            at_least(
                *received,
                price.amount,
                *asked,
                price.amount - price.tolerance,
            )
        };
        said.word == "COMPLETED" && self.asked.iter().zip(&enough).all(covered)
    }

    /// The `data` of GET /invoice.
    pub(crate) fn record(&self, at: Millis) -> Map<String, Value> {
        let said = self.said(at);
        let received = self.figures(said.received);
        let [crypto, usd, local] = self.asked.map(text);
        let [received_crypto, received_usd, received_local] = received.map(text);
        let confirmations = said
            .confirmations
            .map_or_else(String::new, |count| format!("{count}/3"));
        let record = json!({
            "invoice_id": self.id,
            "transaction_status": said.word,
            "invoice_amount_in_local_currency": local,
            "invoice_amount_in_usd": usd,
            "invoice_crypto_amount": crypto,
            "received_amount_in_local_currency": received_local,
            "received_amount_in_usd": received_usd,
            "received_crypto_amount": received_crypto,
            "local_currency_code": self.local_currency,
            "transaction_crypto": self.coin.code,
            "invoice_creation_time": (self.created_at / 1000).to_string(),
            "depositor_email_id": "",
            "blockchain_transaction_status": if said.hash.is_empty() { "" } else { "PENDING" },
            "transaction_hash": said.hash,
            "blockchain_confirmations": confirmations,
            "wallet_address": self.address,
            "transaction_time": "",
        });
        let Value::Object(mut record) = record else {
            unreachable!("the macro was given an object");
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

    /// The answer to POST /invoice or POST /checkout.
    pub(crate) fn answer(&self) -> Value {
        if let Some(session) = &self.session {
            return json!({ "session_id": self.id, "payment_process_url": session.page });
        }
        let [crypto, usd, local] = self.asked.map(text);
        json!({
            "invoice_id": self.id,
            "invoice_expired_in": ((self.expires_at - self.created_at) / 60_000).to_string(),
            "deposit_crypto": self.coin.code,
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

/// The three figures of a request.
pub(crate) fn asked(request: &Value) -> Option<Figures> {
    let read = |member: &str| units(request[member].as_str()?);
    Some([
        read("amount_in_crypto")?,
        read("amount_in_usd")?,
        read("amount_in_local_currency")?,
    ])
}
