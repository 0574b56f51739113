//! Texts that payment URIs are made of: their parts, and amounts in an asset's smallest unit.

use std::collections::BTreeSet;

use florin_money::Amount;

use crate::UriError;
use crate::error::Part;

/// A payment URI in its parts: `scheme:path?key=value&…`. Keys and values are decoded, as a wallet
/// decodes them before it reads an amount. The path is not: an address needs no encoding, and an
/// encoded one is another one.
pub(super) struct Parts<'a> {
    /// In lower case.
    pub(super) scheme: String,
    pub(super) path: &'a str,
    parameters: Vec<(String, String)>,
}

impl<'a> Parts<'a> {
    pub(super) fn split(text: &'a str) -> Result<Self, UriError> {
        let (scheme, rest) = text
            .split_once(':')
            .ok_or_else(|| UriError::new(Part::Scheme, text))?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut seen = BTreeSet::new();
        let mut parameters = Vec::new();
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let key = decoded(key)?.to_ascii_lowercase();
            // Wallets differ in which of two they believe. Source: BIP-321, "Invalid URIs".
            if !seen.insert(key.clone()) {
                return Err(UriError::new(Part::Twice, &key));
            }
            parameters.push((key, decoded(value)?));
        }
        Ok(Self {
            scheme: scheme.to_ascii_lowercase(),
            path,
            parameters,
        })
    }

    /// Parameters in their order, keys in lower case, each key once.
    pub(super) fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parameters
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }

    pub(super) fn scheme_error(&self) -> UriError {
        UriError::new(Part::Scheme, &self.scheme)
    }

    pub(super) fn address_error(&self) -> UriError {
        UriError::new(Part::Address, self.path)
    }
}

/// The text that percent signs stand for. Source: RFC 3986, section 2.1.
fn decoded(text: &str) -> Result<String, UriError> {
    let broken = || UriError::new(Part::Encoding, text);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = rest.split_first_chunk::<2>().ok_or_else(broken)?;
        let mut byte = [0];
        hex::decode_to_slice(digits, &mut byte).map_err(|_| broken())?;
        bytes.extend(byte);
        rest = after;
    }
    String::from_utf8(bytes).map_err(|_| broken())
}

/// A payable amount: a whole number of an asset's smallest unit, and not zero.
#[derive(Clone, Copy)]
pub(super) struct Units {
    count: u128,
    decimals: u32,
}

impl Units {
    /// `None` for an amount that no wallet can send: zero, or finer than the smallest unit.
    pub(super) fn of(amount: Amount, decimals: u32) -> Option<Self> {
        let text = amount.to_string();
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let fraction = fraction.trim_end_matches('0');
        let width = usize::try_from(decimals).ok()?;
        if fraction.len() > width {
            return None;
        }
        let count = format!("{whole}{fraction:0<width$}").parse().ok()?;
        (count != 0).then_some(Self { count, decimals })
    }

    pub(super) fn count(self) -> u128 {
        self.count
    }

    /// `19900000`.
    pub(super) fn in_smallest(self) -> String {
        self.count.to_string()
    }

    /// `19.9`, `120`.
    pub(super) fn in_coins(self) -> String {
        let (whole, fraction) = self.split();
        if fraction.is_empty() {
            whole
        } else {
            format!("{whole}.{fraction}")
        }
    }

    /// `19.9`, `120.0`.
    pub(super) fn in_coins_with_point(self) -> String {
        let (whole, fraction) = self.split();
        let fraction = if fraction.is_empty() { "0" } else { &fraction };
        format!("{whole}.{fraction}")
    }

    /// The digits before the point, and those behind it without the last zeros.
    fn split(self) -> (String, String) {
        let unit = 10_u128.pow(self.decimals);
        let width = usize::try_from(self.decimals).expect("an asset has at most 18 decimals");
        let fraction = format!("{:0width$}", self.count % unit);
        let digits = fraction.trim_end_matches('0').to_owned();
        ((self.count / unit).to_string(), digits)
    }
}

/// Returns `true` if `text` units of 10^-`decimals` are exactly `amount`. EIP-681 allows `2014000000000000000` and
/// `2.014e18`.
pub(super) fn equals_amount(text: &str, amount: Amount, decimals: u32) -> bool {
    let shift = i64::from(decimals);
    let asked = Number::parse(&amount.to_string(), shift);
    asked.is_some() && Number::parse(text, 0) == asked
}

/// `digits` × 10^`exponent`, with no zero at either end: equal numbers are equal.
#[derive(PartialEq, Eq)]
struct Number {
    digits: String,
    exponent: i64,
}

impl Number {
    /// Reads digits with an optional point and exponent, and moves the point by `shift` places.
    fn parse(text: &str, shift: i64) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if ![integer, fraction, exponent].into_iter().all(plain) {
            return None;
        }
        let exponent = i64::from(exponent.parse::<u32>().ok()?) + shift;
        let exponent = exponent - i64::try_from(fraction.len()).ok()?;
        let digits = format!("{integer}{fraction}");
        let significant = digits.trim_start_matches('0');
        let digits = significant.trim_end_matches('0');
        if digits.is_empty() {
            return Some(Self {
                digits: String::new(),
                exponent: 0,
            });
        }
        Some(Self {
            digits: digits.to_owned(),
            exponent: exponent + i64::try_from(significant.len() - digits.len()).ok()?,
        })
    }
}
