//! Texts of a language file, and their gaps.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// A text of a language file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// One text for every case.
    One(String),
    /// A text for each grammatical number, by its category of `Intl.PluralRules`; every language has `other`.
    Counted(BTreeMap<String, String>),
}

/// By hand, because serde keeps a copy of whatever it reads while it tries one variant of an untagged enum after another:
/// kilobytes of code that no customer needs.
impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or one for each grammatical number")
    }

    fn visit_str<E>(self, text: &str) -> Result<Text, E> {
        Ok(Text::One(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, forms: A) -> Result<Text, A::Error> {
        let forms = BTreeMap::deserialize(MapAccessDeserializer::new(forms))?;
        Ok(Text::Counted(forms))
    }
}

/// What stands before and after the one gap of `template`.
pub fn around(template: &str) -> (&str, &str) {
    let (before, rest) = template.split_once('{').unwrap_or((template, ""));
    let (_, after) = rest.split_once('}').unwrap_or_default();
    (before, after)
}

/// Fills each `{name}` of `template`; a gap without a value stays visible, since a test looks for it.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    // Split, never sliced: a slice's failure message would cost every customer three kilobytes.
    while let Some((before, gap)) = rest.split_once('{') {
        text.push_str(before);
        let Some((name, after)) = gap.split_once('}') else {
            text.push('{');
            rest = gap;
            break;
        };
        match values.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => text.push_str(value),
            None => ["{", name, "}"]
                .into_iter()
                .for_each(|part| text.push_str(part)),
        }
        rest = after;
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::{fs, str};

    use florin_checkout_api::{Mark, Unavailable};
    use strum::VariantArray as _;

    use super::*;

    #[test]
    fn gaps_are_filled_by_name_and_unknown_ones_stay_visible() {
        let values = [("count", "1"), ("required", "3")];
        assert_eq!(fill("{count} of {required}", &values), "1 of 3");
        assert_eq!(fill("{count}{other}", &values), "1{other}");
        assert_eq!(fill("an { alone", &values), "an { alone");
    }

    #[test]
    fn one_gap_may_be_filled_by_an_element() {
        assert_eq!(around("send {amount} now"), ("send ", " now"));
        assert_eq!(around("{amount}"), ("", ""));
        assert_eq!(around("no gap"), ("no gap", ""));
    }

    #[test]
    fn a_value_is_not_searched_for_gaps() {
        let values = [("store", "{title}"), ("title", "x")];
        assert_eq!(fill("{store}", &values), "{title}");
    }

    impl Text {
        /// Every form; the first is that of `other`, which each language has.
        fn forms(&self) -> Vec<&str> {
            match self {
                Self::One(text) => vec![text],
                Self::Counted(forms) => {
                    let rest = forms.iter().filter(|(category, _)| *category != "other");
                    let mut all = vec![forms["other"].as_str()];
                    all.extend(rest.map(|(_, text)| text.as_str()));
                    all
                }
            }
        }
    }

    /// The texts of one section by their keys.
    type Section = BTreeMap<String, Text>;

    /// A language file: its sections by their names.
    fn sections(file: &str) -> BTreeMap<String, Section> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("locales");
        let text = fs::read_to_string(path.join(file)).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// The texts of the screens in English.
    fn screens() -> Section {
        let mut english = sections("en.json");
        let mut texts = Section::new();
        for section in ["list", "first", "later"] {
            for (key, text) in english.remove(section).unwrap() {
                let earlier = texts.insert(key.clone(), text);
                assert!(earlier.is_none(), "{key} is in two sections");
            }
        }
        // The proxy shows it, in a page without scripts.
        texts.remove("noscript");
        texts
    }

    fn gaps(text: &str) -> Vec<&str> {
        let mut gaps: Vec<&str> = text
            .split('{')
            .skip(1)
            .map(|rest| rest.split_once('}').unwrap().0)
            .collect();
        gaps.sort_unstable();
        gaps
    }

    #[test]
    fn every_language_has_the_same_texts_with_the_same_gaps() {
        let english = sections("en.json");
        let names: Vec<&str> = english.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            ["diagnostics", "first", "later", "list", "loader", "wallets"]
        );
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("locales");
        let files: Vec<_> = fs::read_dir(folder).unwrap().collect();
        assert_eq!(files.len(), 50);
        for entry in files {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let translated = sections(&name);
            assert!(
                english.keys().eq(translated.keys()),
                "{name} has other sections"
            );
            for (section, texts) in &translated {
                has_the_texts_of(&english[section], texts, &format!("{name}: {section}"));
            }
        }
    }

    /// Holds a section against the English one.
    fn has_the_texts_of(english: &Section, translated: &Section, place: &str) {
        let keys: Vec<&String> = translated.keys().collect();
        assert_eq!(keys, english.keys().collect::<Vec<_>>(), "{place}");
        for (key, text) in translated {
            let original = &english[key];
            let same_kind = matches!(text, Text::One(_)) == matches!(original, Text::One(_));
            assert!(same_kind, "{place}: {key}");
            for form in text.forms() {
                assert_eq!(gaps(form), gaps(original.forms()[0]), "{place}: {key}");
                assert!(!form.trim().is_empty(), "{place}: {key}");
            }
        }
    }

    #[test]
    fn counted_texts_of_one_language_have_the_same_plural_forms() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("locales");
        for entry in fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let texts = sections(&name);
            let counted = texts.values().flatten().filter_map(|(key, text)| {
                let Text::Counted(forms) = text else {
                    return None;
                };
                Some((key, forms.keys().collect::<Vec<_>>()))
            });
            let counted: Vec<_> = counted.collect();
            for (key, forms) in &counted {
                assert_eq!(*forms, counted[0].1, "{name}: {key}");
            }
        }
    }

    /// The proxy shows it in the customer's language where it knows the store.
    #[test]
    fn the_page_without_scripts_says_why_it_needs_them() {
        let page = include_str!("../../index.html");
        let Text::One(known) = &sections("en.json")["list"]["noscript"] else {
            panic!("it counts nothing");
        };
        assert!(page.contains(&format!("<noscript><p>{known}</p></noscript>")));
    }

    /// A key of a text as modules and scripts write it, up to its quotation mark, written so that this file has none.
    const LOOKUPS: [&str; 6] = [
        ".text(\"",
        ".text_with(\"",
        ".plural(\"",
        " key=\"",
        "word(\"",
        "text(\u{27}",
    ];

    /// Path and text of every file below a folder of the widget.
    fn sources(folder: &str) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.file_name().unwrap() != "tests.rs" {
                    let text = fs::read_to_string(&path).unwrap();
                    found.push((path.to_str().unwrap().to_owned(), text));
                }
            }
        }
        found
    }

    /// The text of all of them.
    fn source(folder: &str) -> String {
        sources(folder).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn screens_ask_for_texts_that_exist_and_for_every_one() {
        // The proxy writes keys as well, into the quotes.
        let sent = serde_json::to_string(&(Unavailable::VARIANTS, Mark::VARIANTS)).unwrap();
        let source = source("src") + &source("js") + &sent;
        let english = screens();
        for lookup in LOOKUPS {
            let mark = lookup.chars().next_back().unwrap();
            for call in source.split(lookup).skip(1) {
                let key = call.split_once(mark).unwrap().0;
                assert!(english.contains_key(key), "{key:?} has no text");
            }
        }
        for key in english.keys() {
            let written = [
                format!("\"{key}\""),
                format!("'{key}'"),
                format!("words.{key}"),
            ];
            let used = written.iter().any(|written| source.contains(written));
            assert!(used, "{key:?} is never shown");
        }
    }

    #[test]
    fn the_script_of_the_wallets_asks_for_texts_that_exist_and_for_every_one() {
        let source = source("js/wallets") + include_str!("../../js/wallets.js");
        let mut sections = sections("en.json");
        let (texts, list) = (sections.remove("wallets").unwrap(), &sections["list"]);
        for key in texts.keys() {
            let end = key.strip_prefix("wallet_").unwrap();
            assert!(source.contains(&format!("'{end}'")), "{key} is never shown");
        }
        for lookup in ["say('", "WalletError('", "reasonOf(error, '", "return '"] {
            for call in source.split(lookup).skip(1) {
                let end = call.split_once('\'').unwrap().0;
                let is_none = end.is_empty();
                let key = format!("wallet_{end}");
                let is_known = texts.contains_key(&key) || list.contains_key(&key);
                assert!(is_none || is_known, "wallet_{end} has no text");
            }
        }
    }

    #[test]
    fn every_app_of_a_phone_has_a_link_with_the_payment_in_it_a_source_and_a_date() {
        let file = include_str!("../../js/wallets/universal_links.json");
        let file: serde_json::Value = serde_json::from_str(file).unwrap();
        for app in file["universal_links"].as_array().unwrap() {
            let text = |member: &str| app[member].as_str().unwrap();
            let link = text("link");
            assert!(
                link.starts_with("https://") && text("source").starts_with("https://"),
                "{app}"
            );
            let date: Vec<_> = text("read").split('-').map(str::len).collect();
            assert_eq!(date, [4, 2, 2], "{app}");
            // The payment is whole: as the checked URI, or as asset, address and amount.
            let is_whole = gaps(link) == ["eip681"] || gaps(link) == ["address", "amount", "asset"];
            assert!(is_whole, "{app}");
            // A link that names no chain would spend real coins for a payment of a test network.
            let names_chain = gaps(link) == ["eip681"];
            assert!(app["test_networks"] == false || names_chain, "{app}");
            assert!(!app["assets"].as_object().unwrap().is_empty(), "{app}");
        }
    }

    /// What is shown once the texts of the section `later` are loaded: the screens after the asset choice and the components
    /// of theirs, and what is announced, or written in the page's title, of their phases.
    const AFTER_THE_CHOICE: [&str; 15] = [
        "screens/ended",
        "screens/instructions",
        "screens/paid",
        "screens/paying",
        "screens/progress",
        "screens/receipt",
        "screens/refund",
        "components/button",
        "components/countdown",
        "components/order_links",
        "components/qr_code",
        "components/text",
        "app.rs",
        "state/announcements",
        "state/updates",
    ];

    #[test]
    fn what_is_shown_before_the_asset_choice_needs_no_later_text() {
        let later = sections("en.json").remove("later").unwrap();
        for (path, source) in sources("src") {
            let (_, name) = path.rsplit_once("/widget/src/").unwrap();
            if AFTER_THE_CHOICE.iter().any(|start| name.starts_with(start)) {
                continue;
            }
            let product = source.split("#[cfg(test)]").next().unwrap();
            for key in later.keys() {
                assert!(
                    !product.contains(&format!("\"{key}\"")),
                    "{name} shows {key:?}, a text of the section `later`"
                );
            }
        }
    }
}
