//! The model of the gateway without faults: prices, invoices and chains. It shares no code with the proxy, and
//! with the sandbox only the form of responses: docs/adr/0022-a-model-of-the-gateway-for-the-simulation.md.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicI64};

use florin_invariants::amount::{ONE, share, text, units};
use florin_invariants::{Pause, Request, Requested};
use florin_sandbox::wire::price_entry;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use support::SeededRandom;

use crate::invoice::{ASSETS, AfterExpiry, Amounts, Asset, Invoice, Session, requested_amounts};
use crate::stores::CHECKOUT_URL;
use crate::timeline::Millis;

const CONVERSION_LASTS: Millis = 20 * 60_000;

#[derive(Debug)]
pub(crate) struct Gateway {
    pub(crate) local_currency: &'static str,
    longest_minutes: i64,
    random: SeededRandom,
    state: Mutex<State>,
    /// How far its clock is ahead of the right time.
    pub(crate) ahead: AtomicI64,
    pub(crate) is_excessive: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    invoices: Vec<Invoice>,
    conversions: BTreeMap<String, Conversion>,
    requests: Vec<Request>,
    pauses: Vec<Pause>,
    requested: Vec<Requested>,
}

#[derive(Debug)]
struct Conversion {
    asset: Asset,
    usd: i128,
    now: Millis,
}

pub(crate) type Response = (u16, Value);

impl Gateway {
    pub(crate) fn new(random: SeededRandom, longest_minutes: i64) -> Self {
        Self {
            local_currency: random.pick(&["USD", "EUR"]),
            longest_minutes,
            random,
            state: Mutex::default(),
            ahead: AtomicI64::new(0),
            is_excessive: AtomicBool::new(false),
        }
    }

    fn in_local(&self, usd: i128) -> i128 {
        match self.local_currency {
            "USD" => usd,
            _ => usd / 100 * 92,
        }
    }

    pub(crate) fn prices(&self, now: Millis) -> Response {
        let mut entries = Map::new();
        for asset in ASSETS {
            let usd = asset.price * ONE / 1000 * i128::from(self.random.between(900, 1100));
            let id = format!("cnv_{}", self.random.hex());
            let is_limited = self.random.percent(3);
            let max = if is_limited { "0.00000001" } else { "" };
            let price = [self.in_local(usd), usd].map(text);
            let limits = [String::new(), max.to_owned()];
            let entry = price_entry(price, self.local_currency, limits, &id);
            entries.insert(asset.code.to_owned(), entry);
            let conversion = Conversion { asset, usd, now };
            self.state.lock().conversions.insert(id, conversion);
        }
        (200, Value::Object(entries))
    }

    pub(crate) fn create(&self, request: &Value, now: Millis) -> (Response, Option<String>) {
        let refused = |code: &str| {
            let body = json!({ "error": "refused", "code": code, "message": "refused" });
            ((400, body), None)
        };
        let mut state = self.state.lock();
        let (Some(amounts), Some(conversion_id)) = (
            requested_amounts(request),
            request["conversion_id"].as_str(),
        ) else {
            return refused("AMOUNT_OUT_OF_RANGE");
        };
        let Some(conversion) = state.conversions.get(conversion_id) else {
            return refused("UNKNOWN_CONVERSION");
        };
        let (asset, rate) = (conversion.asset, conversion.usd);
        let lapsed = now - conversion.now > CONVERSION_LASTS;
        let requested = Requested::Invoice {
            conversion_id: conversion_id.to_owned(),
            crypto_code: member(request, "crypto_code").to_owned(),
            amounts: amounts.map(Some),
        };
        state.requested.push(requested.clone());
        if lapsed {
            return refused("CONVERSION_LAPSED");
        }
        let mut invoice = self.invoice_of(asset, amounts, self.local_currency, requested, now);
        invoice.rate = Some(rate);
        let made = ((200, invoice.response()), Some(invoice.id.clone()));
        state.invoices.push(invoice);
        made
    }

    pub(crate) fn open_session(&self, request: &Value, now: Millis) -> (Response, Option<String>) {
        let currency = member(request, "client_preferred_fiat_currency");
        let local = units(member(request, "amount"));
        let requested = Requested::Session {
            email: member(request, "client_email_id").to_owned(),
            currency: currency.to_owned(),
            amount: local,
        };
        let mut state = self.state.lock();
        state.requested.push(requested.clone());
        let currency = ["USD", "EUR"].into_iter().find(|known| *known == currency);
        let (Some(currency), Some(local)) = (currency, local) else {
            let body = json!({ "error": "refused", "code": "AMOUNT_OUT_OF_RANGE", "message": "" });
            return ((400, body), None);
        };
        let asset = self.random.pick(&ASSETS);
        let cents = ONE / 100;
        let usd = match currency {
            "USD" => local,
            _ => local / cents * 109 / 100 * cents,
        };
        let price = asset.price * i128::from(self.random.between(900, 1100)) * (ONE / 1000);
        let amounts = [share(ONE, usd, price, 8), usd, local];
        let mut invoice = self.invoice_of(asset, amounts, currency, requested, now);
        invoice.session = Some(Session {
            page: format!("{CHECKOUT_URL}?lang=en&id={}", invoice.id),
            has_chosen: false,
        });
        let made = ((200, invoice.response()), Some(invoice.id.clone()));
        state.invoices.push(invoice);
        made
    }

