//! `[store.theme]`: a preset, and what differs from it.

use florin_checkout_api::THEMES;
use florin_money::Amount;
use serde::Deserialize;

use crate::config::keys::Key;
use crate::config::problems::Findings;

const MAX_RADIUS_PX: u32 = 40;

const MAX_FONT_CHARS: usize = 200;

/// The keys of the section.
pub(crate) const KEYS: &[Key] = &[
    (
        "theme.preset",
        "",
        "auto",
        "auto, light, dark, contrast, paper, midnight or sorbet; auto is light or dark as the customer's system has it",
    ),
    (
        "theme.accent",
        "",
        "the theme's",
        "buttons and links: \"#0b6e52\", or for both schemes \"light-dark(#0b6e52, #4fd1a1)\"",
    ),
    (
        "theme.on_accent",
        "",
        "black or white",
        "text on the accent; by itself whichever reads better",
    ),
    ("theme.background", "", "the theme's", "the background"),
    (
        "theme.surface",
        "",
        "from text and background",
        "the background of the summary",
    ),
    ("theme.text", "", "the theme's", "text"),
    (
        "theme.text_muted",
        "",
        "from text and background",
        "quiet text",
    ),
    ("theme.border", "", "from text and background", "thin lines"),
    ("theme.warning", "", "the theme's", "text of warnings"),
    ("theme.danger", "", "the theme's", "text of what went wrong"),
    ("theme.radius", "", "the theme's", "corners, 0px to 40px"),
    (
        "theme.font",
        "",
        "the theme's",
        "a font-family; a frame knows only the fonts of the customer's device",
    ),
    (
        "theme.density",
        "",
        "1",
        "how much room there is, 0.75 to 1.5, as text",
    ),
];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ThemeTable {
    pub(crate) preset: Option<String>,
    pub(crate) accent: Option<String>,
    pub(crate) on_accent: Option<String>,
    pub(crate) background: Option<String>,
    pub(crate) surface: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) text_muted: Option<String>,
    pub(crate) border: Option<String>,
    pub(crate) warning: Option<String>,
    pub(crate) danger: Option<String>,
    pub(crate) radius: Option<String>,
    pub(crate) font: Option<String>,
    pub(crate) density: Option<String>,
}

type Check = fn(&str) -> Result<(), String>;

/// Checks the theme of one store: its name, and what is otherwise than the theme has it.
pub(crate) fn theme(
    findings: &mut Findings,
    store: &str,
    table: ThemeTable,
) -> (String, Vec<(&'static str, String)>) {
    let key = |name: &str| format!("store.{store}.theme.{name}");
    let preset = table.preset.unwrap_or_else(|| "auto".into());
    if !THEMES.contains(&preset.as_str()) {
        let message = format!("{preset:?} is no theme: write one of {}", THEMES.join(", "));
        findings.add(&key("preset"), message);
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
        found.extend(findings.take(&key, check(&value).map(|()| (name, value))));
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
