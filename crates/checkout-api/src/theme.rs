//! What a store says about its checkout's looks.

use crate::Fields;

/// The themes by name; `auto` is `light` or `dark` as the customer's system has it.
pub const THEMES: [&str; 7] = [
    "auto", "light", "dark", "contrast", "paper", "midnight", "sorbet",
];

/// What a store may say otherwise than its theme: `--florin-…` of the element, without its beginning.
pub const TOKENS: [&str; 12] = [
    "accent",
    "on-accent",
    "ground",
    "side",
    "ink",
    "soft",
    "line",
    "warn",
    "bad",
    "radius",
    "font",
    "density",
];

/// Tokens with their values, each one of [`TOKENS`] and at most once. The values are CSS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThemeTokens(pub Vec<(&'static str, String)>);

impl ThemeTokens {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those of the member `theme_tokens`, which may be absent.
    pub(crate) fn read(store: &impl Fields) -> Self {
        let Some(tokens) = store.object("theme_tokens") else {
            return Self::default();
        };
        let read = |name: &&'static str| Some((*name, tokens.text(name)?));
        Self(TOKENS.iter().filter_map(read).collect())
    }
}

#[cfg(feature = "server")]
impl serde::Serialize for ThemeTokens {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
