//! Prices: what each asset costs, the conversions that were issued, and the check of an invoice against its conversion.

use florin_money::{Amount, AmountError, AmountText, CryptoCode, Currency, Rounding};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::api::request::{ApiError, ErrorCode};
use crate::asset::{Coin, Limits, offered};
use crate::settings::{Seed, Settings};
use crate::store::BoundedStore;

/// Lifetime of a `conversion_id` of GET /prices. `Assumed:` the specification gives no number.
const CONVERSION_LIFETIME: SignedDuration = SignedDuration::from_secs(120);

#[derive(Debug)]
pub(crate) struct Prices {
    seed: Seed,
    listed: Vec<Listed>,
    local_currency: Currency,
    local_per_usd: Amount,
    /// Expired ones included, so that an error can name "expired" instead of "unknown".
    conversions: BoundedStore<Conversion>,
}

#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) coin: Coin,
    pub(crate) usd: Amount,
    local: Amount,
}

/// The price of one unit of an asset under a `conversion_id`.
#[derive(Clone, Debug)]
pub(crate) struct Conversion {
    pub(crate) id: String,
    pub(crate) coin: Coin,
    pub(crate) usd: Amount,
    pub(crate) local: Amount,
    pub(crate) local_currency: Currency,
    issued_at: Timestamp,
}

/// The three amounts of an invoice, as they were written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Terms {
    pub(crate) crypto: AmountText,
    pub(crate) usd: AmountText,
    pub(crate) local: AmountText,
}

impl Prices {
    /// The table's prices, each moved by up to one per cent by the seed.
    ///
    /// # Errors
    /// The local currency is worth so little that a price has no exact value.
    pub(crate) fn new(settings: &Settings, seed: Seed) -> Result<Self, AmountError> {
        let mut prices = Self {
            seed,
            listed: Vec::new(),
            local_currency: settings.local_currency.0,
            local_per_usd: settings.local_currency.1,
            conversions: BoundedStore::default(),
        };
        for coin in offered(settings.unknown_asset) {
            let usd = if coin.symbol == "USDT" {
                coin.usd
            } else {
                let factor = whole(9_900 + seed.below(coin.code.as_str(), 0, 201));
                coin.usd.mul_div(factor, whole(10_000), 6, Rounding::Down)?
            };
            let local = prices.in_local(usd)?;
            prices.listed.push(Listed { coin, usd, local });
        }
        Ok(prices)
    }

    fn in_local(&self, usd: Amount) -> Result<Amount, AmountError> {
        usd.mul_div(self.local_per_usd, Amount::ONE, 8, Rounding::Down)
    }

    pub(crate) fn listed(&self) -> &[Listed] {
        &self.listed
    }

    /// The code of an asset on offer.
    pub(crate) fn code(&self, text: &str) -> Result<CryptoCode, ApiError> {
        let codes = self.listed.iter().map(|listed| &listed.coin.code);
        let found = codes.clone().find(|code| code.as_str() == text);
        found.cloned().ok_or_else(|| {
            let codes: Vec<_> = codes.map(CryptoCode::as_str).collect();
            let message = format!("crypto_code {text:?} is not one of {}", codes.join(", "));
            ApiError::new(ErrorCode::UnsupportedCryptoCode, message)
        })
    }

    pub(crate) fn issue(&mut self, now: Timestamp) -> Vec<Conversion> {
        let listed = self.listed.clone().into_iter();
        listed.map(|listed| self.issue_one(listed, now)).collect()
    }

    fn issue_one(&mut self, listed: Listed, now: Timestamp) -> Conversion {
        let number = self.conversions.next_number();
        let id = format!("conv_{}", self.seed.id("conversion", number));
        let conversion = Conversion {
            id: id.clone(),
            usd: listed.usd.with_min_decimals(Currency::USD.decimals()),
            local: listed
                .local
                .with_min_decimals(self.local_currency.decimals()),
            coin: listed.coin,
            local_currency: self.local_currency,
            issued_at: now,
        };
        self.conversions.insert(id, conversion, now).clone()
    }

    /// The conversion of this id for this asset.
    ///
    /// `Assumed:` a conversion is valid for one asset, for a time, and for any number of invoices.
    pub(crate) fn conversion(
        &self,
        id: &str,
        code: &CryptoCode,
        now: Timestamp,
    ) -> Result<&Conversion, ApiError> {
        let invalid = |message| ApiError::new(ErrorCode::InvalidConversionId, message);
        let conversion = self.conversions.get(id);
        let conversion =
            conversion.ok_or_else(|| invalid(format!("no price was issued as {id:?}")))?;
        let other = &conversion.coin.code;
        if other != code {
            return Err(invalid(format!("{id} is a price of {other}")));
        }
        if now.duration_since(conversion.issued_at) >= CONVERSION_LIFETIME {
            return Err(invalid(format!(
                "the price issued as {id} has expired: call GET /prices again"
            )));
        }
        Ok(conversion)
    }

    /// Sets the price of one unit, from the next conversion on. The code must be on offer.
    ///
    /// # Errors
    /// The price has no exact value in the local currency.
    pub(crate) fn set(&mut self, code: &CryptoCode, usd: Amount) -> Result<(), AmountError> {
        let local = self.in_local(usd)?;
        for listed in self.listed.iter_mut().filter(|it| it.coin.code == *code) {
            (listed.usd, listed.local) = (usd, local);
        }
        Ok(())
    }
}

