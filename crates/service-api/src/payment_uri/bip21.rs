//! `bitcoin:ADDRESS?amount=0.5`, and the schemes made after it.
//!
//! Source: BIP-21, and BIP-321 which replaces it; BIP-72 for `r`.

use super::{Parts, Payment, UriError, short};

/// Parameters that are payment instructions of their own: another way to pay, to somebody that nobody has checked.
const INSTRUCTIONS: [&str; 7] = ["r", "lightning", "lno", "pay", "sp", "bc", "tb"];

pub(super) fn check(
    payment: &Payment<'_>,
    parts: &Parts<'_>,
    schemes: &[&str],
) -> Result<(), UriError> {
    if !schemes.contains(&parts.scheme.as_str()) {
        return Err(parts.scheme_error());
    }
    payment.check_address(parts.path)?;
    for (key, value) in parts.parameters() {
        if key == "amount" {
            payment.check_amount(value)?;
        } else if key.starts_with("req-") || INSTRUCTIONS.contains(&key) {
            return Err(UriError::Detour { key: short(key) });
        }
    }
    Ok(())
}
