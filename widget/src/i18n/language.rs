//! Texts by key, and numbers and times as the browser's `Intl` writes them.

use std::collections::BTreeMap;

use js_sys::{Date, Object};
use leptos::prelude::{LocalStorage, StoredValue, UpdateValue as _, WithValue as _};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::template::{Text, fill};
use crate::browser::object;
use crate::format::amount::{Sign, sign};
use crate::from_js::from_js;

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

/// The texts of one language file, and how that language writes numbers and times.
pub(crate) struct Language {
    texts: BTreeMap<String, Text>,
    locale: String,
}

/// A handle of the customer's [`Language`]. Without one, because the element was removed, every text is empty.
#[derive(Clone, Copy)]
pub(crate) struct I18n(StoredValue<Language, LocalStorage>);

impl I18n {
    pub(crate) fn new(language: Language) -> Self {
        Self(StoredValue::new_local(language))
    }

    /// Adds the texts of screens that were loaded later.
    pub(crate) fn add(self, texts: &JsValue) {
        self.0.try_update_value(|language| language.add(texts));
    }

    /// The text of a key.
    pub(crate) fn text(self, key: &'static str) -> String {
        self.read(|language| language.text(key))
    }

    /// The text of a key with its gaps filled.
    pub(crate) fn text_with(self, key: &'static str, values: &[(&str, &str)]) -> String {
        self.read(|language| fill(&language.text(key), values))
    }

    /// The text of a key whose grammar follows `number`, with its gaps filled.
    pub(crate) fn plural(self, key: &'static str, number: u32, values: &[(&str, &str)]) -> String {
        self.read(|language| language.plural(key, number, values))
    }

    /// The language's tag, BCP 47.
    pub(crate) fn locale(self) -> String {
        self.read(|language| language.locale.clone())
    }

    /// `rtl` or `ltr`.
    pub(crate) fn direction(self) -> String {
        self.text("direction")
    }

    /// `$19.90`; `19.90 XYZ` for a currency that this browser does not know. As many decimals as `amount` has: browsers
    /// know other numbers of decimals than the proxy, and would round those of a forint or a rupiah.
    pub(crate) fn money(self, amount: &str, currency: &str) -> String {
        self.read(|language| language.money(amount, currency))
    }

    /// `50,000`
    pub(crate) fn number(self, amount: &str) -> String {
        self.read(|language| {
            language
                .number(amount, &[("maximumFractionDigits", "20")])
                .unwrap_or_else(|| amount.to_owned())
        })
    }

    /// The sign of a currency, and its side of the amount.
    pub(crate) fn sign(self, currency: &str) -> Sign {
        sign(&self.money("0", currency), &self.number("0"))
    }

    /// `2 minutes`; `unit` as `Intl.NumberFormat` names it.
    pub(crate) fn duration(self, number: u32, unit: &str) -> String {
        let options = [("style", "unit"), ("unit", unit), ("unitDisplay", "long")];
        self.read(|language| {
            language
                .number(&number.to_string(), &options)
                .unwrap_or_default()
        })
    }

    /// `4 seconds ago`
    pub(crate) fn ago(self, seconds: u32) -> String {
        self.read(|language| language.relative(seconds, false))
    }

    /// `in 4 seconds`
    pub(crate) fn ahead(self, seconds: u32) -> String {
        self.read(|language| language.relative(seconds, true))
    }

    /// A time in RFC 3339 by the customer's clock, the text itself where this browser cannot. `style` as `Intl` names it: `short` is
    /// `November 21, 2026 at 9:00 AM`, `long` has seconds and the time zone.
    pub(crate) fn moment(self, time: &str, style: &str) -> String {
        self.read(|language| language.moment(time, style))
    }

    fn read(self, read: impl FnOnce(&Language) -> String) -> String {
        self.0.try_with_value(read).unwrap_or_default()
    }
}

impl Language {
    /// `texts`: the parsed file; of one that cannot be read the keys are shown. `locale`: BCP 47.
    pub(crate) fn new(texts: &JsValue, locale: String) -> Self {
        let mut language = Self {
            texts: BTreeMap::new(),
            locale,
        };
        language.add(texts);
        language
    }

    fn add(&mut self, texts: &JsValue) {
        let texts: BTreeMap<_, _> = from_js(texts.clone()).unwrap_or_default();
        self.texts.extend(texts);
    }

    /// The key itself shows what a language file lacks.
    fn text(&self, key: &'static str) -> String {
        match self.texts.get(key) {
            Some(Text::One(text)) => text.clone(),
            _ => key.to_owned(),
        }
    }

    /// The file holds one text for each category of `Intl.PluralRules`.
    fn plural(&self, key: &'static str, number: u32, values: &[(&str, &str)]) -> String {
        let Some(Text::Counted(forms)) = self.texts.get(key) else {
            return String::new();
        };
        let category = PluralRules::new(&self.locale).map(|rules| rules.select(number));
        let form = category.ok().and_then(|category| forms.get(&category));
        let form = form.or_else(|| forms.get("other"));
        fill(form.map_or("", String::as_str), values)
    }

    fn money(&self, amount: &str, currency: &str) -> String {
        let decimals = amount
            .split_once('.')
            .map_or(0, |(_, decimals)| decimals.len())
            .to_string();
        let options = [
            ("style", "currency"),
            ("currency", currency),
            ("minimumFractionDigits", decimals.as_str()),
            ("maximumFractionDigits", decimals.as_str()),
        ];
        self.number(amount, &options)
            .unwrap_or_else(|| format!("{amount}\u{a0}{currency}"))
    }

    fn relative(&self, seconds: u32, is_ahead: bool) -> String {
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

    fn moment(&self, time: &str, style: &str) -> String {
        let options = [("dateStyle", "long"), ("timeStyle", style)];
        DateTimeFormat::new(&self.locale, &object(&options))
            .and_then(|format| format.format(&Date::new(&JsValue::from_str(time))))
            .unwrap_or_else(|_| time.to_owned())
    }

    fn number(&self, number: &str, options: &[(&str, &str)]) -> Option<String> {
        let format = NumberFormat::new(&self.locale, &object(options)).ok()?;
        Some(format.format(number))
    }
}
