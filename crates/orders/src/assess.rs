//! The verdict: the one place where it is decided whether an order is paid.
//!
//! Credit ⇔ the service says COMPLETED, it asked for exactly our price, and what it received covers that price in all
//! three figures. Anything missing, unreadable or unknown is held: it is raised to a person and credits nothing.

mod demand;

use florin_money::{Amount, AmountError, CryptoCode, Rounding};

use self::demand::{Demand, amount, confirmations, filled, present, same, same_address};
use crate::{Attempt, Figures, Invoice, Observation, Order, Place, Progress, Standing};

/// What one observation means for an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing arrived, and there is time left.
    Waiting,
    /// Nothing arrived, and the time is over.
    Expired,
    /// A transaction without a confirmation.
    Seen(Progress),
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
    Short(Progress),
    /// The service calls it failed.
    Failed(Progress),
    /// Cancelled at the service; by its own word before anything could arrive, but what did is kept.
    Cancelled(Progress),
    /// The service names another address than the one that was shown.
    Frozen {
        /// The address it names.
        address: String,
    },
    /// No conclusion can be drawn.
    Held(Hold),
}

/// Why no conclusion can be drawn. A person should look.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Hold {
    /// The attempt has no invoice to speak of.
    #[error("the attempt holds no invoice")]
    NoInvoice,
    /// The service says that it has no such invoice, before its time is over or although money was seen.
    #[error("the service says that it does not know the invoice")]
    Forgotten,
    /// A member that is needed is absent or empty.
    #[error("the service's answer lacks {0}")]
    Missing(&'static str),
    /// A member that is not what it should be: an amount, an asset.
    #[error("{0} cannot be read: {1:?}")]
    Unreadable(&'static str, String),
    /// A status that the specification does not list.
    #[error("unknown transaction_status {0:?}")]
    UnknownStatus(String),
    /// The answer is about something else than what was asked for.
    #[error("{field} is {found:?}, and {expected:?} was asked for")]
    Mismatch {
        /// Which member.
        field: &'static str,
        /// What we asked for.
        expected: String,
        /// What the service says.
        found: String,
    },
    /// The attempt does not ask for the order's price.
    #[error("the attempt does not ask for the order's price")]
    OtherPrice,
    /// The answer asks for nothing at all, which anything would cover.
    #[error("the answer asks for nothing: {0} is zero")]
    AsksNothing(&'static str),
    /// A sum beyond what an amount can hold.
    #[error("the figures are out of range: {0}")]
    OutOfRange(#[from] AmountError),
}

impl Verdict {
    /// Where it leaves the attempt; `None` when it says nothing.
    pub fn standing(&self) -> Option<Standing> {
        Some(match self {
            Self::Waiting => Standing::Waiting,
            Self::Expired => Standing::Expired,
            Self::Seen(_) => Standing::Seen,
            Self::Confirming(_) => Standing::Confirming,
            Self::Settled { .. } => Standing::Settled,
            Self::Short(_) => Standing::Short,
            Self::Failed(_) => Standing::Failed,
            Self::Cancelled(_) => Standing::Cancelled,
            Self::Frozen { .. } => Standing::Frozen,
            Self::Held(_) => return None,
        })
    }

    /// What has arrived by it.
    pub fn progress(&self) -> Option<&Progress> {
        match self {
            Self::Seen(progress)
            | Self::Confirming(progress)
            | Self::Settled { progress, .. }
            | Self::Short(progress)
            | Self::Failed(progress)
            | Self::Cancelled(progress) => Some(progress),
            Self::Waiting | Self::Expired | Self::Frozen { .. } | Self::Held(_) => None,
        }
    }
}

/// Judges one observation of an attempt at paying an order.
pub fn judge(order: &Order, attempt: &Attempt, observation: &Observation) -> Verdict {
    let Some(invoice) = attempt.invoice() else {
        return Verdict::Held(Hold::NoInvoice);
    };
    conclude(order, attempt, invoice, observation).unwrap_or_else(Verdict::Held)
}

fn conclude(
    order: &Order,
    attempt: &Attempt,
    invoice: &Invoice,
    seen: &Observation,
) -> Result<Verdict, Hold> {
    let over = seen.observed_at >= invoice.expires_at;
    if !seen.is_known {
        return forgotten(invoice, over);
    }
    same(
        "invoice_id",
        invoice.id.as_str(),
        present("invoice_id", seen.invoice_id.as_ref())?,
    )?;
    if let Place::Address { address, .. } = &invoice.place
        && let Some(other) =
            filled(seen.address.as_ref()).filter(|other| !same_address(other, address))
    {
        return Ok(Verdict::Frozen {
            address: other.to_owned(),
        });
    }
    let status = present("transaction_status", seen.status.as_ref())?;
    let demand = Demand::of(order, attempt);
    if status == "COMPLETED" {
        return completed(order, &demand, seen);
    }
    demand.is_all_that_is_asked(seen)?;
    let progress = progress(&demand, seen, Absent::MeansZero)?;
    Ok(match status {
        "CHECKING" if progress.is_something() => Verdict::Seen(progress),
        "CHECKING" if over => Verdict::Expired,
        "CHECKING" => Verdict::Waiting,
        "PROCESSING" => Verdict::Confirming(progress),
        "FAILED" if over && !progress.is_something() => Verdict::Expired,
        "FAILED" => Verdict::Failed(progress),
        "CANCELLED" => Verdict::Cancelled(progress),
        unknown => return Err(Hold::UnknownStatus(unknown.chars().take(40).collect())),
    })
}

/// Source: payment-service.md, "Errors": `INVALID_INVOICE_ID` means that an invoice does not exist or has expired.
fn forgotten(invoice: &Invoice, over: bool) -> Result<Verdict, Hold> {
    if over && !invoice.progress.is_something() {
        return Ok(Verdict::Expired);
    }
    Err(Hold::Forgotten)
}

/// The full-payment check: every figure must be there, asked as we asked, and covered.
fn completed(order: &Order, demand: &Demand<'_>, seen: &Observation) -> Result<Verdict, Hold> {
    present("wallet_address", seen.address.as_ref())?;
    present("transaction_crypto", seen.crypto_code.as_ref())?;
    present("local_currency_code", seen.local_currency.as_ref())?;
    present("invoice_crypto_amount", seen.asked.crypto.as_ref())?;
    present("invoice_amount_in_usd", seen.asked.usd.as_ref())?;
    present(
        "invoice_amount_in_local_currency",
        seen.asked.local.as_ref(),
    )?;
    demand.is_all_that_is_asked(seen)?;
    let asked = demand.figures(seen)?;
    let progress = progress(demand, seen, Absent::IsHeld)?;
    for (asked, received) in asked.zip(progress.received).each() {
        if received < enough(order, asked)? {
            return Ok(Verdict::Short(progress));
        }
    }
    let excess = progress
        .received
        .crypto
        .minus(asked.crypto)
        .unwrap_or(Amount::ZERO);
    Ok(Verdict::Settled { progress, excess })
}

/// What must arrive of `asked` for the order to count as paid: all of it, but for the store's tolerance.
fn enough(order: &Order, asked: Amount) -> Result<Amount, Hold> {
    let (price, tolerance) = (order.terms.amount, order.terms.tolerance);
    if tolerance.is_zero() {
        return Ok(asked);
    }
    Ok(asked.times_ratio(price.minus(tolerance)?, price, 18, Rounding::Up)?)
}

/// What an absent received amount means.
#[derive(Clone, Copy)]
enum Absent {
    /// Nothing has arrived yet. `Assumed:` before a payment the service may leave these members out or empty.
    MeansZero,
    /// No conclusion.
    IsHeld,
}

fn progress(demand: &Demand<'_>, seen: &Observation, absent: Absent) -> Result<Progress, Hold> {
    let read = |field: &'static str, text: &Option<String>| match (filled(text.as_ref()), absent) {
        (Some(text), _) => amount(field, text),
        (None, Absent::MeansZero) => Ok(Amount::ZERO),
        (None, Absent::IsHeld) => Err(Hold::Missing(field)),
    };
    let picked = filled(seen.crypto_code.as_ref()).filter(|_| demand.leaves_the_asset_open());
    Ok(Progress {
        received: Figures {
            crypto: read("received_crypto_amount", &seen.received.crypto)?,
            usd: read("received_amount_in_usd", &seen.received.usd)?,
            local: read("received_amount_in_local_currency", &seen.received.local)?,
        },
        confirmations: filled(seen.confirmations.as_ref()).and_then(confirmations),
        transaction_hash: filled(seen.transaction_hash.as_ref()).map(str::to_owned),
        paid_in: picked.and_then(|code| CryptoCode::parse(code).ok()),
    })
}

#[cfg(test)]
mod tests;
