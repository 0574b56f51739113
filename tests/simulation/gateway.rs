//! The model of the payment service: prices, invoices and chains, and what it would answer if nothing ever went wrong.
//! It shares no line with the sandbox or with the product.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

use crate::coin::{COINS, Coin};
use crate::decimal::{ONE, at_least, share, text, units};
use crate::invoice::{Afterwards, Figures, Invoice, Payment, Session, asked};
use crate::random::Chance;
use crate::stores::CHECKOUT_URL;
use crate::timeline::Millis;

/// How long the service honours a price.
const CONVERSION_LASTS: Millis = 20 * 60_000;

#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) local_currency: &'static str,
    /// Longest lifetime of an invoice, in minutes.
    longest_minutes: i64,
    chance: Chance,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    invoices: Vec<Invoice>,
    conversions: BTreeMap<String, Conversion>,
    /// How often POST /invoice arrived, by what it asked for.
    posts: BTreeMap<(String, i128, i128), u64>,
    /// How often POST /checkout arrived, by the customer's address.
    sessions: BTreeMap<String, u64>,
    asked_too_little: Vec<String>,
}

/// A price that was given out.
#[derive(Debug)]
struct Conversion {
    coin: Coin,
    usd: i128,
    at: Millis,
}

/// A status and a body.
pub(crate) type Answer = (u16, Value);

