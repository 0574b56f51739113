//! Assessment: decides whether an observation pays an order.
//!
//! An observation credits an order if and only if the gateway reports COMPLETED, it asked for exactly our price, and each
//! of the three received amounts covers that price, less the store's `underpayment_tolerance`. The one other way to a
//! credit is an operator's decision ([`crate::Aggregate::decide`]).
//!
//! In a COMPLETED response a missing amount, address, asset or currency needs review and is not credited. Before COMPLETED
//! an absent received amount means zero. An unknown status, an unreadable amount, and an asset, currency or requested
//! amount other than ours need review in every response; unreadable confirmations are ignored. No observation credits an
//! attempt whose address the gateway changed.

mod expected_amounts;

use florin_money::{Amount, CryptoCode, Rounding};

use self::expected_amounts::{
    ExpectedAmounts, amount, confirmations, expect_equal, non_empty, required, same_address,
};
use crate::{
    Amounts, Attempt, Destination, Invoice, Observation, Order, PaymentState, Progress,
    ReviewReason,
};

/// What one observation means for an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assessment {
    /// Nothing arrived, and there is time left.
    Waiting,
    /// Nothing arrived, and the time is over.
    Expired,
    /// A transaction without a confirmation.
    Detected(Progress),
    /// A transaction with too few confirmations.
    Confirming(Progress),
    /// The price is covered.
    Settled {
        /// What arrived.
        progress: Progress,
        /// What arrived beyond the price, in the asset; zero when exact.
        excess: Amount,
    },
    /// Completed with less than the price.
    Underpaid(Progress),
    /// The gateway reports it as failed.
    Failed(Progress),
    /// Cancelled at the gateway. A received amount is kept.
    Cancelled(Progress),
    /// The gateway names another address than the one shown.
    AddressChanged {
        /// The address it names.
        address: String,
    },
    /// The observation is not understood or contradicts itself. A person decides.
    NeedsReview(ReviewReason),
}

impl Assessment {
    /// The payment state that follows; `None` if the observation needs review.
    pub fn payment_state(&self) -> Option<PaymentState> {
        Some(match self {
            Self::Waiting => PaymentState::Waiting,
            Self::Expired => PaymentState::Expired,
            Self::Detected(_) => PaymentState::Detected,
            Self::Confirming(_) => PaymentState::Confirming,
            Self::Settled { .. } => PaymentState::Settled,
            Self::Underpaid(_) => PaymentState::Underpaid,
            Self::Failed(_) => PaymentState::Failed,
            Self::Cancelled(_) => PaymentState::Cancelled,
            Self::AddressChanged { .. } => PaymentState::AddressChanged,
            Self::NeedsReview(_) => return None,
        })
    }

    /// The payment so far.
    pub fn progress(&self) -> Option<&Progress> {
        match self {
            Self::Detected(progress)
            | Self::Confirming(progress)
            | Self::Settled { progress, .. }
            | Self::Underpaid(progress)
            | Self::Failed(progress)
            | Self::Cancelled(progress) => Some(progress),
            Self::Waiting | Self::Expired | Self::AddressChanged { .. } | Self::NeedsReview(_) => {
                None
            }
        }
    }
}

/// Assesses one observation of an attempt to pay an order.
pub fn assess(order: &Order, attempt: &Attempt, observation: &Observation) -> Assessment {
    let Some(invoice) = attempt.invoice() else {
        return Assessment::NeedsReview(ReviewReason::NoInvoice);
    };
    assess_invoice(order, attempt, invoice, observation).unwrap_or_else(Assessment::NeedsReview)
}

fn assess_invoice(
    order: &Order,
    attempt: &Attempt,
    invoice: &Invoice,
    observation: &Observation,
) -> Result<Assessment, ReviewReason> {
    let over = observation.observed_at >= invoice.expires_at;
    if !observation.is_known {
        return unknown_invoice(invoice, over);
    }
    expect_equal(
        "invoice_id",
        invoice.id.as_str(),
        required("invoice_id", observation.invoice_id.as_ref())?,
    )?;
    if let Destination::Address { address, .. } = &invoice.destination
        && let Some(other) =
            non_empty(observation.address.as_ref()).filter(|other| !same_address(other, address))
    {
        return Ok(Assessment::AddressChanged {
            address: other.to_owned(),
        });
    }
    let status = required("transaction_status", observation.status.as_ref())?;
    // The gateway named two addresses for this invoice: none of its later responses credits it.
    if invoice.payment_state == PaymentState::AddressChanged {
        return Err(ReviewReason::AddressChangedBefore {
            status: status.chars().take(40).collect(),
        });
    }
    let expected_amounts = ExpectedAmounts::of(order, attempt);
    if status == "COMPLETED" {
        return completed(order, &expected_amounts, observation);
    }
    expected_amounts.check(observation)?;
    let progress = progress(&expected_amounts, observation, Absent::MeansZero)?;
    Ok(match status {
        "CHECKING" if progress.has_payment() => Assessment::Detected(progress),
        "CHECKING" if over => Assessment::Expired,
        "CHECKING" => Assessment::Waiting,
        "PROCESSING" => Assessment::Confirming(progress),
        "FAILED" if over && !progress.has_payment() => Assessment::Expired,
        "FAILED" => Assessment::Failed(progress),
        "CANCELLED" => Assessment::Cancelled(progress),
        unknown => {
            return Err(ReviewReason::UnknownStatus(
                unknown.chars().take(40).collect(),
            ));
        }
    })
}

