//! POST /sandbox/invoices/{id}/pay: somebody pays; exactly or not, in time or not, at once or in parts.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State as Extract};
use florin_money::{Amount, AmountError, Rounding};
use jiff::Timestamp;
use serde::Deserialize;

use super::invoices::{InvoiceView, change, refused, unknown};
use super::{ControlError, read};
use crate::conversion::whole;
use crate::invoice::{Invoice, Refused, Standing};
use crate::journal::Event;
use crate::state::{Sandbox, State};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pay {
    /// `exact`, `half`, `double`, `rest`, or a decimal in the asset.
    amount: String,
    /// Blocks that have it already.
    #[serde(default)]
    confirmations: u32,
    #[serde(default)]
    fee: Fee,
    /// In how many payments, as equal as the asset's decimals allow.
    #[serde(default = "one")]
    parts: u32,
    /// Lets the invoice run out first.
    #[serde(default)]
    late: bool,
    /// Pays in another asset than the invoice's: on its way to the right address, and never seen.
    crypto_code: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Fee {
    #[default]
    Usual,
    /// No block takes it.
    Low,
}

fn one() -> u32 {
    1
}

const MAX_PARTS: u32 = 20;

pub(super) async fn pay(
    Extract(sandbox): Extract<Arc<Sandbox>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Json<InvoiceView>, ControlError> {
    let pay: Pay = read(&body)?;
    let standing = pay.standing()?;
    if !(1..=MAX_PARTS).contains(&pay.parts) {
        let sentence = format!("The member parts is one from 1 to {MAX_PARTS}.");
        return Err(ControlError::BadRequest(sentence));
    }
    change(&sandbox, &id, |state, id, now| {
        let invoice = state.invoices.find(id).ok_or_else(|| unknown(id))?;
        let own_code = invoice.coin.code.to_string();
        let amounts = parts(meant(&pay.amount, invoice)?, pay.parts, invoice)?;
        if pay.late {
            let invoice = state.invoices.find_mut(id).ok_or_else(|| unknown(id))?;
            invoice.expire(now).map_err(refused)?;
        }
        if let Some(code) = pay.crypto_code.filter(|code| *code != own_code) {
            return pay_unseen(state, id, code, now);
        }
        for amount in amounts {
            let paid = state.pay(id, amount, standing, now);
            paid.ok_or_else(|| unknown(id))?.map_err(refused)?;
        }
        Ok(())
    })
}

impl Pay {
    fn standing(&self) -> Result<Standing, ControlError> {
        match (self.fee, self.confirmations) {
            (Fee::Usual, 0) => Ok(Standing::Waiting),
            (Fee::Usual, confirmations) => Ok(Standing::InBlock(confirmations)),
            (Fee::Low, 0) => Ok(Standing::Stuck),
            (Fee::Low, _) => Err(ControlError::BadRequest(
                "A payment with a low fee is in no block: leave confirmations out.".to_owned(),
            )),
        }
    }
}

/// A payment that the service does not look for.
fn pay_unseen(
    state: &mut State,
    id: &str,
    crypto_code: String,
    now: Timestamp,
) -> Result<(), ControlError> {
    if !state
        .prices
        .coins()
        .any(|coin| coin.code.as_str() == crypto_code)
    {
        let codes = state.prices.codes();
        let sentence = format!("The crypto_code {crypto_code:?} is not one of {codes}.");
        return Err(ControlError::BadRequest(sentence));
    }
    let invoice = state.invoices.find_mut(id).ok_or_else(|| unknown(id))?;
    invoice.unseen_payments = invoice.unseen_payments.saturating_add(1);
    let unseen = Event::UnseenPayment {
        invoice_id: id.to_owned(),
        crypto_code,
    };
    state.journal.add(now, unseen);
    Ok(())
}

/// The amount behind a word, or the amount that is written.
fn meant(word: &str, invoice: &Invoice) -> Result<Amount, ControlError> {
    let asked = Amount::from(&invoice.terms.crypto);
    let amount: Result<Amount, AmountError> = match word {
        "exact" => Ok(asked),
        "rest" => Ok(invoice.remaining()),
        "double" => asked.checked_mul(2),
        "half" => asked.mul_div(Amount::ONE, whole(2), invoice.coin.decimals, Rounding::Down),
        written => {
            return Amount::parse(written).map_err(|error| {
                ControlError::BadRequest(format!(
                    "Write \"exact\", \"half\", \"double\", \"rest\" or an amount: {error}."
                ))
            });
        }
    };
    amount.map_err(|error| refused(Refused::Incalculable(error)))
}

/// The amount in so many parts; the last one takes what does not divide.
fn parts(amount: Amount, count: u32, invoice: &Invoice) -> Result<Vec<Amount>, ControlError> {
    let calculated = || -> Result<Vec<Amount>, AmountError> {
        if count == 1 {
            return Ok(vec![amount]);
        }
        let decimals = invoice.coin.decimals;
        let part = amount.mul_div(Amount::ONE, whole(count), decimals, Rounding::Down)?;
        let last = amount.checked_sub(part.checked_mul(count - 1)?)?;
        let others = core::iter::repeat_n(part, usize::try_from(count - 1).unwrap_or(0));
        Ok(others.chain([last]).collect())
    };
    calculated().map_err(|error| refused(Refused::Incalculable(error)))
}
