//! What an answer may ask for: what we asked for, and nothing else.
//!
//! A custom attempt named all three figures and the asset. A hosted one named the order's price in its own currency
//! alone: the sums in the asset and in dollars are the service's, and its own answer is what they are compared with.
//! `Assumed:` a session's local currency is the one of `client_preferred_fiat_currency`; another one is held, and a person
//! asks the service.

use florin_money::{Amount, CryptoCode, Currency};

use super::Hold;
use crate::{Ask, Attempt, CustomAsk, Figures, Observation, Order};

/// The service's names of what it asks for.
const NAMES: Figures<&str> = Figures {
    crypto: "invoice_crypto_amount",
    usd: "invoice_amount_in_usd",
    local: "invoice_amount_in_local_currency",
};

/// What an attempt asks of its customer.
pub(super) enum Demand<'a> {
    /// Three figures in one asset, for an order.
    Custom(&'a CustomAsk, &'a Order),
    /// The order's price.
    Hosted(&'a Order),
}

impl<'a> Demand<'a> {
    pub(super) fn of(order: &'a Order, attempt: &'a Attempt) -> Self {
        match &attempt.terms.ask {
            Ask::Custom(ask) => Self::Custom(ask, order),
            Ask::Hosted => Self::Hosted(order),
        }
    }

    /// Whether the customer picks the asset elsewhere.
    pub(super) fn leaves_the_asset_open(&self) -> bool {
        matches!(self, Self::Hosted(_))
    }

    /// Whatever the answer says it asks for must be what we asked for.
    pub(super) fn is_all_that_is_asked(&self, seen: &Observation) -> Result<(), Hold> {
        if let Some(code) = filled(seen.crypto_code.as_ref()) {
            match self {
                Self::Custom(ask, _) => same("transaction_crypto", ask.crypto_code.as_str(), code)?,
                Self::Hosted(_) => is_an_asset(code)?,
            }
        }
        if let Some(code) = filled(seen.local_currency.as_ref()) {
            same("local_currency_code", self.local_currency().as_str(), code)?;
        }
        for ((field, expected), found) in NAMES.zip(self.named()).zip(asked(seen)).each() {
            let (Some(expected), Some(text)) = (expected, found) else {
                continue;
            };
            if amount(field, text)? != expected {
                return Err(Hold::Mismatch {
                    field,
                    expected: expected.to_string(),
                    found: text.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// The three figures that must be covered, for an answer that has them all.
    pub(super) fn figures(&self, seen: &Observation) -> Result<Figures<Amount>, Hold> {
        if let Self::Custom(ask, order) = self {
            asks_the_price(order, ask)?;
            return Ok(ask.asked.figures);
        }
        let read = |field: &'static str, text: Option<&str>| {
            let amount = amount(field, text.ok_or(Hold::Missing(field))?)?;
            if amount.is_zero() {
                return Err(Hold::AsksNothing(field));
            }
            Ok(amount)
        };
        let found = asked(seen);
        Ok(Figures {
            crypto: read(NAMES.crypto, found.crypto)?,
            usd: read(NAMES.usd, found.usd)?,
            local: read(NAMES.local, found.local)?,
        })
    }

    fn local_currency(&self) -> Currency {
        match self {
            Self::Custom(ask, _) => ask.asked.local_currency,
            Self::Hosted(order) => order.terms.currency,
        }
    }

    /// The figures that we named.
    fn named(&self) -> Figures<Option<Amount>> {
        match self {
            Self::Custom(ask, _) => ask.asked.figures.map(Some),
            Self::Hosted(order) => {
                let price = order.terms.amount;
                Figures {
                    crypto: None,
                    usd: (order.terms.currency == Currency::USD).then_some(price),
                    local: Some(price),
                }
            }
        }
    }
}

fn asked(seen: &Observation) -> Figures<Option<&str>> {
    Figures {
        crypto: filled(seen.asked.crypto.as_ref()),
        usd: filled(seen.asked.usd.as_ref()),
        local: filled(seen.asked.local.as_ref()),
    }
}

/// The attempt's own figures must carry the order's price, in its currency.
fn asks_the_price(order: &Order, ask: &CustomAsk) -> Result<(), Hold> {
    let asked = &ask.asked;
    let in_local =
        asked.local_currency == order.terms.currency && asked.figures.local == order.terms.amount;
    let in_usd = order.terms.currency == Currency::USD && asked.figures.usd == order.terms.amount;
    if in_local || in_usd {
        Ok(())
    } else {
        Err(Hold::OtherPrice)
    }
}

pub(super) fn filled(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}

pub(super) fn present<'a>(field: &'static str, text: Option<&'a String>) -> Result<&'a str, Hold> {
    filled(text).ok_or(Hold::Missing(field))
}

pub(super) fn amount(field: &'static str, text: &str) -> Result<Amount, Hold> {
    Amount::parse(text).map_err(|error| Hold::Unreadable(field, error.input))
}

/// The asset that a customer picked on the service's page: any that has the shape of one.
pub(super) fn is_an_asset(code: &str) -> Result<(), Hold> {
    match CryptoCode::parse(code) {
        Ok(_) => Ok(()),
        Err(error) => Err(Hold::Unreadable("transaction_crypto", error.0)),
    }
}

/// Reads `<count>/<required>`; shown to people, and no ground for credit, so anything else is simply not shown.
pub(super) fn confirmations(text: &str) -> Option<(u32, u32)> {
    let (count, required) = text.split_once('/')?;
    Some((count.parse().ok()?, required.parse().ok()?))
}

pub(super) fn same(field: &'static str, expected: &str, found: &str) -> Result<(), Hold> {
    if expected == found {
        return Ok(());
    }
    let found = found.chars().take(80).collect();
    Err(Hold::Mismatch {
        field,
        expected: expected.to_owned(),
        found,
    })
}

/// Whether two texts are one address. Letter case is the address, except where it carries at most a checksum (`0x…`) or
/// nothing at all (bech32 and CashAddr, written in one case); a prefix like `bitcoincash:` may be left out.
pub(super) fn same_address(a: &str, b: &str) -> bool {
    let bare = |text: &str| text.rsplit(':').next().unwrap_or_default().to_owned();
    let (a, b) = (bare(a), bare(b));
    let one_case = |text: &str| {
        let has = |is: fn(&u8) -> bool| text.as_bytes().iter().any(is);
        !(has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase))
    };
    let is_case_free = a.starts_with("0x") || (one_case(&a) && one_case(&b));
    a == b || (is_case_free && a.eq_ignore_ascii_case(&b))
}
