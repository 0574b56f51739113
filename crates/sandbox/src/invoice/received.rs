//! What an invoice's payments are worth.

use florin_money::{Amount, AmountError, AmountText, Currency, Rounding};

use crate::conversion::Terms;

/// What arrived, counted from the mempool on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) crypto: Amount,
    pub(crate) usd: Amount,
    pub(crate) local: Amount,
}

impl Received {
    pub(crate) const NOTHING: Self = Self {
        crypto: Amount::ZERO,
        usd: Amount::ZERO,
        local: Amount::ZERO,
    };

    /// What an amount is worth at the invoice's own rate: in proportion, rounded down to the decimals in which the
    /// invoice is written (at least those of the currency), so that a payment one unit short is never said to be worth
    /// the whole. The whole amount is worth exactly what was asked, written as it was.
    pub(super) fn worth(
        crypto: Amount,
        terms: &Terms,
        local: Currency,
    ) -> Result<Self, AmountError> {
        let asked = Amount::from(&terms.crypto);
        if crypto == asked {
            return Ok(Self {
                crypto: asked,
                usd: Amount::from(&terms.usd),
                local: Amount::from(&terms.local),
            });
        }
        let share = |whole: &AmountText, currency: Currency| {
            let written = u32::try_from(whole.decimals()).expect("at most 18 decimals");
            let decimals = written.max(currency.decimals());
            let share = Amount::from(whole).mul_div(crypto, asked, decimals, Rounding::Down)?;
            Ok(share.with_min_decimals(decimals))
        };
        Ok(Self {
            crypto,
            usd: share(&terms.usd, Currency::USD)?,
            local: share(&terms.local, local)?,
        })
    }
}