impl Service {
    pub(crate) fn new(chance: Chance, longest_minutes: i64) -> Self {
        Self {
            local_currency: chance.pick(&["USD", "EUR"]),
            longest_minutes,
            chance,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn in_local(&self, usd: i128) -> i128 {
        match self.local_currency {
            "USD" => usd,
            _ => usd / 100 * 92,
        }
    }

    /// GET /prices: every coin a little dearer or cheaper than the last time.
    pub(crate) fn prices(&self, now: Millis) -> Answer {
        let mut entries = Map::new();
        for coin in COINS {
            let usd = coin.price * ONE / 1000 * i128::from(self.chance.between(900, 1100));
            let id = format!("cnv_{}", self.chance.hex());
            let entry = json!({
                "rates": {
                    "amount_in_local_currency": text(self.in_local(usd)),
                    "amount_in_crypto": "1",
                    "amount_in_usd": text(usd),
                    "local_currency_code": self.local_currency,
                },
                "limits": { "min": "", "max": if self.chance.percent(3) { "0.00000001" } else { "" } },
                "conversion_id": id,
            });
            entries.insert(coin.code.to_owned(), entry);
            let conversion = Conversion { coin, usd, at: now };
            self.state().conversions.insert(id, conversion);
        }
        (200, Value::Object(entries))
    }

    /// POST /invoice. Answers the new invoice's id as well.
    pub(crate) fn create(&self, request: &Value, now: Millis) -> (Answer, Option<String>) {
        let refused = |code: &str| {
            let body = json!({ "error": "refused", "code": code, "message": "refused" });
            ((400, body), None)
        };
        let mut state = self.state();
        let (Some(figures), Some(conversion_id)) =
            (asked(request), request["conversion_id"].as_str())
        else {
            return refused("AMOUNT_OUT_OF_RANGE");
        };
        let Some(conversion) = state.conversions.get(conversion_id) else {
            return refused("UNKNOWN_CONVERSION");
        };
        let (coin, rate) = (conversion.coin, conversion.usd);
        let lapsed = now - conversion.at > CONVERSION_LASTS;
        let [crypto, usd, _] = figures;
        let key = (conversion_id.to_owned(), crypto, usd);
        *state.posts.entry(key).or_default() += 1;
        if lapsed {
            return refused("CONVERSION_LAPSED");
        }
        // The price in the asset must be worth the price in dollars, but for the dollars' own rounding.
        if !at_least(crypto, rate, usd - ONE / 100, ONE) {
            let told = format!(
                "{} of {} for {} dollars",
                text(crypto),
                coin.code,
                text(usd)
            );
            state.asked_too_little.push(told);
        }
        let invoice = self.invoice_of(coin, figures, self.local_currency, now);
        let made = ((200, invoice.answer()), Some(invoice.id.clone()));
        state.invoices.push(invoice);
        made
    }

    /// POST /checkout. Answers the new session's id as well.
    pub(crate) fn open_session(&self, request: &Value, now: Millis) -> (Answer, Option<String>) {
        let member = |name: &str| request[name].as_str().unwrap_or_default();
        let email = member("client_email_id").to_owned();
        let mut state = self.state();
        *state.sessions.entry(email).or_default() += 1;
        let currency = member("client_preferred_fiat_currency");
        let currency = ["USD", "EUR"].into_iter().find(|known| *known == currency);
        let (Some(currency), Some(local)) = (currency, units(member("amount"))) else {
            let body = json!({ "error": "refused", "code": "AMOUNT_OUT_OF_RANGE", "message": "" });
            return ((400, body), None);
        };
        let coin = self.chance.pick(&COINS);
        let cents = ONE / 100;
        let usd = if currency == "USD" {
            local
        } else {
            local / cents * 109 / 100 * cents
        };
        let price = coin.price * i128::from(self.chance.between(900, 1100)) * (ONE / 1000);
        let figures = [share(ONE, usd, price, 8), usd, local];
        let mut invoice = self.invoice_of(coin, figures, currency, now);
        invoice.session = Some(Session {
            page: format!("{CHECKOUT_URL}?lang=en&id={}", invoice.id),
            has_chosen: false,
        });
        let made = ((200, invoice.answer()), Some(invoice.id.clone()));
        state.invoices.push(invoice);
        made
    }

    fn invoice_of(
        &self,
        coin: Coin,
        asked: Figures,
        local_currency: &'static str,
        now: Millis,
    ) -> Invoice {
        let address = coin.address(&self.chance);
        let minutes = self.chance.between(1, self.longest_minutes);
        let qr_string = coin.qr_string(&address, asked[0], &self.chance);
        Invoice {
            id: format!("inv_{}", self.chance.hex()),
            coin,
            asked,
            local_currency,
            address,
            qr_string,
            session: None,
            created_at: now,
            expires_at: now + minutes * 60_000,
            afterwards: self.chance.pick(&[
                Afterwards::Failed,
                Afterwards::StillChecking,
                Afterwards::Forgotten,
            ]),
            payments: Vec::new(),
            says: Vec::new(),
            is_tainted: false,
            is_contradicted: false,
        }
    }

    /// GET /invoice, as it would have been answered at a moment.
    pub(crate) fn lookup(&self, id: &str, at: Millis) -> Answer {
        let state = self.state();
        let known = state.invoices.iter().find(|invoice| invoice.id == id);
        let Some(invoice) = known.filter(|invoice| !invoice.is_forgotten(at)) else {
            let body = json!({ "error": "gone", "code": "INVALID_INVOICE_ID", "message": "" });
            return (404, body);
        };
        (200, json!({ "data": invoice.record(at) }))
    }

    pub(crate) fn invoice(&self, id: &str) -> Option<Invoice> {
        let state = self.state();
        state
            .invoices
            .iter()
            .find(|invoice| invoice.id == id)
            .cloned()
    }

    /// The invoice that has an address.
    pub(crate) fn invoice_at(&self, address: &str) -> Option<Invoice> {
        let state = self.state();
        let mut invoices = state.invoices.iter();
        invoices.find(|invoice| invoice.address == address).cloned()
    }

    /// The invoice whose customer is on a page of the service.
    pub(crate) fn invoice_on(&self, page: &str) -> Option<Invoice> {
        let state = self.state();
        let is_there =
            |invoice: &&Invoice| invoice.session.as_ref().is_some_and(|on| on.page == page);
        state.invoices.iter().find(is_there).cloned()
    }

    /// Another invoice than this one.
    pub(crate) fn another(&self, id: &str) -> Option<Invoice> {
        let state = self.state();
        let mut invoices = state.invoices.iter().rev();
        invoices.find(|invoice| invoice.id != id).cloned()
    }

    /// Money is sent to an invoice's address.
    pub(crate) fn pay(&self, id: &str, payment: Payment) {
        self.change(id, |invoice| invoice.payments.push(payment));
    }

    pub(crate) fn change(&self, id: &str, change: impl FnOnce(&mut Invoice)) {
        let mut state = self.state();
        if let Some(invoice) = state.invoices.iter_mut().find(|invoice| invoice.id == id) {
            change(invoice);
        }
    }

    pub(crate) fn invoices(&self) -> Vec<Invoice> {
        self.state().invoices.clone()
    }

    /// How often each invoice was asked for: by conversion, in the asset, in dollars.
    pub(crate) fn posts(&self) -> Vec<((String, i128, i128), u64)> {
        let posts = self.state().posts.clone();
        posts.into_iter().collect()
    }

    /// How often a session was asked for, by the customer's address.
    pub(crate) fn sessions(&self) -> BTreeMap<String, u64> {
        self.state().sessions.clone()
    }

    pub(crate) fn asked_too_little(&self) -> Vec<String> {
        self.state().asked_too_little.clone()
    }
}
