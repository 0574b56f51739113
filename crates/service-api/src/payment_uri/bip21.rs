//! `bitcoin:ADDRESS?amount=0.5`, and the schemes made after it.
//!
//! Source: BIP-21, and BIP-321 which replaces it.

use super::{Form, Parts, Payment, Units, UriError, networks, unexpected};

/// Parameters that describe a payment. Source: BIP-21, "Query Keys"; Electrum's documentation for `time` and `exp`, when
/// a request was made and how long it lives.
///
/// Others are payment instructions (`r`, `lightning`, `lno`, `pay`, `pj`, `sp`, `bc`, `tb`), must be understood (`req-…`),
/// or are unknown.
const DESCRIPTIONS: [&str; 4] = ["label", "message", "time", "exp"];

pub(super) fn form(
    payment: &Payment<'_>,
    parts: Option<&Parts<'_>>,
    scheme: &'static str,
) -> Result<Form, UriError> {
    if let Some(parts) = parts {
        check(payment, parts, scheme)?;
    }
    Ok(Form::Bip21 { scheme })
}

/// A CashAddr with its prefix is a URI already.
pub(super) fn cashaddr_form(
    payment: &Payment<'_>,
    parts: Option<&Parts<'_>>,
) -> Result<Form, UriError> {
    let prefix = networks::cashaddr_prefix(payment.network);
    if let Some(parts) = parts {
        // The prefix stands there once.
        if parts.path.contains(':') {
            return Err(parts.address_error());
        }
        check(payment, parts, prefix)?;
    }
    Ok(Form::CashAddr { prefix })
}

fn check(payment: &Payment<'_>, parts: &Parts<'_>, scheme: &str) -> Result<(), UriError> {
    if parts.scheme != scheme {
        return Err(parts.scheme_error());
    }
    payment.check_address(parts.path)?;
    for (key, value) in parts.parameters() {
        match key {
            "amount" => payment.check_amount(value)?,
            _ if DESCRIPTIONS.contains(&key) => {}
            _ => return Err(unexpected(key)),
        }
    }
    Ok(())
}

/// The amount is in whole coins.
pub(super) fn write(scheme: &str, address: &str, units: Units) -> String {
    format!("{scheme}:{address}?amount={}", units.in_coins())
}

/// Prefix and payload are of one case. Source: the CashAddr specification, "Uppercase/lowercase".
pub(super) fn write_cashaddr(prefix: &str, address: &str, units: Units) -> String {
    let payload = address.rsplit(':').next().unwrap_or(address);
    write(prefix, &payload.to_ascii_lowercase(), units)
}
