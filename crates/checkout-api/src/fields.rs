//! Reading JSON without knowing who parsed it: the browser's own parser in the widget, `serde_json` in tests.

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

pub(crate) fn text(fields: &impl Fields, key: &'static str) -> Result<String, Unreadable> {
    fields.text(key).ok_or(Unreadable(key))
}

pub(crate) fn number(fields: &impl Fields, key: &'static str) -> Result<u32, Unreadable> {
    fields.number(key).ok_or(Unreadable(key))
}

pub(crate) fn flag(fields: &impl Fields, key: &'static str) -> Result<bool, Unreadable> {
    fields.flag(key).ok_or(Unreadable(key))
}

pub(crate) fn amount(fields: &impl Fields, key: &'static str) -> Result<AmountText, Unreadable> {
    AmountText::parse(&text(fields, key)?).map_err(|_| Unreadable(key))
}

/// An amount that may be absent, but is an amount when it is there.
pub(crate) fn maybe_amount(
    fields: &impl Fields,
    key: &'static str,
) -> Result<Option<AmountText>, Unreadable> {
    fields
        .text(key)
        .map(|text| AmountText::parse(&text).map_err(|_| Unreadable(key)))
        .transpose()
}