/// Source: payment-service.md, "Errors": `INVALID_INVOICE_ID` means that an invoice does not exist or has expired.
fn unknown_invoice(invoice: &Invoice, over: bool) -> Result<Assessment, ReviewReason> {
    let is_address_changed = invoice.payment_state == PaymentState::AddressChanged;
    if over && !is_address_changed && !invoice.progress.has_payment() {
        return Ok(Assessment::Expired);
    }
    Err(ReviewReason::UnknownInvoice)
}

/// The full-payment check: all three amounts must be present, equal to what we asked for, and
/// covered.
fn completed(
    order: &Order,
    expected_amounts: &ExpectedAmounts<'_>,
    observation: &Observation,
) -> Result<Assessment, ReviewReason> {
    required("wallet_address", observation.address.as_ref())?;
    required("transaction_crypto", observation.crypto_code.as_ref())?;
    required("local_currency_code", observation.local_currency.as_ref())?;
    required(
        "invoice_crypto_amount",
        observation.requested.crypto.as_ref(),
    )?;
    required("invoice_amount_in_usd", observation.requested.usd.as_ref())?;
    required(
        "invoice_amount_in_local_currency",
        observation.requested.local.as_ref(),
    )?;
    expected_amounts.check(observation)?;
    let requested = expected_amounts.amounts(observation)?;
    let progress = progress(expected_amounts, observation, Absent::NeedsReview)?;
    for (requested, received) in requested.zip(progress.received).each() {
        if received < min_accepted(order, requested)? {
            return Ok(Assessment::Underpaid(progress));
        }
    }
    let excess = progress
        .received
        .crypto
        .checked_sub(requested.crypto)
        .unwrap_or(Amount::ZERO);
    Ok(Assessment::Settled { progress, excess })
}

/// The least part of `requested` that counts as paid: all of it, minus the store's tolerance.
fn min_accepted(order: &Order, requested: Amount) -> Result<Amount, ReviewReason> {
    let (price, tolerance) = (order.terms.amount, order.terms.tolerance);
    if tolerance.is_zero() {
        return Ok(requested);
    }
    Ok(requested.mul_div(price.checked_sub(tolerance)?, price, 18, Rounding::Up)?)
}

#[derive(Clone, Copy)]
enum Absent {
    /// Nothing has arrived yet. `Assumed:` before a payment the gateway may leave these members out or empty.
    MeansZero,
    /// The observation needs review.
    NeedsReview,
}

fn progress(
    expected_amounts: &ExpectedAmounts<'_>,
    observation: &Observation,
    absent: Absent,
) -> Result<Progress, ReviewReason> {
    let read = |field: &'static str, text: &Option<String>| match (non_empty(text.as_ref()), absent)
    {
        (Some(text), _) => amount(field, text),
        (None, Absent::MeansZero) => Ok(Amount::ZERO),
        (None, Absent::NeedsReview) => Err(ReviewReason::Missing(field)),
    };
    let picked =
        non_empty(observation.crypto_code.as_ref()).filter(|_| expected_amounts.is_hosted());
    Ok(Progress {
        received: Amounts {
            crypto: read("received_crypto_amount", &observation.received.crypto)?,
            usd: read("received_amount_in_usd", &observation.received.usd)?,
            local: read(
                "received_amount_in_local_currency",
                &observation.received.local,
            )?,
        },
        confirmations: non_empty(observation.confirmations.as_ref()).and_then(confirmations),
        transaction_hash: non_empty(observation.transaction_hash.as_ref()).map(str::to_owned),
        paid_in: picked.and_then(|code| CryptoCode::parse(code).ok()),
    })
}

#[cfg(test)]
mod tests;
