//! `tron:ADDRESS?amount=10.0`, with `token` for a token's contract.
//!
//! Tron has no standard. Source: what is read, as by the `TronPaymentUriParser` of Tangem's wallet (2026), and written, as
//! by the USDT plugin of `BTCPay` Server (2026): a text without `token` asks for TRX, a whole number above 100,000 is read
//! in millionths, and an amount with a point as it stands.
//!
//! `Assumed:` the gateway's amount is in TRX or in the token, with decimals. A genuine text with an amount a million
//! times as large would disprove it.

use money::Asset;

use super::{Form, Parts, Payment, Units, UriError, networks, short, unexpected};
use crate::Network;

pub(super) fn form(payment: &Payment<'_>, parts: Option<&Parts<'_>>) -> Result<Form, UriError> {
    let named = match parts {
        Some(parts) => check(payment, parts)?,
        None => None,
    };
    let network = payment.network;
    Ok(match named {
        None if payment.asset == Asset::TRX && networks::may_ask_for_trx(network) => {
            Form::Tron { token: None }
        }
        // A wallet that reads no token would send TRX: only the gateway knows that its customers' wallets do.
        token @ Some(_) => Form::Tron { token },
        None => Form::Address,
    })
}

/// The token that the text names, when a link may name it.
fn check(payment: &Payment<'_>, parts: &Parts<'_>) -> Result<Option<&'static str>, UriError> {
    if parts.scheme != "tron" {
        return Err(parts.scheme_error());
    }
    payment.check_address(parts.path)?;
    let token = networks::trc20_token(payment.network);
    let mut named = None;
    for (key, value) in parts.parameters() {
        match key {
            "amount" => payment.check_amount(value)?,
            "token" if payment.asset == Asset::USDTTRC20 && value == token => named = Some(token),
            // A gateway may have deployed a token of its own on a test network.
            "token" if payment.asset == Asset::USDTTRC20 && payment.network == Network::Test => {}
            "token" => {
                return Err(UriError::Token {
                    found: short(value),
                });
            }
            _ => return Err(unexpected(key)),
        }
    }
    Ok(named)
}

/// The amount is in TRX or in the token, always with a point.
pub(super) fn write(token: Option<&str>, address: &str, units: Units) -> String {
    let amount = units.in_coins_with_point();
    match token {
        Some(token) => format!("tron:{address}?token={token}&amount={amount}"),
        None => format!("tron:{address}?amount={amount}"),
    }
}
