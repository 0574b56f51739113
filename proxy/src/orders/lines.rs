//! The lines of an order, as a store's server sends them with POST /v1/orders or in a signed token.
//!
//! Lines are for display. The price is the order's `amount`; if every line has an amount, they must add up to it, so that
//! a customer never reads a sum that is not the price.

use florin_checkout_api::{LINE_AMOUNT, MAX_TITLE_CHARS, check_title};
use florin_money::{Amount, Currency, Price};
use florin_orders::{LineKind, OrderLine};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::Store;

/// More lines are no longer read on a checkout.
pub(crate) const MAX_LINES: usize = 50;

/// One line.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    /// What it is.
    #[schemars(length(min = 1, max = MAX_TITLE_CHARS), extend("examples" = ["A mug"]))]
    title: String,
    /// What it is. Only an item has `quantity` and `unit_amount`.
    #[serde(default)]
    kind: LineKind,
    /// How many; 1 when absent.
    #[schemars(range(min = 1))]
    quantity: Option<u32>,
    /// The price of one, in the order's currency.
    unit_amount: Option<Amount>,
    /// The price of all of them, in the order's currency; `quantity` times `unit_amount` when absent. That of a discount is below
    /// zero, no other is.
    #[schemars(regex(pattern = LINE_AMOUNT), extend("examples" = ["-5.00"]))]
    amount: Option<String>,
    /// A picture, on one of the store's `image_origins`; at most 2048 characters.
    #[schemars(extend("format" = "uri", "examples" = ["https://cdn.shop.example/mug.jpg"]))]
    image_url: Option<String>,
}

/// What is wrong with the lines: the member, as `lines` or `lines[2].image_url`, and a sentence for people.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InvalidLines {
    pub field: String,
    pub message: String,
}

/// Checks the lines of an order at `price`.
pub(crate) fn check(
    store: &Store,
    lines: Vec<Line>,
    price: Price,
) -> Result<Vec<OrderLine>, InvalidLines> {
    let (price, currency) = (price.amount(), price.currency());
    if lines.len() > MAX_LINES {
        let message = format!("An order has {MAX_LINES} lines at most.");
        return Err(invalid("lines", message));
    }
    let lines = lines.into_iter().enumerate();
    let lines = lines.map(|(number, line)| {
        check_line(store, line, currency).map_err(|InvalidLines { field, message }| {
            invalid(&format!("lines[{number}].{field}"), message)
        })
    });
    let lines = lines.collect::<Result<Vec<_>, _>>()?;
    if !lines.is_empty() && lines.iter().all(|line| line.amount.is_some()) {
        let total = |of_discounts: bool| {
            lines
                .iter()
                .filter(|line| (line.kind == LineKind::Discount) == of_discounts)
                .filter_map(|line| line.amount)
                .try_fold(Amount::ZERO, Amount::checked_add)
        };
        let sum = total(false).and_then(|sum| sum.checked_sub(total(true)?));
        if sum != Ok(price) {
            let sum = sum.map_or_else(
                |_| "no amount".to_owned(),
                |sum| format!("{sum} {currency}"),
            );
            let message = format!(
                "The lines add up to {sum}, and the order's amount is {price} {currency}. Make them equal, or leave \
                 the amount of one line out."
            );
            return Err(invalid("lines", message));
        }
    }
    Ok(lines)
}

fn check_line(store: &Store, line: Line, currency: Currency) -> Result<OrderLine, InvalidLines> {
    let title = check_title(line.title)
        .map_err(|error| invalid("title", format!("It is refused: {error}.")))?;
    if line.quantity == Some(0) {
        return Err(invalid("quantity", "Write 1 or more.".into()));
    }
    let of_items = [
        ("quantity", line.quantity.is_some()),
        ("unit_amount", line.unit_amount.is_some()),
    ];
    if let Some((field, _)) = of_items.iter().find(|it| it.1 && !line.kind.is_item()) {
        return Err(invalid(field, "Only items have it. Write amount.".into()));
    }
    let quantity = line.quantity.unwrap_or(1);
    let exact = |field: &str, amount: Amount| {
        let exact = amount.in_currency(currency);
        exact.map_err(|error| invalid(field, format!("{error}.")))
    };
    let unit_amount = line.unit_amount.map(|one| exact("unit_amount", one));
    let unit_amount = unit_amount.transpose()?;
    let amount = line.amount.map(|written| {
        let all = without_sign(&written, line.kind);
        exact("amount", all.map_err(|message| invalid("amount", message))?)
    });
    let amount = amount.transpose()?;
    let product = unit_amount.map(|one| one.checked_mul(quantity));
    let product = product
        .transpose()
        .map_err(|error| invalid("unit_amount", format!("Times quantity: {error}.")))?;
    if let (Some(amount), Some(product)) = (amount, product)
        && amount != product
    {
        let message = format!("It is {amount}, and quantity times unit_amount is {product}.");
        return Err(invalid("amount", message));
    }
    if let Some(address) = &line.image_url {
        store
            .check_image_url(address)
            .map_err(|message| invalid("image_url", message))?;
    }
    Ok(OrderLine {
        title,
        kind: line.kind,
        quantity,
        unit_amount,
        amount: amount.or(product),
        image_url: line.image_url,
    })
}

/// Reads an amount whose sign must fit the kind of its line.
fn without_sign(written: &str, kind: LineKind) -> Result<Amount, String> {
    let taken_off = written.strip_prefix('-');
    let amount =
        Amount::parse(taken_off.unwrap_or(written)).map_err(|error| format!("{error}."))?;
    match (kind, taken_off) {
        (LineKind::Discount, Some(_)) if !amount.is_zero() => Ok(amount),
        (LineKind::Discount, _) => Err("A discount's amount is below zero, like -5.00.".into()),
        (_, Some(_)) => Err("Only a discount's amount is below zero.".into()),
        (_, None) => Ok(amount),
    }
}

fn invalid(field: &str, message: String) -> InvalidLines {
    InvalidLines {
        field: field.to_owned(),
        message,
    }
}
