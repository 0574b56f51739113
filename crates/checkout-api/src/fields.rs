//! Reading JSON without knowing who parsed it: the browser's own parser in the widget, `serde_json` in tests.

use core::cell::Cell;
use core::fmt;

use money::AmountText;

/// The members of one JSON object.
pub trait Fields: Sized {
    /// A string member.
    fn text(&self, key: &'static str) -> Option<String>;
    /// A whole, non-negative number below 2³².
    fn number(&self, key: &'static str) -> Option<u32>;
    /// A boolean member.
    fn flag(&self, key: &'static str) -> Option<bool>;
    /// An object member.
    fn object(&self, key: &'static str) -> Option<Self>;
    /// A member that is a list of strings.
    fn texts(&self, key: &'static str) -> Option<Vec<String>>;
}

/// The member that is missing or not of its type: the page is older or newer than the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable(pub &'static str);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the member `{}` is missing or not of its type", self.0)
    }
}

impl core::error::Error for Unreadable {}

/// Reads one object's members, and remembers the first that cannot be read.
///
/// Whoever reads looks once, at the end, instead of giving up at each member: a way out of every line, each freeing
/// what was read until then, would be half of all the code that reads.
pub(crate) struct Reader<'a, F> {
    fields: &'a F,
    unreadable: Cell<Option<&'static str>>,
}

impl<'a, F: Fields> Reader<'a, F> {
    pub(crate) fn new(fields: &'a F) -> Self {
        Self {
            fields,
            unreadable: Cell::new(None),
        }
    }

    pub(crate) fn text(&self, key: &'static str) -> String {
        self.or_empty(key, self.fields.text(key))
    }

    pub(crate) fn texts(&self, key: &'static str) -> Vec<String> {
        self.or_empty(key, self.fields.texts(key))
    }

    pub(crate) fn number(&self, key: &'static str) -> u32 {
        self.or_empty(key, self.fields.number(key))
    }

    pub(crate) fn flag(&self, key: &'static str) -> bool {
        self.or_empty(key, self.fields.flag(key))
    }

    pub(crate) fn amount(&self, key: &'static str) -> AmountText {
        let amount = self.fields.text(key).and_then(AmountText::accept);
        self.or_empty(key, amount)
    }

    pub(crate) fn amounts(&self, key: &'static str) -> Vec<AmountText> {
        let texts = self.texts(key).into_iter();
        texts
            .map(|text| self.or_empty(key, AmountText::accept(text)))
            .collect()
    }

    /// An amount that may be absent, but is an amount when it is there.
    pub(crate) fn maybe_amount(&self, key: &'static str) -> Option<AmountText> {
        let text = self.fields.text(key)?;
        Some(self.or_empty(key, AmountText::accept(text)))
    }

    /// One of the words of a closed list. There is no empty one, so this is to be read first.
    pub(crate) fn word<T: Copy>(
        &self,
        key: &'static str,
        known: &[(T, &str)],
    ) -> Result<T, Unreadable> {
        self.maybe_word(key, known)?.ok_or(Unreadable(key))
    }

    /// A word that may be absent, but is of its list when it is there.
    pub(crate) fn maybe_word<T: Copy>(
        &self,
        key: &'static str,
        known: &[(T, &str)],
    ) -> Result<Option<T>, Unreadable> {
        let Some(word) = self.fields.text(key) else {
            return Ok(None);
        };
        let known = known.iter().find(|(_, known)| *known == word);
        known.map(|(value, _)| Some(*value)).ok_or(Unreadable(key))
    }

    /// What was read, if all of it could be.
    pub(crate) fn end<T>(self, read: T) -> Result<T, Unreadable> {
        match self.unreadable.get() {
            None => Ok(read),
            Some(key) => Err(Unreadable(key)),
        }
    }

    fn or_empty<T: Default>(&self, key: &'static str, value: Option<T>) -> T {
        value.unwrap_or_else(|| {
            self.unreadable.set(self.unreadable.get().or(Some(key)));
            T::default()
        })
    }
}
