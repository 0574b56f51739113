//! Prices in the answers of sources. Numbers are read as they are written, never as floats.

use std::collections::HashMap;

use florin_money::{Amount, Rounding};
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde_json::value::RawValue;

use super::options::{Pair, Source};

/// Decimals of a price. A shop's currency has four at most, the cheapest asset costs some cents.
pub(super) const DECIMALS: u32 = 12;

/// The price of a pair in a source's answer, with the reason if there is none that can be used.
pub(super) fn price(
    source: &Source,
    pair: &Pair,
    body: &[u8],
    now: Timestamp,
) -> Result<Amount, String> {
    let (symbol, inverse) = source.symbol(pair).ok_or("the source does not have it")?;
    let body: &RawValue = serde_json::from_slice(body).map_err(|_| "the answer is not JSON")?;
    if let Some(time) = &source.time {
        let stated = at(body, &time.path, symbol).and_then(timestamp);
        let stated = stated.ok_or_else(|| format!("the answer has no time at {}", time.path))?;
        if now.duration_since(stated).as_secs() > i64::from(time.max_age_seconds) {
            return Err(format!("the answer is of {stated}"));
        }
    }
    let value = at(body, &source.path, symbol).and_then(text);
    let value = value.ok_or_else(|| format!("the answer has no price at {}", source.path))?;
    let price = Amount::parse(&value).map_err(|error| error.to_string())?;
    if !inverse {
        return Ok(price);
    }
    let inverted = Amount::ONE.mul_div(Amount::ONE, price, DECIMALS, Rounding::Down);
    inverted.map_err(|error| error.to_string())
}

/// The value at a path.
fn at<'a>(root: &'a RawValue, path: &str, symbol: &str) -> Option<&'a RawValue> {
    path.split('/').skip(1).try_fold(root, |value, segment| {
        let key = segment
            .replace("{symbol}", symbol)
            .replace("~1", "/")
            .replace("~0", "~");
        member(value, &key)
    })
}

fn member<'a>(value: &'a RawValue, key: &str) -> Option<&'a RawValue> {
    if let Ok(mut object) = serde_json::from_str::<HashMap<String, &RawValue>>(value.get()) {
        return object.remove(key);
    }
    let array: Vec<&RawValue> = serde_json::from_str(value.get()).ok()?;
    match key.split_once('=') {
        None => array.get(key.parse::<usize>().ok()?).copied(),
        Some((field, wanted)) => array.into_iter().find(|element| {
            member(element, field)
                .and_then(text)
                .is_some_and(|found| found == wanted)
        }),
    }
}

/// A text without its quotes, or a number as it is written.
fn text(value: &RawValue) -> Option<String> {
    match serde_json::from_str::<String>(value.get()) {
        Ok(text) => Some(text),
        Err(_) => value
            .get()
            .starts_with(|c: char| c == '-' || c.is_ascii_digit())
            .then(|| value.get().to_owned()),
    }
}

fn timestamp(value: &RawValue) -> Option<Timestamp> {
    let text = text(value)?;
    if let Ok(seconds) = text.parse() {
        return Timestamp::from_second(seconds).ok();
    }
    let date = || text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok();
    text.parse().ok().or_else(|| Some(date()?.timestamp()))
}
