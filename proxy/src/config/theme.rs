//! `[store.theme]`: a preset, and what differs from it.

use florin_checkout_api::THEMES;
use florin_money::Amount;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::problems::Errors;

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

/// Checks the theme of one store: its name, and what is otherwise than the theme has it.
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
