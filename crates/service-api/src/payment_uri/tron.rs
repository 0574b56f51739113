//! `tron:ADDRESS?amount=10`, with `token` for a token's contract.
//!
//! `Assumed:` the amount is in TRX or in the token, with decimals. A genuine code with an amount a million times as
//! large would disprove it.

use money::Asset;

use super::{Parts, Payment, UriError, short};
use crate::Network;

/// Tether's contract on Tron. Source: tether.to, "Supported protocols".
const TETHER: &str = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";

pub(super) fn check(payment: &Payment<'_>, parts: &Parts<'_>) -> Result<(), UriError> {
    if parts.scheme != "tron" {
        return Err(parts.scheme_error());
    }
    payment.check_address(parts.path)?;
    for (key, value) in parts.parameters() {
        match key {
            "amount" => payment.check_amount(value)?,
            "token" | "contract" => {
                let tether = payment.network == Network::Test || value == TETHER;
                if payment.asset != Asset::USDTTRC20 || !tether {
                    return Err(UriError::Token {
                        found: short(value),
                    });
                }
            }
            _ => {}
        }
    }
    Ok(())
}
