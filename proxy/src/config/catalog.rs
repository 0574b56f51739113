//! `[[store.product]]` and `[[store.donation]]`: what a store sells, and what it takes donations for. `[store.theme]`: how it
//! looks.

use florin_checkout_api::{THEMES, check_title};
use florin_money::{Amount, Currency, Price};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::Errors;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Product {
    pub(crate) sku: String,
    pub(crate) title: String,
    /// On one of the store's `image_origins`.
    pub(crate) image_url: Option<String>,
    /// The price of one, in the store's currency.
    pub(crate) price: Price,
    pub(crate) max_quantity: u32,
    /// `true` if the customer names an email address before the payment.
    pub(crate) asks_for_email: bool,
}

/// Something that the store sells at a fixed price.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProductTable {
    /// The element's attribute `product`.
    pub(crate) sku: String,
    /// What customers read, at most 120 characters.
    #[schemars(extend("x-default" = "the sku"))]
    pub(crate) title: Option<String>,
    /// Its picture, on one of the store's `image_origins`.
    pub(crate) image_url: Option<String>,
    /// The price of one, in the store's currency, as a string.
    #[schemars(extend("x-default" = "required"))]
    pub(crate) price: Option<String>,
    /// The most that is sold at once, 1 to 10000.
    #[schemars(range(min = 1, max = 10_000), extend("x-default" = 1))]
    pub(crate) max_quantity: Option<u32>,
    /// What the customer has to name before the payment: `["email"]` for what is delivered by email. The order has it as
    /// `receipt_email`. Without this the address is optional.
    #[serde(default)]
    pub(crate) ask: Vec<String>,
}

/// The largest part of a price that a store may forgive. More is a discount, or a mistake.
const MAX_TOLERANCE_PERCENT: u32 = 10;

/// Returns `true` if so much may be missing of a price. Amounts that cannot be compared are not tolerable.
pub(crate) fn is_tolerable(tolerance: Amount, price: Amount) -> bool {
    tolerance
        .checked_mul(100 / MAX_TOLERANCE_PERCENT)
        .is_ok_and(|most| most <= price)
}

pub(crate) fn product(
    table: ProductTable,
    currency: Currency,
    tolerance: Amount,
) -> Result<Product, String> {
    if table.sku.is_empty() {
        return Err("sku must not be empty".into());
    }
    let price = price("price", table.price.as_deref(), currency)?;
    if !is_tolerable(tolerance, price.amount()) {
        return Err(format!(
            "the store's underpayment_tolerance is {tolerance}, more than {MAX_TOLERANCE_PERCENT} % of the price {}: who \
             pays so much less would get it. Lower the tolerance, or raise the price",
            price.amount()
        ));
    }
    let max_quantity = table.max_quantity.unwrap_or(1);
    if let Some(unknown) = table.ask.iter().find(|ask| *ask != "email") {
        return Err(format!("ask: {unknown:?} is unknown, write [\"email\"]"));
    }
    price
        .amount()
        .checked_mul(max_quantity)
        .map_err(|error| format!("price × max_quantity: {error}"))?;
    Ok(Product {
        title: title(table.title.as_ref().unwrap_or(&table.sku))?,
        sku: table.sku,
        image_url: table.image_url,
        price,
        max_quantity,
        asks_for_email: !table.ask.is_empty(),
    })
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Donation {
    pub(crate) id: String,
    pub(crate) title: String,
    /// In the store's currency; above zero.
    pub(crate) min: Amount,
    pub(crate) max: Amount,
    /// Amounts that the checkout offers, within the bounds.
    pub(crate) suggested: Vec<Amount>,
}

/// Something that customers give money for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DonationTable {
    /// The element's attribute `donation`.
    pub(crate) id: String,
    /// What customers read, at most 120 characters.
    #[schemars(extend("x-default" = "the id"))]
    pub(crate) title: Option<String>,
    /// The least that is taken, in the store's currency, as a string.
    #[schemars(extend("x-default" = "required"))]
    pub(crate) min: Option<String>,
    /// The most that is taken, likewise.
    #[schemars(extend("x-default" = "required"))]
    pub(crate) max: Option<String>,
    /// Amounts that the checkout offers, within the bounds, as strings.
    #[serde(default)]
    pub(crate) suggested: Vec<String>,
}

pub(crate) fn donations(
    errors: &mut Errors,
    store: &str,
    tables: Vec<DonationTable>,
    currency: Option<Currency>,
) -> Vec<Donation> {
    let list = format!("store.{store}.donation");
    errors.require_distinct(&list, "id", tables.iter().map(|table| &table.id));
    // A missing currency is reported already.
    let Some(currency) = currency else {
        return Vec::new();
    };
    let read = tables.into_iter().filter_map(|table| {
        let key = format!("{list}.{}", table.id);
        errors.record(&key, donation(table, currency))
    });
    read.collect()
}

fn donation(table: DonationTable, currency: Currency) -> Result<Donation, String> {
    if table.id.is_empty() {
        return Err("id must not be empty".into());
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
        title: title(table.title.as_ref().unwrap_or(&table.id))?,
        id: table.id,
        min,
        max,
    })
}

fn title(text: &str) -> Result<String, String> {
    check_title(text.to_owned()).map_err(|error| error.to_string())
}

fn amount(name: &str, text: Option<&str>, currency: Currency) -> Result<Amount, String> {
    price(name, text, currency).map(Price::amount)
}

fn price(name: &str, text: Option<&str>, currency: Currency) -> Result<Price, String> {
    let text = text.ok_or_else(|| format!("needs {name}: an amount as a string"))?;
    let amount = Amount::parse(text).map_err(|error| format!("{name}: {error}"))?;
    Price::new(amount, currency).map_err(|error| format!("{name}: {error}"))
}

