//! An amount as a customer types it.
//!
//! It is read in the notation of the page, as the amounts beside the field are written, and in any other notation that
//! leaves no doubt. Nothing is rounded. An ambiguous text is shown as a choice: no meaning is assumed.

/// The zeros of the scripts whose keyboards write their own digits, each followed by its nine others: Arabic, Persian,
/// Devanagari, Bengali, Gurmukhi, Gujarati, Odia, Tamil, Telugu, Kannada, Malayalam, Thai, Lao, Tibetan, Burmese, Khmer,
/// and the wide digits of East Asian keyboards. Source: Unicode 16.0, `UnicodeData.txt`, category Nd.
const ZEROS: [char; 17] = [
    '\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}', '\u{be6}',
    '\u{c66}', '\u{ce6}', '\u{d66}', '\u{e50}', '\u{ed0}', '\u{f20}', '\u{1040}', '\u{17e0}',
    '\u{ff10}',
];

/// How a page writes amounts of a currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notation {
    /// Begins the decimals.
    decimal: char,
    /// Separates groups of digits; a space where there are none.
    group: char,
    /// The currency's sign.
    sign: String,
    /// The currency's decimals.
    decimals: usize,
}

/// What was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed {
    /// This amount, a decimal text with the currency's decimals.
    Amount(String),
    /// One of these, as such texts.
    Unclear(Vec<String>),
    /// No amount of the currency.
    Nothing,
}

impl Notation {
    /// An amount that [`Self::of`] reads.
    pub const SAMPLE: &str = "10000.55";

    /// Reads the notation from [`Self::SAMPLE`] as the page writes it, `10.000,55 €`. `like`: an amount with the currency's
    /// decimals.
    pub fn of(sample: &str, like: &str) -> Self {
        let parts = sample.split_once("10").and_then(|(before, rest)| {
            let (group, rest) = rest.split_once("000")?;
            let (decimal, after) = rest.split_once("55")?;
            Some((before, group, decimal, after))
        });
        let (before, group, decimal, after) = parts.unwrap_or(("", ",", ".", ""));
        let mark = |mark: &str| plain(mark.chars().next()?);
        Self {
            decimal: mark(decimal).unwrap_or('.'),
            group: mark(group).unwrap_or(' '),
            sign: [before, after].concat().chars().filter_map(plain).collect(),
            decimals: like
                .split_once('.')
                .map_or(0, |(_, decimals)| decimals.len()),
        }
    }

    /// Reads what was typed.
    pub fn read(&self, typed: &str) -> Typed {
        let typed: String = typed.chars().filter_map(plain).collect();
        let sign = self.sign.trim();
        let typed = match typed.trim().strip_prefix(sign) {
            Some(rest) => rest,
            None => typed.trim().trim_end_matches(sign),
        };
        let typed = typed.trim();
        let Some(last) = typed.rfind(|c: char| !c.is_ascii_digit()) else {
            return self.amount(typed, "").map_or(Typed::Nothing, Typed::Amount);
        };
        let mark = typed[last..].chars().next().unwrap_or_default();
        let (before, after) = (&typed[..last], &typed[last + mark.len_utf8()..]);
        // Without decimals, the mark of the page's groups is that alone.
        let is_decimal = matches!(mark, '.' | ',' | ARABIC_DECIMAL)
            && !before.contains(mark)
            && (self.decimals > 0 || mark != self.group);
        let with_decimals = whole(before)
            .filter(|_| is_decimal)
            .and_then(|whole| self.amount(&whole, after));
        let without = whole(typed).and_then(|whole| self.amount(&whole, ""));
        match (with_decimals, without) {
            (None, None) => Typed::Nothing,
            (Some(amount), None) => Typed::Amount(amount),
            // As the page writes it.
            (Some(amount), Some(_)) if mark == self.decimal && self.decimals >= GROUP => {
                Typed::Amount(amount)
            }
            (with_decimals, Some(amount)) => {
                let is_group = mark == ' ' || before.contains(mark) || mark == self.group;
                if is_group && (with_decimals.is_none() || self.decimals < GROUP) {
                    Typed::Amount(amount)
                } else {
                    Typed::Unclear(with_decimals.into_iter().chain([amount]).collect())
                }
            }
        }
    }

