//! The payload, read once its signature is known to be the store's.

use jiff::{SignedDuration, Timestamp};
use ledger::{OrderLine, Reference};
use money::{Amount, AmountText, Currency};
use serde::Deserialize;

use super::Refusal;
use crate::config::Store;
use crate::order_lines::{self, Line, MAX_TITLE_CHARS};

/// How far the clocks of store and proxy may differ.
const SLACK: SignedDuration = SignedDuration::from_secs(60);
/// A token is for a page that is open now, not for a drawer.
const LONGEST_LIFE: SignedDuration = SignedDuration::from_hours(24);

/// What the store's server wants paid.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Claims {
    /// The store's own name for the order.
    pub reference: Reference,
    /// The price, above zero, with all decimals of its currency.
    pub amount: Amount,
    /// The price's currency.
    pub currency: Currency,
    /// What is sold, 1 to 120 characters.
    pub title: Option<String>,
    /// What it is made of, for show.
    pub lines: Vec<OrderLine>,
    /// An address on one of the store's origins.
    pub return_url: Option<String>,
}

/// The payload as it is written. `amt` is a string: a number would have passed through somebody's floats.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload {
    aud: String,
    store: String,
    ord: String,
    amt: AmountText,
    cur: String,
    iat: i64,
    exp: i64,
    ttl: Option<String>,
    ret: Option<String>,
    #[serde(default)]
    lines: Vec<Line>,
}

pub(super) fn read(
    json: &[u8],
    store: &Store,
    audience: &str,
    now: Timestamp,
) -> Result<Claims, Refusal> {
    if !json.starts_with(b"{") {
        return Err(Refusal::NoObject("payload"));
    }
    let payload: Payload = serde_json::from_slice(json).map_err(Refusal::Payload)?;
    if payload.aud != audience {
        return Err(Refusal::Audience {
            found: payload.aud,
            wanted: audience.to_owned(),
        });
    }
    if payload.store != store.id.as_str() {
        return Err(Refusal::ForeignStore {
            named: payload.store,
            signer: store.id.clone(),
        });
    }
    check_times(payload.iat, payload.exp, now)?;
    let field = |name: &'static str| move |error: String| Refusal::Field { name, error };
    let reference =
        Reference::parse(&payload.ord).map_err(|error| field("ord")(error.to_string()))?;
    let currency =
        Currency::parse(&payload.cur).map_err(|error| field("cur")(error.to_string()))?;
    let amount = price(&payload.amt, currency).map_err(field("amt"))?;
    if let Some(title) = &payload.ttl
        && !(1..=MAX_TITLE_CHARS).contains(&title.chars().count())
    {
        return Err(field("ttl")("write 1 to 120 characters".to_owned()));
    }
    if payload
        .ret
        .as_ref()
        .is_some_and(|link| !store.leads_home(link))
    {
        let message = "write an http or https address on one of the store's origins";
        return Err(field("ret")(message.to_owned()));
    }
    let lines = order_lines::check(store, payload.lines, amount, currency).map_err(|wrong| {
        let error = format!("{}: {}", wrong.field, wrong.message);
        field("lines")(error)
    })?;
    Ok(Claims {
        lines,
        reference,
        amount,
        currency,
        title: payload.ttl,
        return_url: payload.ret,
    })
}

/// Times are whole Unix seconds. Source: RFC 7519, section 2, "`NumericDate`"; fractions are refused.
fn check_times(iat: i64, exp: i64, now: Timestamp) -> Result<(), Refusal> {
    let (now, slack) = (now.as_second(), SLACK.as_secs());
    if iat > now.saturating_add(slack) {
        return Err(Refusal::FromTheFuture { iat, now });
    }
    if exp <= now.saturating_sub(slack) {
        return Err(Refusal::Expired { exp, now });
    }
    match exp.checked_sub(iat) {
        Some(life) if (1..=LONGEST_LIFE.as_secs()).contains(&life) => Ok(()),
        _ => Err(Refusal::Life { iat, exp }),
    }
}

fn price(text: &AmountText, currency: Currency) -> Result<Amount, String> {
    let (amount, decimals) = (Amount::from(text), currency.decimals());
    if amount.is_zero() {
        return Err("the amount must be above zero".to_owned());
    }
    if u32::try_from(text.decimals()).is_ok_and(|written| written <= decimals) {
        return Ok(amount.padded(decimals));
    }
    Err(format!(
        "{text} has more than the {decimals} decimals of {currency}"
    ))
}
