//! JSON that the browser has parsed, read member by member.

use checkout_api::Fields;
use js_sys::{Array, Reflect};
use wasm_bindgen::{JsCast as _, JsValue};

/// A value out of `JSON.parse`.
pub(crate) struct Parsed(pub(crate) JsValue);

impl Parsed {
    /// The text of a member whose name is only known when it is asked for.
    pub(crate) fn text_of(&self, key: &str) -> Option<String> {
        self.member(key)?.as_string()
    }

    pub(crate) fn member(&self, key: &str) -> Option<JsValue> {
        Reflect::get(&self.0, &JsValue::from_str(key)).ok()
    }
}

impl Fields for Parsed {
    fn text(&self, key: &'static str) -> Option<String> {
        self.member(key)?.as_string().map(shown)
    }

    fn number(&self, key: &'static str) -> Option<u32> {
        whole(self.member(key)?.as_f64()?)
    }

    fn flag(&self, key: &'static str) -> Option<bool> {
        self.member(key)?.as_bool()
    }

    fn object(&self, key: &'static str) -> Option<Self> {
        self.member(key).filter(JsValue::is_object).map(Self)
    }

    fn texts(&self, key: &'static str) -> Option<Vec<String>> {
        let list: Array = self.member(key)?.dyn_into().ok()?;
        list.iter()
            .map(|text| text.as_string().map(shown))
            .collect()
    }
}

/// Without the signs that a browser obeys instead of showing: overrides and isolates, by which one name could turn round
/// the amount or the address beside it, and controls.
fn shown(mut text: String) -> String {
    text.retain(|sign| {
        let turns = matches!(sign, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        !turns && !sign.is_control()
    });
    text
}

/// The number if it is whole and fits.
fn whole(number: f64) -> Option<u32> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the comparison below refuses every number that the cast would change"
    )]
    let cast = number as u32;
    #[expect(clippy::float_cmp, reason = "exactly equal is what is meant")]
    let same = f64::from(cast) == number;
    same.then_some(cast)
}