    /// A decimal text with the currency's decimals; `None` without digits, or with other decimals than those and zeros.
    fn amount(&self, whole: &str, decimals: &str) -> Option<String> {
        let kept = decimals.trim_end_matches('0');
        let are_digits = decimals.bytes().all(|b| b.is_ascii_digit());
        let is_empty = whole.is_empty() && decimals.is_empty();
        let are_many = decimals.len() > GROUP || kept.len() > self.decimals;
        if !are_digits || is_empty || are_many {
            return None;
        }
        let mut whole = whole;
        while let Some(rest) = whole.strip_prefix('0') {
            whole = rest;
        }
        let whole = if whole.is_empty() { "0" } else { whole };
        let point = if self.decimals == 0 { "" } else { "." };
        Some(format!("{whole}{point}{kept:0<0$}", self.decimals))
    }
}

/// Digits of a group.
const GROUP: usize = 3;
/// The Arabic decimal mark, which begins decimals in every notation.
const ARABIC_DECIMAL: char = '\u{66b}';

/// The digits of a whole number, without the marks between its groups: `1234567` for `1.234.567`, and for `12,34,567` as in
/// India. `None` for any other text.
fn whole(text: &str) -> Option<String> {
    let mark = text.chars().find(|c| !c.is_ascii_digit());
    let Some(mark) = mark else {
        return Some(text.to_owned());
    };
    let mut groups: Vec<&str> = text.split(mark).collect();
    let is_digits = |group: &&str| group.bytes().all(|b| b.is_ascii_digit());
    let (first, last) = (groups.remove(0), groups.pop()?);
    let is_grouped = matches!(mark, '.' | ',' | ' ')
        && (1..=GROUP).contains(&first.len())
        && !first.starts_with('0')
        && last.len() == GROUP
        && [GROUP, 2]
            .iter()
            .any(|size| groups.iter().all(|group| group.len() == *size))
        && groups.iter().chain([&first, &last]).all(is_digits);
    is_grouped.then(|| text.replace(mark, ""))
}

/// The character with Western digits, and marks that have one meaning as one character: a space for what only separates
/// groups. `None` for marks of the writing direction.
fn plain(c: char) -> Option<char> {
    match c {
        '\u{61c}' | '\u{200e}' | '\u{200f}' => None,
        '\u{ff0e}' => Some('.'),
        '\u{ff0c}' => Some(','),
        '\'' | '\u{2019}' | '\u{66c}' => Some(' '),
        c if c.is_whitespace() => Some(' '),
        c => Some(western(c)),
    }
}

