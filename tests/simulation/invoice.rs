//! An invoice of the model: its payments on the chain, and the correct status; and its asset: addresses with checksums, and
//! the expected links.

use std::collections::BTreeSet;

use florin_invariants::amount::{ONE, share, text, units};
use florin_invariants::{Part, Report, Requested, Shown};
use florin_sandbox::wire::{CreatedInvoice, CreatedSession, InvoiceRecord, Status};
use serde_json::{Value, json};
use support::SeededRandom;

use crate::timeline::Millis;

/// An amount in the asset, in dollars and in the local currency, in units.
pub(crate) type Amounts = [i128; 3];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterExpiry {
    Failed,
    StillChecking,
    Forgotten,
}

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
    pub(crate) requested: Requested,
    /// The price of one unit in dollars; `None` for a session.
    pub(crate) rate: Option<i128>,
    pub(crate) asset: Asset,
    pub(crate) amounts: Amounts,
    pub(crate) local_currency: &'static str,
    pub(crate) address: String,
    /// Its session, if the customer pays on the hosted page.
    pub(crate) session: Option<Session>,
    pub(crate) created_at: Millis,
    pub(crate) expires_at: Millis,
    pub(crate) afterwards: AfterExpiry,
    pub(crate) payments: Vec<Payment>,
    /// Intervals with a status that overrides the chain's: stuck, cancelled, reverted.
    pub(crate) overrides: Vec<(Millis, Millis, Status)>,
    /// The response to POST /invoice was lost or wrong: this invoice must not be shown.
    pub(crate) is_tainted: bool,
    /// The gateway once reported another address for it, so that blocking it is correct.
    pub(crate) is_contradicted: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) page: String,
    /// `true` once the customer has chosen an asset; only then there is an address.
    pub(crate) has_chosen: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) status: Status,
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
    pub(crate) fn is_forgotten(&self, at: Millis) -> bool {
        let is_untouched = !self.payments.iter().any(|payment| payment.is_there(at));
        self.afterwards == AfterExpiry::Forgotten && at >= self.expires_at && is_untouched
    }

    pub(crate) fn state_at(&self, at: Millis) -> State {
        let there = || {
            self.payments
                .iter()
                .filter(move |payment| payment.is_there(at))
        };
        let complete = || there().filter(|payment| payment.confirmations(at) == 3);
        let sum = |units: i128, payment: &Payment| units + payment.units;
        let fewest = there().map(|payment| payment.confirmations(at)).min();
        let hash = there().next_back().map(|payment| payment.hash.clone());
        let (status, received, confirmations) = if complete().next().is_some() {
            (Status::Completed, complete().fold(0, sum), Some(3))
        } else if let Some(fewest) = fewest {
            let status = if fewest == 0 {
                Status::Checking
            } else {
                Status::Processing
            };
            (status, there().fold(0, sum), Some(fewest))
        } else if at >= self.expires_at && self.afterwards == AfterExpiry::Failed {
            (Status::Failed, 0, None)
        } else {
            (Status::Checking, 0, None)
        };
        let other = self
            .overrides
            .iter()
            .find(|(from, to, _)| (*from..*to).contains(&at));
        State {
            status: other.map_or(status, |(_, _, status)| *status),
            received,
            confirmations,
            hash: hash.unwrap_or_default(),
        }
    }

    fn received_amounts(&self, received: i128) -> Amounts {
        let [crypto, usd, local] = self.amounts;
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
            let state = self.state_at(at);
            let received = self.received_amounts(state.received);
            let part = |(amount, received): (&i128, i128)| Part {
                requested: *amount,
                received,
            };
            Report {
                at,
                status: state.status.as_str().to_owned(),
                parts: self.amounts.iter().zip(received).map(part).collect(),
            }
        };
        changes.into_iter().map(report).collect()
    }

    pub(crate) fn evidence(&self, now: Millis) -> florin_invariants::Invoice {
        let [crypto, usd, _] = self.amounts;
        let page = self.session.as_ref().map(|session| session.page.clone());
        let shown = match page {
            Some(page) => Shown {
                page_url: Some(page),
                ..Shown::default()
            },
            None => Shown {
                local_currency: Some(self.local_currency.to_owned()),
                address: Some(self.address.clone()),
                qr_string: Some(self.address.clone()),
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
            expires_at: Some(self.expires_at),
            is_contradicted: self.is_contradicted,
            rate: self.rate.map(|rate| [rate, crypto, usd]),
        }
    }

    pub(crate) fn record(&self, at: Millis) -> InvoiceRecord {
        let state = self.state_at(at);
        let received = self.received_amounts(state.received);
        let [crypto, usd, local] = self.amounts.map(text);
        let [received_crypto, received_usd, received_local] = received.map(text);
        let has_asset = self.session.as_ref().is_none_or(|on| on.has_chosen);
        let of_asset = |text: &str| {
            let text = if has_asset { text } else { "" };
            text.to_owned()
        };
        let on_chain = if state.hash.is_empty() { "" } else { "PENDING" };
        InvoiceRecord {
            invoice_id: self.id.clone(),
            transaction_status: state.status.as_str().to_owned(),
            invoice_amount_in_local_currency: local,
            invoice_amount_in_usd: usd,
            invoice_crypto_amount: of_asset(&crypto),
            received_amount_in_local_currency: received_local,
            received_amount_in_usd: received_usd,
            received_crypto_amount: received_crypto,
            local_currency_code: self.local_currency.to_owned(),
            transaction_crypto: of_asset(self.asset.code),
            invoice_creation_time: (self.created_at / 1000).to_string(),
            blockchain_transaction_status: on_chain.to_owned(),
            transaction_hash: state.hash,
            blockchain_confirmations: state
                .confirmations
                .map_or_else(String::new, |count| format!("{count}/3")),
            wallet_address: of_asset(&self.address),
            ..InvoiceRecord::default()
        }
    }

    pub(crate) fn response(&self) -> Value {
        if let Some(session) = &self.session {
            return json!(CreatedSession {
                session_id: self.id.clone(),
                payment_process_url: session.page.clone(),
            });
        }
        let [crypto, usd, local] = self.amounts.map(text);
        json!(CreatedInvoice {
            invoice_id: self.id.clone(),
            invoice_expired_in: ((self.expires_at - self.created_at) / 60_000).to_string(),
            deposit_crypto: self.asset.code.to_owned(),
            deposit_address: self.address.clone(),
            qr_string: self.address.clone(),
            invoice_amount_in_crypto: crypto,
            invoice_amount_in_usd: usd,
            local_currency_amount: local,
            local_currency_code: self.local_currency.to_owned(),
            warning_messages: vec!["Send only the right asset.".to_owned()],
            address_index: None,
        })
    }
}