// `[store.theme]`: a preset, and what differs from it.

const MAX_RADIUS_PX: u32 = 40;

const MAX_FONT_CHARS: usize = 200;

/// A preset, and what differs from it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ThemeTable {
    /// `auto`, `light`, `dark`, `contrast`, `paper`, `midnight` or `sorbet`. `auto` is light or dark as the customer's
    /// system has it.
    #[schemars(extend("x-default" = "auto"))]
    pub(crate) preset: Option<String>,
    /// Buttons and links: `"#0b6e52"`, or one colour for each scheme, `"light-dark(#0b6e52, #4fd1a1)"`.
    #[schemars(extend("x-default" = "the theme's"))]
    pub(crate) accent: Option<String>,
    /// Text on the accent: by default black or white, whichever has more contrast.
    #[schemars(extend("x-default" = "black or white"))]
    pub(crate) on_accent: Option<String>,
    /// The background.
    #[schemars(extend("x-default" = "the theme's"))]
    pub(crate) background: Option<String>,
    /// The background of the summary.
    #[schemars(extend("x-default" = "from text and background"))]
    pub(crate) surface: Option<String>,
    /// Text.
    #[schemars(extend("x-default" = "the theme's"))]
    pub(crate) text: Option<String>,
    /// Secondary text.
    #[schemars(extend("x-default" = "from text and background"))]
    pub(crate) text_muted: Option<String>,
    /// Thin lines.
    #[schemars(extend("x-default" = "from text and background"))]
    pub(crate) border: Option<String>,
    /// Text of warnings.
    #[schemars(extend("x-default" = "the theme's"))]
    pub(crate) warning: Option<String>,
    /// Text of errors.
    #[schemars(extend("x-default" = "the theme's"))]
    pub(crate) danger: Option<String>,
    /// Corners, `"0px"` to `"40px"`.
    #[schemars(extend("x-default" = "the theme's"))]
    pub(crate) radius: Option<String>,
    /// A `font-family`. A frame has only the fonts of the customer's device.
    #[schemars(extend("x-default" = "the theme's"))]
    pub(crate) font: Option<String>,
    /// Spacing, `"0.75"` to `"1.5"`.
    #[schemars(extend("x-default" = "1"))]
    pub(crate) density: Option<String>,
}

type Check = fn(&str) -> Result<(), String>;

pub(crate) fn theme(
    errors: &mut Errors,
    store: &str,
    table: ThemeTable,
) -> (String, Vec<(&'static str, String)>) {
    let key = |name: &str| format!("store.{store}.theme.{name}");
    let preset = table.preset.unwrap_or_else(|| "auto".into());
    if !THEMES.contains(&preset.as_str()) {
        let message = format!("{preset:?} is no theme: write one of {}", THEMES.join(", "));
        errors.add(&key("preset"), message);
    }
    let tokens: [(&'static str, Option<String>, Check); 12] = [
        ("accent", table.accent, colour),
        ("on-accent", table.on_accent, colour),
        ("background", table.background, colour),
        ("surface", table.surface, colour),
        ("text", table.text, colour),
        ("text-muted", table.text_muted, colour),
        ("border", table.border, colour),
        ("warning", table.warning, colour),
        ("danger", table.danger, colour),
        ("radius", table.radius, radius),
        ("font", table.font, font),
        ("density", table.density, density),
    ];
    let mut found = Vec::new();
    for (name, value, check) in tokens {
        let Some(value) = value else { continue };
        let key = key(&name.replace('-', "_"));
        found.extend(errors.record(&key, check(&value).map(|()| (name, value))));
    }
    (preset, found)
}

/// `#0b6e52`, or one for each colour scheme.
fn colour(text: &str) -> Result<(), String> {
    let is_hex = |text: &str| {
        let digits = text.trim().strip_prefix('#').unwrap_or_default();
        matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())
    };
    let pair = text
        .strip_prefix("light-dark(")
        .and_then(|rest| rest.strip_suffix(')')?.split_once(','));
    if is_hex(text) || pair.is_some_and(|(light, dark)| is_hex(light) && is_hex(dark)) {
        return Ok(());
    }
    Err(format!(
        "{text:?} is no colour here: write it like \"#0b6e52\", or for both schemes like \
         \"light-dark(#0b6e52, #4fd1a1)\""
    ))
}

fn radius(text: &str) -> Result<(), String> {
    let pixels = text.strip_suffix("px").map(str::parse::<u32>);
    if matches!(pixels, Some(Ok(0..=MAX_RADIUS_PX))) {
        return Ok(());
    }
    Err(format!("write \"0px\" to \"{MAX_RADIUS_PX}px\""))
}

fn font(text: &str) -> Result<(), String> {
    let plain = |c: char| c.is_alphanumeric() || " ,-'\"".contains(c);
    let is_whole = |quote| text.matches(quote).count().is_multiple_of(2);
    let fits = (1..=MAX_FONT_CHARS).contains(&text.chars().count());
    if fits && text.chars().all(plain) && is_whole('"') && is_whole('\'') {
        return Ok(());
    }
    Err(format!(
        "write a font-family of at most {MAX_FONT_CHARS} letters, digits, spaces, commas, dashes \
         and quotes, like \"Georgia, serif\""
    ))
}

fn density(text: &str) -> Result<(), String> {
    let [least, most] = ["0.75", "1.5"].map(|text| Amount::parse(text).expect("it is an amount"));
    match Amount::parse(text) {
        Ok(density) if (least..=most).contains(&density) => Ok(()),
        _ => Err("write a number from \"0.75\" to \"1.5\"; \"1\" is normal".into()),
    }
}