fn western(c: char) -> char {
    let digit = |&zero: &char| char::from_digit(u32::from(c).wrapping_sub(u32::from(zero)), 10);
    ZEROS.iter().find_map(digit).unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of pages and an amount with the currency's decimals.
    const ENGLISH: [&str; 2] = ["$10,000.55", "2.00"];
    const GERMAN: [&str; 2] = ["10.000,55\u{a0}€", "2.00"];
    const FRENCH: [&str; 2] = ["10\u{202f}000,55\u{a0}€", "2.00"];
    const SWISS: [&str; 2] = ["CHF\u{a0}10’000.55", "2.00"];
    const HINDI: [&str; 2] = ["₹10,000.55", "2.00"];
    const ARABIC: [&str; 2] = ["\u{200f}10,000.55\u{a0}US$", "2.00"];
    const BRAZILIAN: [&str; 2] = ["R$\u{a0}10.000,55", "2.00"];
    const VIETNAMESE: [&str; 2] = ["10.000,55\u{a0}₫", "2000"];
    const JAPANESE: [&str; 2] = ["￥10,000.55", "200"];
    const ENGLISH_DINAR: [&str; 2] = ["KWD\u{a0}10,000.55", "0.500"];
    const GERMAN_DINAR: [&str; 2] = ["10.000,55\u{a0}KWD", "0.500"];

    fn read([sample, like]: [&str; 2], typed: &str) -> Typed {
        Notation::of(sample, like).read(typed)
    }

    #[track_caller]
    fn is(page: [&str; 2], typed: &str, amount: &str) {
        assert_eq!(
            read(page, typed),
            Typed::Amount(amount.into()),
            "{typed} of {page:?}"
        );
    }

    #[test]
    fn an_amount_is_read_as_the_page_writes_it() {
        for (page, typed, amount) in [
            (ENGLISH, "$1,000", "1000.00"),
            (ENGLISH, "1,000", "1000.00"),
            (ENGLISH, "1,000.00", "1000.00"),
            (ENGLISH, "1,234,567.5", "1234567.50"),
            (GERMAN, "1.000,00", "1000.00"),
            (GERMAN, "1.000,00\u{a0}€", "1000.00"),
            (GERMAN, "50.000", "50000.00"),
            (FRENCH, "1\u{202f}000,00\u{a0}€", "1000.00"),
            (FRENCH, "1 000", "1000.00"),
            (SWISS, "CHF 1’000.50", "1000.50"),
            (SWISS, "1'000", "1000.00"),
            (HINDI, "₹1,00,000.00", "100000.00"),
            (HINDI, "12,34,567", "1234567.00"),
            (ARABIC, "\u{200f}1,000.00\u{a0}US$", "1000.00"),
            (BRAZILIAN, "R$ 1.000,00", "1000.00"),
            (VIETNAMESE, "50.000\u{a0}₫", "50000"),
            (VIETNAMESE, "50.000", "50000"),
            (JAPANESE, "￥1,000", "1000"),
            (ENGLISH_DINAR, "1.000", "1.000"),
            (ENGLISH_DINAR, "1,000.500", "1000.500"),
            (GERMAN_DINAR, "1,000", "1.000"),
        ] {
            is(page, typed, amount);
        }
    }

    #[test]
    fn every_keyboard_has_its_way_to_write_five_and_a_half() {
        let typed = "5.5 5,5 5.50 5,50 ٥٫٥٠ ۵٫۵۰ ٥,٥٠ ५.५० ৫.৫০ ੫.੫੦ ૫.૫૦ ௫.௫௦ ౫.౫౦ ೫.೫೦ ൫.൫൦ ୫.୫୦ ๕.๕๐ \
                     ໕.໕໐ ༥.༥༠ ၅.၅၀ ៥.៥០ ５．５０ ５，５０";
        for typed in typed.split(' ').chain([" 5.50 "]) {
            for page in [ENGLISH, GERMAN, FRENCH, ARABIC] {
                is(page, typed, "5.50");
            }
        }
    }

    #[test]
    fn another_notation_is_read_where_it_leaves_no_doubt() {
        for (page, typed, amount) in [
            (ENGLISH, "1.000,50", "1000.50"),
            (ENGLISH, "1.000.000", "1000000.00"),
            (ENGLISH, "1 000,5", "1000.50"),
            (GERMAN, "1,000.50", "1000.50"),
            (GERMAN, "1,000,000", "1000000.00"),
            (GERMAN, "1000.00", "1000.00"),
            (GERMAN, "0.500", "0.50"),
            (ARABIC, "١٬٠٠٠٫٥٠", "1000.50"),
            (ARABIC, "٥٫٠٠٠", "5.00"),
            (ENGLISH, ".5", "0.50"),
            (ENGLISH, "5.", "5.00"),
            (ENGLISH, "5", "5.00"),
            (ENGLISH, "5000", "5000.00"),
            (JAPANESE, "1.00", "1"),
            (ENGLISH, "005", "5.00"),
            (ENGLISH, "00", "0.00"),
        ] {
            is(page, typed, amount);
        }
    }

    #[test]
    fn what_could_be_two_amounts_is_asked() {
        for (page, typed, amounts) in [
            (ENGLISH, "1.000", &["1.00", "1000.00"][..]),
            (ENGLISH, "1.500", &["1.50", "1500.00"]),
            (GERMAN, "1,000", &["1.00", "1000.00"]),
            (FRENCH, "1.000", &["1.00", "1000.00"]),
            (FRENCH, "1,000", &["1.00", "1000.00"]),
            (JAPANESE, "1.000", &["1", "1000"]),
            (ENGLISH_DINAR, "1,000", &["1.000", "1000.000"]),
            (GERMAN_DINAR, "1.000", &["1.000", "1000.000"]),
            // Too many decimals for the currency: the other meaning is not assumed either.
            (ENGLISH, "5.555", &["5555.00"]),
        ] {
            let amounts = amounts.iter().map(ToString::to_string).collect();
            assert_eq!(
                read(page, typed),
                Typed::Unclear(amounts),
                "{typed} of {page:?}"
            );
        }
    }

    #[test]
    fn any_other_text_is_no_amount() {
        let typed = ". , five -5 −5 5..5 1,2,3 1,0000 1.000.00 1,000,00 1.5.5 0,000,000 1e3 0x10 5% 1,000.005 ½ 5,-";
        for typed in typed.split(' ').chain(["", " ", "5 50", "5.5 5"]) {
            assert_eq!(read(ENGLISH, typed), Typed::Nothing, "{typed}");
        }
        for typed in ["1.5", "1,00"] {
            assert_eq!(read(JAPANESE, typed), Typed::Nothing, "{typed}");
        }
    }

    #[test]
    fn a_page_that_writes_no_sample_is_read_by_points() {
        is(["", "2.00"], "1,000.50", "1000.50");
    }
}
