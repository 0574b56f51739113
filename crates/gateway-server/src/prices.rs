//! Prices: what each asset costs, the conversions that are issued, and the check of an invoice against its conversion.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use florin_money::{Amount, AmountError, AmountText, CryptoCode, Currency, Rounding};
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::api::request::{ApiError, ErrorCode};
use crate::coin::{Coin, Limits};

/// Where prices come from.
pub trait PriceSource: core::fmt::Debug + Send + Sync {
    /// US dollars for one unit, with the merchant's spread; `None`: the asset is not offered now.
    fn usd_price(&self, code: &CryptoCode) -> Option<Amount>;

    /// Units of a currency for one US dollar; `None`: not known now.
    fn per_usd(&self, currency: Currency) -> Option<Amount>;
}

#[derive(Debug)]
pub(crate) struct Prices {
    pub(crate) coins: Vec<Coin>,
    pub(crate) source: Arc<dyn PriceSource>,
    pub(crate) local_currency: Currency,
    /// Lifetime of a `conversion_id`. `Assumed:` the specification gives no number.
    pub(crate) lifetime: SignedDuration,
    /// Authenticates conversion ids.
    pub(crate) secret: SecretString,
}

/// The price of one unit of an asset.
///
/// Its id carries it, with a code that only the gateway can compute: an id is valid after a restart and in every process,
/// and GET /prices writes nothing.
#[derive(Clone, Debug)]
pub(crate) struct Conversion {
    pub(crate) coin: Coin,
    pub(crate) usd: Amount,
    pub(crate) local: Amount,
    pub(crate) local_currency: Currency,
    issued_at: Timestamp,
}

/// The three amounts of an invoice, as they were written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words of the specification")]
pub struct Terms {
    pub crypto: AmountText,
    pub usd: AmountText,
    pub local: AmountText,
}

impl Prices {
    /// A conversion of every asset that has a price now.
    pub(crate) fn listed(&self, now: Timestamp) -> Vec<Conversion> {
        let local_currency = self.local_currency;
        let Some(per_usd) = self.source.per_usd(local_currency) else {
            return Vec::new();
        };
        let conversion = |coin: &Coin| {
            let usd = self.source.usd_price(&coin.code)?;
            let local = usd.mul_div(per_usd, Amount::ONE, 8, Rounding::Down).ok()?;
            (!local.is_zero()).then(|| Conversion {
                coin: coin.clone(),
                usd: usd.with_min_decimals(Currency::USD.decimals()),
                local: local.with_min_decimals(local_currency.decimals()),
                local_currency,
                issued_at: now,
            })
        };
        self.coins.iter().filter_map(conversion).collect()
    }

    /// The coin of a code, with a price now or without one.
    pub(crate) fn coin(&self, text: &str) -> Result<&Coin, ApiError> {
        let found = self.coins.iter().find(|coin| coin.code.as_str() == text);
        found.ok_or_else(|| {
            let codes: Vec<_> = self.coins.iter().map(|coin| coin.code.as_str()).collect();
            let message = format!("crypto_code {text:?} is not one of {}", codes.join(", "));
            ApiError::new(ErrorCode::UnsupportedCryptoCode, message)
        })
    }

    pub(crate) fn id(&self, conversion: &Conversion) -> String {
        let price = format!(
            "{} {} {} {} {}",
            conversion.coin.code.as_str(),
            conversion.usd,
            conversion.local,
            conversion.local_currency,
            conversion.issued_at.as_second()
        );
        let code = self.mac(&price).finalize().into_bytes();
        let price = BASE64_URL_SAFE_NO_PAD.encode(price);
        format!("conv_{price}_{}", hex::encode(&code[..16]))
    }

    fn mac(&self, price: &str) -> Hmac<Sha256> {
        Hmac::<Sha256>::new_from_slice(self.secret.expose_secret().as_bytes())
            .expect("HMAC takes a key of any length")
            .chain_update(b"conversion ")
            .chain_update(price)
    }

    /// The conversion of this id for this asset.
    ///
    /// `Assumed:` a conversion is valid for one asset, for a time, and for any number of invoices.
    pub(crate) fn conversion(
        &self,
        id: &str,
        coin: &Coin,
        now: Timestamp,
    ) -> Result<Conversion, ApiError> {
        let invalid = |message| ApiError::new(ErrorCode::InvalidConversionId, message);
        let unknown = || invalid(format!("no price was issued as {id:?}"));
        let price = self.verified(id).ok_or_else(unknown)?;
        let words: Vec<&str> = price.split(' ').collect();
        let [code, usd, local, currency, second] = words[..] else {
            return Err(unknown());
        };
        if code != coin.code.as_str() {
            return Err(invalid(format!("{id} is a price of {code}")));
        }
        let second = second.parse().ok();
        let (Ok(usd), Ok(local), Ok(local_currency), Some(Ok(issued_at))) = (
            Amount::parse(usd),
            Amount::parse(local),
            Currency::parse(currency),
            second.map(Timestamp::from_second),
        ) else {
            return Err(unknown());
        };
        let age = now.duration_since(issued_at);
        if age.is_negative() || age >= self.lifetime {
            return Err(invalid(format!(
                "the price issued as {id} has expired: call GET /prices again"
            )));
        }
        Ok(Conversion {
            coin: coin.clone(),
            usd,
            local,
            local_currency,
            issued_at,
        })
    }

    fn verified(&self, id: &str) -> Option<String> {
        let (price, code) = id.strip_prefix("conv_")?.rsplit_once('_')?;
        let price = String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(price).ok()?).ok()?;
        let code = hex::decode(code).ok().filter(|code| code.len() == 16)?;
        let is_ours = self.mac(&price).verify_truncated_left(&code).is_ok();
        is_ours.then_some(price)
    }
}

impl Conversion {
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

/// A whole number as an amount.
pub fn whole(number: u32) -> Amount {
    Amount::ONE
        .checked_mul(number)
        .expect("32 bits fit an amount of twelve digits")
}

#[cfg(test)]
mod tests;
