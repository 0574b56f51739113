//! The customer's language: texts by key, and numbers as the browser's `Intl` writes them.

use std::collections::BTreeMap;

use checkout_api::from_json;
use js_sys::{Date, Object, Reflect};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::api::stringify;
use crate::decimal::decimal;
use crate::wording::{Text, fill};

#[wasm_bindgen]
extern "C" {
    type NumberFormat;
    #[wasm_bindgen(catch, constructor, js_namespace = Intl)]
    fn new(locale: &str, options: &Object) -> Result<NumberFormat, JsValue>;
    /// Takes a decimal text: an amount never becomes a binary number where the browser can avoid it.
    #[wasm_bindgen(method)]
    fn format(this: &NumberFormat, number: &str) -> String;

    type DateTimeFormat;
    #[wasm_bindgen(catch, constructor, js_namespace = Intl)]
    fn new(locale: &str, options: &Object) -> Result<DateTimeFormat, JsValue>;
    #[wasm_bindgen(catch, method)]
    fn format(this: &DateTimeFormat, date: &Date) -> Result<String, JsValue>;

    type PluralRules;
    #[wasm_bindgen(catch, constructor, js_namespace = Intl)]
    fn new(locale: &str) -> Result<PluralRules, JsValue>;
    #[wasm_bindgen(method)]
    fn select(this: &PluralRules, number: u32) -> String;

    type RelativeTimeFormat;
    #[wasm_bindgen(catch, constructor, js_namespace = Intl)]
    fn new(locale: &str) -> Result<RelativeTimeFormat, JsValue>;
    #[wasm_bindgen(method)]
    fn format(this: &RelativeTimeFormat, number: i32, unit: &str) -> String;
}

/// One language file.
pub(crate) struct Language {
    words: BTreeMap<String, Text>,
    locale: String,
}

impl Language {
    /// `words`: the parsed file; one that cannot be read shows its keys. `locale`: BCP 47.
    pub(crate) fn new(words: &JsValue, locale: String) -> Self {
        let words = stringify(words)
            .ok()
            .and_then(|words| from_json(&words).ok());
        Self {
            words: words.unwrap_or_default(),
            locale,
        }
    }

    /// The text of a key; the key itself shows what a language file lacks.
    pub(crate) fn word(&self, key: &'static str) -> String {
        match self.words.get(key) {
            Some(Text::One(text)) => text.clone(),
            _ => key.to_owned(),
        }
    }

    /// The text of a key with its gaps filled.
    pub(crate) fn sentence(&self, key: &'static str, values: &[(&str, &str)]) -> String {
        fill(&self.word(key), values)
    }

    /// The same for a text whose grammar follows a number: the file holds one for each category of `Intl.PluralRules`.
    pub(crate) fn counted(
        &self,
        key: &'static str,
        number: u32,
        values: &[(&str, &str)],
    ) -> String {
        let Some(Text::Counted(forms)) = self.words.get(key) else {
            return String::new();
        };
        let category = PluralRules::new(&self.locale).map(|rules| rules.select(number));
        let form = category.ok().and_then(|category| forms.get(&category));
        let form = form.or_else(|| forms.get("other"));
        fill(form.map_or("", String::as_str), values)
    }

    /// The language's tag.
    pub(crate) fn locale(&self) -> &str {
        &self.locale
    }

    /// `rtl` or `ltr`.
    pub(crate) fn direction(&self) -> String {
        self.word("direction")
    }

    /// `$19.90`; `19.90 XYZ` for a currency that this browser does not know. As many decimals as `amount` has: browsers
    /// know a currency's otherwise than the proxy, and would round what a forint or a rupiah has behind its point.
    pub(crate) fn money(&self, amount: &str, currency: &str) -> String {
        let decimals = amount
            .split_once('.')
            .map_or(0, |(_, decimals)| decimals.len());
        let decimals = decimal(u32::try_from(decimals).unwrap_or_default());
        let options = [
            ("style", "currency"),
            ("currency", currency),
            ("minimumFractionDigits", decimals.as_str()),
            ("maximumFractionDigits", decimals.as_str()),
        ];
        self.number(amount, &options)
            .unwrap_or_else(|| [amount, "\u{a0}", currency].concat())
    }

    /// `50,000`
    pub(crate) fn amount(&self, amount: &str) -> String {
        self.number(amount, &[("maximumFractionDigits", "20")])
            .unwrap_or_else(|| amount.to_owned())
    }

    /// `2 minutes`.
    pub(crate) fn duration(&self, number: u32, unit: &str) -> String {
        let options = [("style", "unit"), ("unit", unit), ("unitDisplay", "long")];
        self.number(&decimal(number), &options).unwrap_or_default()
    }

    /// `4 seconds ago`, or `in 4 seconds`.
    pub(crate) fn relative(&self, seconds: u32, is_ahead: bool) -> String {
        let (number, unit) = match seconds {
            0..60 => (seconds.max(1), "second"),
            60..3600 => (seconds / 60, "minute"),
            _ => (seconds / 3600, "hour"),
        };
        let number = i32::try_from(number).unwrap_or(i32::MAX);
        RelativeTimeFormat::new(&self.locale)
            .map(|format| format.format(if is_ahead { number } else { -number }, unit))
            .unwrap_or_default()
    }

    /// `November 21, 2026 at 9:00 AM UTC`, of a time in RFC 3339; the text itself where this browser cannot.
    pub(crate) fn moment(&self, time: &str) -> String {
        let options = [("dateStyle", "long"), ("timeStyle", "long")];
        DateTimeFormat::new(&self.locale, &object(&options))
            .and_then(|format| format.format(&Date::new(&JsValue::from_str(time))))
            .unwrap_or_else(|_| time.to_owned())
    }

    fn number(&self, number: &str, options: &[(&str, &str)]) -> Option<String> {
        let format = NumberFormat::new(&self.locale, &object(options)).ok()?;
        Some(format.format(number))
    }
}

/// A plain JavaScript object of texts.
pub(crate) fn object(members: &[(&str, &str)]) -> Object {
    let object = Object::new();
    for (key, value) in members {
        // A fresh, extensible object takes every member.
        let _ = Reflect::set(&object, &JsValue::from_str(key), &JsValue::from_str(value));
    }
    object
}
