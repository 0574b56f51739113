//! Expected amounts: what a response may ask for.
//!
//! A custom attempt fixes all three amounts and the asset. A hosted attempt fixes only the order's
//! price in its currency: the gateway computes the amounts in the asset and in dollars, and the
//! received amounts are compared with those. `Assumed:` a session's local currency is the one of
//! `client_preferred_fiat_currency`; another one needs review.

use florin_money::{Amount, CryptoCode, Currency};

use crate::{Amounts, Attempt, CustomTerms, InvoiceTerms, Observation, Order, ReviewReason};

const NAMES: Amounts<&str> = Amounts {
    crypto: "invoice_crypto_amount",
    usd: "invoice_amount_in_usd",
    local: "invoice_amount_in_local_currency",
};

pub(super) enum ExpectedAmounts<'a> {
    /// Three amounts in one asset, for an order.
    Custom(&'a CustomTerms, &'a Order),
    /// The order's price.
    Hosted(&'a Order),
}

impl<'a> ExpectedAmounts<'a> {
    pub(super) fn of(order: &'a Order, attempt: &'a Attempt) -> Self {
        match &attempt.terms.invoice {
            InvoiceTerms::Custom(terms) => Self::Custom(terms, order),
            InvoiceTerms::Hosted => Self::Hosted(order),
        }
    }

    /// Returns `true` if the customer picks the asset on the gateway's page.
    pub(super) fn is_hosted(&self) -> bool {
        matches!(self, Self::Hosted(_))
    }

    pub(super) fn check(&self, observation: &Observation) -> Result<(), ReviewReason> {
        if let Some(code) = non_empty(observation.crypto_code.as_ref()) {
            match self {
                Self::Custom(terms, _) => {
                    expect_equal("transaction_crypto", terms.crypto_code.as_str(), code)?;
                }
                Self::Hosted(_) => is_an_asset(code)?,
            }
        }
        if let Some(code) = non_empty(observation.local_currency.as_ref()) {
            expect_equal("local_currency_code", self.local_currency().as_str(), code)?;
        }
        for ((field, expected), found) in NAMES.zip(self.named()).zip(requested(observation)).each()
        {
            let (Some(expected), Some(text)) = (expected, found) else {
                continue;
            };
            if amount(field, text)? != expected {
                return Err(ReviewReason::Mismatch {
                    field,
                    expected: expected.to_string(),
                    found: text.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// The three amounts that must be covered; the response must contain all of them.
    pub(super) fn amounts(
        &self,
        observation: &Observation,
    ) -> Result<Amounts<Amount>, ReviewReason> {
        if let Self::Custom(terms, order) = self {
            check_price(order, terms)?;
            return Ok(terms.requested.amounts);
        }
        let read = |field: &'static str, text: Option<&str>| {
            let amount = amount(field, text.ok_or(ReviewReason::Missing(field))?)?;
            if amount.is_zero() {
                return Err(ReviewReason::ZeroRequestedAmount(field));
            }
            Ok(amount)
        };
        let found = requested(observation);
        Ok(Amounts {
            crypto: read(NAMES.crypto, found.crypto)?,
            usd: read(NAMES.usd, found.usd)?,
            local: read(NAMES.local, found.local)?,
        })
    }

    fn local_currency(&self) -> Currency {
        match self {
            Self::Custom(terms, _) => terms.requested.local_currency,
            Self::Hosted(order) => order.terms.currency,
        }
    }

    fn named(&self) -> Amounts<Option<Amount>> {
        match self {
            Self::Custom(terms, _) => terms.requested.amounts.map(Some),
            Self::Hosted(order) => {
                let price = order.terms.amount;
                Amounts {
                    crypto: None,
                    usd: (order.terms.currency == Currency::USD).then_some(price),
                    local: Some(price),
                }
            }
        }
    }
}

fn requested(observation: &Observation) -> Amounts<Option<&str>> {
    Amounts {
        crypto: non_empty(observation.requested.crypto.as_ref()),
        usd: non_empty(observation.requested.usd.as_ref()),
        local: non_empty(observation.requested.local.as_ref()),
    }
}

/// Checks that the attempt asks for the order's price in the order's currency.
fn check_price(order: &Order, terms: &CustomTerms) -> Result<(), ReviewReason> {
    let requested = &terms.requested;
    let in_local = requested.local_currency == order.terms.currency
        && requested.amounts.local == order.terms.amount;
    let in_usd =
        order.terms.currency == Currency::USD && requested.amounts.usd == order.terms.amount;
    if in_local || in_usd {
        Ok(())
    } else {
        Err(ReviewReason::PriceMismatch)
    }
}

pub(super) fn non_empty(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}

pub(super) fn required<'a>(
    field: &'static str,
    text: Option<&'a String>,
) -> Result<&'a str, ReviewReason> {
    non_empty(text).ok_or(ReviewReason::Missing(field))
}

pub(super) fn amount(field: &'static str, text: &str) -> Result<Amount, ReviewReason> {
    Amount::parse(text).map_err(|error| ReviewReason::Unreadable(field, error.input))
}

/// Checks the shape of the asset that the customer picked on the gateway's page.
pub(super) fn is_an_asset(code: &str) -> Result<(), ReviewReason> {
    match CryptoCode::parse(code) {
        Ok(_) => Ok(()),
        Err(error) => Err(ReviewReason::Unreadable("transaction_crypto", error.0)),
    }
}

/// Parses `<count>/<required>`. It is for display only, so anything else is `None`.
pub(super) fn confirmations(text: &str) -> Option<(u32, u32)> {
    let (count, required) = text.split_once('/')?;
    Some((count.parse().ok()?, required.parse().ok()?))
}

pub(super) fn expect_equal(
    field: &'static str,
    expected: &str,
    found: &str,
) -> Result<(), ReviewReason> {
    if expected == found {
        return Ok(());
    }
    let found = found.chars().take(80).collect();
    Err(ReviewReason::Mismatch {
        field,
        expected: expected.to_owned(),
        found,
    })
}

/// Returns `true` if two texts are the same address. Case matters, except where it carries at most
/// a checksum (`0x…`) or nothing (bech32 and CashAddr in one case); a prefix like `bitcoincash:` is
/// optional.
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
