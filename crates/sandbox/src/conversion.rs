//! A price that was promised for a while, and whether the amounts of an invoice keep to it.

use florin_money::{Amount, AmountError, AmountText, Currency, Rounding};
use jiff::{SignedDuration, Timestamp};

use crate::coin::Coin;

/// What one unit of an asset costs under a `conversion_id`.
#[derive(Clone, Debug)]
pub(crate) struct Conversion {
    pub(crate) coin: Coin,
    pub(crate) usd: Amount,
    pub(crate) local: Amount,
    pub(crate) local_currency: Currency,
    pub(crate) issued_at: Timestamp,
    /// Counted from 1 over all that were issued.
    pub(crate) number: u64,
}

/// The three amounts of an invoice, as the merchant wrote them.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) crypto: AmountText,
    pub(crate) usd: AmountText,
    pub(crate) local: AmountText,
}

/// Why amounts are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// Outside the asset's limits.
    OutOfRange(String),
    /// They contradict each other, or the asset.
    Wrong(String),
}

impl Conversion {
    /// Whether the promise is over.
    pub(crate) fn has_lapsed(&self, now: Timestamp, lifetime_seconds: u32) -> bool {
        let lifetime = SignedDuration::from_secs(i64::from(lifetime_seconds));
        now.duration_since(self.issued_at) >= lifetime
    }

    /// Checks that the three amounts fit each other at these rates, and the limits.
    ///
    /// `Assumed:` the amount in the local currency is the price; dollars may differ from it by a cent and a unit of
    /// the local currency; the amount in crypto may fall short by less than one unit of its last usual decimal, and
    /// exceed by 1 %. Limits come first: they are what a shop shows to its customer. The specification does not say
    /// what the service checks; a service that takes any three numbers disproves it.
    pub(crate) fn check(&self, terms: &Terms) -> Result<(), Misfit> {
        let crypto = Amount::from(&terms.crypto);
        let (usd, local) = (Amount::from(&terms.usd), Amount::from(&terms.local));
        if crypto.decimals() > self.coin.decimals {
            return wrong(format!(
                "amount_in_crypto {crypto} has more decimals than {} has ({})",
                self.coin.code, self.coin.decimals
            ));
        }
        if local.is_zero() || crypto.is_zero() {
            return wrong("an invoice over nothing cannot be paid".to_owned());
        }
        self.check_limits(crypto)?;
        match self.contradiction(crypto, usd, local) {
            Ok(None) => Ok(()),
            Ok(Some(text)) => wrong(text),
            Err(error) => wrong(format!("the amounts cannot be calculated with: {error}")),
        }
    }

    fn check_limits(&self, crypto: Amount) -> Result<(), Misfit> {
        let code = &self.coin.code;
        let limits = self.coin.limits;
        if let Some(min) = limits.min.filter(|min| crypto < *min) {
            let text = format!("amount_in_crypto {crypto} is below the minimum of {min} {code}");
            return Err(Misfit::OutOfRange(text));
        }
        if let Some(max) = limits.max.filter(|max| crypto > *max) {
            let text = format!("amount_in_crypto {crypto} is above the maximum of {max} {code}");
            return Err(Misfit::OutOfRange(text));
        }
        Ok(())
    }

    fn contradiction(
        &self,
        crypto: Amount,
        usd: Amount,
        local: Amount,
    ) -> Result<Option<String>, AmountError> {
        let decimals = self.coin.quote_decimals;
        let least = local.mul_div(Amount::ONE, self.local, decimals, Rounding::Down)?;
        if crypto < least {
            return Ok(Some(format!(
                "amount_in_crypto {crypto} is less than amount_in_local_currency {local} {} asks for at this \
                 conversion_id: {least} {}",
                self.local_currency, self.coin.code
            )));
        }
        let due = local.mul_div(Amount::ONE, self.local, decimals, Rounding::Up)?;
        let most = due.mul_div(whole(101), whole(100), decimals, Rounding::Up)?;
        if crypto > most {
            return Ok(Some(format!(
                "amount_in_crypto {crypto} is more than amount_in_local_currency {local} {} asks for at this \
                 conversion_id: {due} {}",
                self.local_currency, self.coin.code
            )));
        }
        let worth = local.mul_div(self.usd, self.local, 6, Rounding::Down)?;
        let distance = worth.checked_sub(usd).or_else(|_| usd.checked_sub(worth))?;
        if distance > self.tolerance_in_usd()? {
            return Ok(Some(format!(
                "amount_in_usd {usd} and amount_in_local_currency {local} {} are not the same money: \
                 the latter is {worth} USD",
                self.local_currency
            )));
        }
        Ok(None)
    }

    /// A cent, and what one minor unit of the local currency is worth.
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

fn wrong(text: String) -> Result<(), Misfit> {
    Err(Misfit::Wrong(text))
}

/// A whole number as an amount.
pub(crate) fn whole(number: u32) -> Amount {
    Amount::ONE
        .checked_mul(number)
        .expect("32 bits fit an amount of twelve digits")
}

#[cfg(test)]
mod tests;