pub(crate) fn requested_amounts(request: &Value) -> Option<Amounts> {
    let read = |member: &str| units(request[member].as_str()?);
    Some([
        read("amount_in_crypto")?,
        read("amount_in_usd")?,
        read("amount_in_local_currency")?,
    ])
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Asset {
    pub(crate) code: &'static str,
    pub(crate) price: i128,
    /// The version byte of addresses in `Base58Check`; `None` for `0x` and 40 digits.
    version: Option<u8>,
    /// The scheme of links, where an address alone names the coin and its network.
    scheme: Option<&'static str>,
}

pub(crate) const ASSETS: [Asset; 7] = [
    Asset::new("BTC", 64_000, Some(0x6f), Some("bitcoin")),
    Asset::new("ETH", 3_100, None, None),
    Asset::new("USDTERC20", 1, None, None),
    Asset::new("BNB", 580, None, None),
    Asset::new("LTC", 84, Some(0x3a), Some("litecoin")),
    Asset::new("TRX", 2, Some(0x41), None),
    Asset::new("USDTTRC20", 1, Some(0x41), None),
];

impl Asset {
    const fn new(
        code: &'static str,
        price: i128,
        version: Option<u8>,
        scheme: Option<&'static str>,
    ) -> Self {
        Self {
            code,
            price,
            version,
            scheme,
        }
    }

    pub(crate) fn address(self, random: &SeededRandom) -> String {
        let digits = format!("{}{}", random.hex(), &random.hex()[..8]);
        let Some(version) = self.version else {
            return format!("0x{digits}");
        };
        let hash = hex::decode(digits).expect("hexadecimal digits");
        let checked = bs58::encode([&[version][..], &hash].concat()).with_check();
        checked.into_string()
    }

    /// The expected link for an amount due that a coin can express; other forms are tested in `crates/address`.
    pub(crate) fn link(self, address: &str, due: i128) -> String {
        let is_payable = due > 0 && due % (ONE / 100_000_000) == 0;
        let Some(scheme) = self.scheme.filter(|_| is_payable) else {
            return address.to_owned();
        };
        let amount = text(due);
        let amount = amount.trim_end_matches('0').trim_end_matches('.');
        format!("{scheme}:{address}?amount={amount}")
    }
}