impl Listed {
    /// The price of an amount now, without a conversion. The amount in crypto is rounded up to the decimals that a customer
    /// is asked for, dollars up to a cent.
    pub(crate) fn quote(
        &self,
        local: &AmountText,
        per_usd: Amount,
        currency: Currency,
    ) -> Result<Terms, AmountError> {
        let price = self.usd.mul_div(per_usd, Amount::ONE, 8, Rounding::Down)?;
        let asked = Amount::from(local);
        let decimals = self.coin.quote_decimals;
        let crypto = asked.mul_div(Amount::ONE, price, decimals, Rounding::Up)?;
        let usd = asked.mul_div(Amount::ONE, per_usd, 2, Rounding::Up)?;
        Ok(Terms {
            crypto: crypto.with_min_decimals(2).to_text(),
            usd: usd.with_min_decimals(Currency::USD.decimals()).to_text(),
            local: asked.with_min_decimals(currency.decimals()).to_text(),
        })
    }

    pub(crate) fn accepts(&self, terms: &Terms) -> bool {
        self.coin.limits.contain(Amount::from(&terms.crypto))
    }
}

impl Conversion {
    /// Checks that the three amounts fit each other at these rates, and the limits.
    ///
    /// `Assumed:` the amount in the local currency is the price; dollars may differ from it by a cent and a unit of
    /// the local currency; the amount in crypto may fall short by less than one unit of its last usual decimal, and
    /// exceed by 1 %. Limits come first: they are what a shop shows to its customer. The specification does not define
    /// what the gateway checks; a gateway that accepts any three numbers disproves it.
    pub(crate) fn check(&self, terms: &Terms) -> Result<(), ApiError> {
        let crypto = Amount::from(&terms.crypto);
        let (usd, local) = (Amount::from(&terms.usd), Amount::from(&terms.local));
        let mismatch = |text| Err(ApiError::invalid(text));
        let out_of_range = |text| Err(ApiError::new(ErrorCode::AmountOutOfRange, text));
        let code = &self.coin.code;
        if crypto.decimals() > self.coin.decimals {
            return mismatch(format!(
                "amount_in_crypto {crypto} has more decimals than {code} has ({})",
                self.coin.decimals
            ));
        }
        if local.is_zero() || crypto.is_zero() {
            return mismatch("an invoice over nothing cannot be paid".to_owned());
        }
        let Limits { min, max } = self.coin.limits;
        if let Some(min) = min.filter(|min| crypto < *min) {
            let text = format!("amount_in_crypto {crypto} is below the minimum of {min} {code}");
            return out_of_range(text);
        }
        if let Some(max) = max.filter(|max| crypto > *max) {
            let text = format!("amount_in_crypto {crypto} is above the maximum of {max} {code}");
            return out_of_range(text);
        }
        match self.contradiction(crypto, usd, local) {
            Ok(None) => Ok(()),
            Ok(Some(text)) => mismatch(text),
            Err(error) => mismatch(format!("the amounts cannot be calculated with: {error}")),
        }
    }

    fn contradiction(
        &self,
        crypto: Amount,
        usd: Amount,
        local: Amount,
    ) -> Result<Option<String>, AmountError> {
        let (decimals, code) = (self.coin.quote_decimals, &self.coin.code);
        let price = format!("amount_in_local_currency {local} {}", self.local_currency);
        let least = local.mul_div(Amount::ONE, self.local, decimals, Rounding::Down)?;
        if crypto < least {
            return Ok(Some(format!(
                "amount_in_crypto {crypto} is less than {price} asks for at this conversion_id: {least} {code}"
            )));
        }
        let due = local.mul_div(Amount::ONE, self.local, decimals, Rounding::Up)?;
        let most = due.mul_div(whole(101), whole(100), decimals, Rounding::Up)?;
        if crypto > most {
            return Ok(Some(format!(
                "amount_in_crypto {crypto} is more than {price} asks for at this conversion_id: {due} {code}"
            )));
        }
        let worth = local.mul_div(self.usd, self.local, 6, Rounding::Down)?;
        let distance = worth.checked_sub(usd).or_else(|_| usd.checked_sub(worth))?;
        if distance > self.tolerance_in_usd()? {
            return Ok(Some(format!(
                "amount_in_usd {usd} and {price} are not the same money: the latter is {worth} USD"
            )));
        }
        Ok(None)
    }

    /// A cent, plus the worth of one minor unit of the local currency.
    fn tolerance_in_usd(&self) -> Result<Amount, AmountError> {
        let mut units_per_local = Amount::ONE;
        for _ in 0..self.local_currency.decimals() {
            units_per_local = units_per_local.checked_mul(10)?;
        }
        let one_local = Amount::ONE.mul_div(self.usd, self.local, 6, Rounding::Up)?;
        let one_unit = one_local.mul_div(Amount::ONE, units_per_local, 6, Rounding::Up)?;
        let cent = Amount::ONE.mul_div(Amount::ONE, whole(100), 2, Rounding::Up)?;
        cent.checked_add(one_unit)
    }
}

pub(crate) fn whole(number: u32) -> Amount {
    Amount::ONE
        .checked_mul(number)
        .expect("32 bits fit an amount of twelve digits")
}

#[cfg(test)]
mod tests;
