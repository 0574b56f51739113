//! Drawings of one filled path.

use leptos::prelude::*;

/// A drawing. `label` describes it to a screen reader; without one it is decoration.
#[component]
pub(crate) fn Drawing(
    #[prop(optional)] class: Option<&'static str>,
    #[prop(into)] view_box: String,
    #[prop(into)] path: String,
    #[prop(optional_no_strip)] label: Option<String>,
) -> impl IntoView {
    let is_decoration = label.is_none();
    view! {
        <svg
            class=class
            viewBox=view_box
            role=(!is_decoration).then_some("img")
            aria-label=label
            aria-hidden=is_decoration.then_some("true")
        >
            <path d=path></path>
        </svg>
    }
}
