//! Members of an answer: there or not, an amount or not, the same or not.

use money::{Amount, CryptoCode};

use super::Hold;

pub(super) fn filled(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}

pub(super) fn present<'a>(field: &'static str, text: Option<&'a String>) -> Result<&'a str, Hold> {
    filled(text).ok_or(Hold::Missing(field))
}

pub(super) fn amount(field: &'static str, text: &str) -> Result<Amount, Hold> {
    Amount::parse(text).map_err(|error| Hold::Unreadable(field, error.input))
}

/// The asset that a customer picked on the service's page: any that has the shape of one.
pub(super) fn is_an_asset(code: &str) -> Result<(), Hold> {
    match CryptoCode::parse(code) {
        Ok(_) => Ok(()),
        Err(error) => Err(Hold::Unreadable("transaction_crypto", error.0)),
    }
}

/// Reads `<count>/<required>`; shown to people, and no ground for credit, so anything else is simply not shown.
pub(super) fn confirmations(text: &str) -> Option<(u32, u32)> {
    let (count, required) = text.split_once('/')?;
    Some((count.parse().ok()?, required.parse().ok()?))
}

pub(super) fn same(field: &'static str, expected: &str, found: &str) -> Result<(), Hold> {
    if expected == found {
        return Ok(());
    }
    let found = found.chars().take(80).collect();
    Err(Hold::Mismatch {
        field,
        expected: expected.to_owned(),
        found,
    })
}

/// Whether two texts are one address. Letter case is the address, except where it carries at most a checksum (`0x…`) or
/// nothing at all (bech32 and CashAddr, written in one case); a prefix like `bitcoincash:` may be left out.
pub(super) fn same_address(a: &str, b: &str) -> bool {
    let bare = |text: &str| text.rsplit(':').next().unwrap_or_default().to_owned();
    let (a, b) = (bare(a), bare(b));
    let one_case = |text: &str| {
        let has = |is: fn(&u8) -> bool| text.as_bytes().iter().any(is);
        !(has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase))
    };
    let is_case_free = a.starts_with("0x") || (one_case(&a) && one_case(&b));
    a == b || (is_case_free && a.eq_ignore_ascii_case(&b))
}