    fn invoice_of(
        &self,
        asset: Asset,
        amounts: Amounts,
        local_currency: &'static str,
        requested: Requested,
        now: Millis,
    ) -> Invoice {
        let address = asset.address(&self.random);
        let minutes = self.random.between(1, self.longest_minutes);
        Invoice {
            id: format!("inv_{}", self.random.hex()),
            requested,
            rate: None,
            asset,
            amounts,
            local_currency,
            address,
            session: None,
            created_at: now,
            expires_at: now + minutes * 60_000,
            afterwards: self.random.pick(&[
                AfterExpiry::Failed,
                AfterExpiry::StillChecking,
                AfterExpiry::Forgotten,
            ]),
            payments: Vec::new(),
            overrides: Vec::new(),
            is_tainted: false,
            is_contradicted: false,
        }
    }

    pub(crate) fn lookup(&self, id: &str, at: Millis) -> Response {
        let state = self.state.lock();
        let known = state.invoices.iter().find(|invoice| invoice.id == id);
        let Some(invoice) = known.filter(|invoice| !invoice.is_forgotten(at)) else {
            let body = json!({ "error": "gone", "code": "INVALID_INVOICE_ID", "message": "" });
            return (404, body);
        };
        (200, json!({ "data": invoice.record(at) }))
    }

    pub(crate) fn find(&self, fits: impl Fn(&Invoice) -> bool) -> Option<Invoice> {
        let state = self.state.lock();
        let mut invoices = state.invoices.iter().rev();
        invoices.find(|invoice| fits(invoice)).cloned()
    }

    pub(crate) fn invoice_at(&self, address: &str) -> Option<Invoice> {
        self.find(|invoice| invoice.address == address)
    }

    pub(crate) fn invoice_on(&self, page: &str) -> Option<Invoice> {
        self.find(|invoice| invoice.session.as_ref().is_some_and(|on| on.page == page))
    }

    pub(crate) fn change(&self, id: &str, change: impl FnOnce(&mut Invoice)) {
        let mut state = self.state.lock();
        if let Some(invoice) = state.invoices.iter_mut().find(|invoice| invoice.id == id) {
            change(invoice);
        }
    }

    pub(crate) fn invoices(&self) -> Vec<Invoice> {
        self.state.lock().invoices.clone()
    }

    /// Records a request when it is sent, with the time of its sender's clock.
    pub(crate) fn record_request(&self, process: u64, at: Millis, endpoint: &'static str) {
        self.state.lock().requests.push(Request {
            at,
            process,
            endpoint: endpoint.into(),
        });
    }

    /// Records a pause when its process reads the response.
    pub(crate) fn record_pause(&self, process: u64, until: Millis) {
        let mut state = self.state.lock();
        let known_after = state.requests.len();
        state.pauses.push(Pause {
            process,
            known_after,
            until,
        });
    }

    /// Forgets the pauses of each process that has one with a later end. A process stores only the latest end. After its
    /// clock was set back, it ignores an end that is too far ahead: its pauses bind it no more.
    pub(crate) fn forget_pauses_after(&self, latest: Millis) {
        let pauses = &mut self.state.lock().pauses;
        let later = pauses.iter().filter(|pause| pause.until > latest);
        let without_pauses: BTreeSet<u64> = later.map(|pause| pause.process).collect();
        pauses.retain(|pause| !without_pauses.contains(&pause.process));
    }

    /// Forgets the pauses that have ended: by a clock that is set back, their end would lie in the future again.
    pub(crate) fn forget_pauses_until(&self, now: Millis) {
        self.state.lock().pauses.retain(|pause| pause.until > now);
    }

    pub(crate) fn evidence(&self, now: Millis) -> florin_invariants::Gateway {
        let state = self.state.lock();
        let invoices = state.invoices.iter();
        florin_invariants::Gateway {
            requests: state.requests.clone(),
            pauses: state.pauses.clone(),
            requested: state.requested.clone(),
            invoices: invoices
                .map(|invoice| (invoice.id.clone(), invoice.evidence(now)))
                .collect(),
        }
    }
}

fn member<'a>(request: &'a Value, name: &str) -> &'a str {
    request[name].as_str().unwrap_or_default()
}
