//! The customer's language.

pub mod template;

#[cfg(target_arch = "wasm32")]
mod language;

#[cfg(target_arch = "wasm32")]
pub(crate) use self::language::{I18n, Language};

#[cfg(target_arch = "wasm32")]
pub(crate) fn use_i18n() -> I18n {
    leptos::prelude::expect_context()
}
