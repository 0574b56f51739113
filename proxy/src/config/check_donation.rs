//! The checks of what a store takes donations for.

use money::{Amount, Currency};

use super::Donation;
use super::check::Findings;
use super::source::DonationTable;

const MAX_TITLE_CHARS: usize = 100;

/// Checks the donations of one store.
pub(super) fn donations(
    findings: &mut Findings,
    store: &str,
    tables: Vec<DonationTable>,
    currency: Option<Currency>,
) -> Vec<Donation> {
    let mut found: Vec<Donation> = Vec::new();
    for table in tables {
        let key = format!("store.{store}.donation.{}", table.id);
        if found.iter().any(|earlier| earlier.id == table.id) {
            findings.add(&key, "there are two of this id");
        }
        // Without a currency, that is said already.
        let Some(currency) = currency else { continue };
        found.extend(findings.take(&key, donation(table, currency)));
    }
    found
}

fn donation(table: DonationTable, currency: Currency) -> Result<Donation, String> {
    if table.id.is_empty() || table.title.as_deref() == Some("") {
        return Err("id and title must not be empty".into());
    }
    let title = table.title.unwrap_or_else(|| table.id.clone());
    if title.chars().count() > MAX_TITLE_CHARS {
        return Err(format!(
            "the title has more than {MAX_TITLE_CHARS} characters"
        ));
    }
    let min = amount("min", table.min.as_deref(), currency)?;
    let max = amount("max", table.max.as_deref(), currency)?;
    if min > max {
        return Err(format!("min is {min}, which is more than max, {max}"));
    }
    let suggested = table.suggested.iter().map(|text| {
        let suggested = amount("suggested", Some(text), currency)?;
        if (min..=max).contains(&suggested) {
            return Ok(suggested);
        }
        Err(format!("suggested: {text} is not within {min} and {max}"))
    });
    Ok(Donation {
        suggested: suggested.collect::<Result<_, _>>()?,
        id: table.id,
        title,
        min,
        max,
    })
}

fn amount(name: &str, text: Option<&str>, currency: Currency) -> Result<Amount, String> {
    let text = text.ok_or_else(|| format!("needs {name}: an amount as a string"))?;
    let amount = Amount::parse(text).map_err(|error| format!("{name}: {error}"))?;
    if amount.is_zero() {
        return Err(format!("{name}: the amount must be above zero"));
    }
    let decimals = currency.decimals();
    if amount.decimals() > decimals {
        return Err(format!(
            "{name}: {text} has more than the {decimals} decimals of {currency}"
        ));
    }
    Ok(amount.padded(decimals))
}
