//! Drawings of one filled path.

use leptos::prelude::*;

/// The path of a tick, from one end of the pen to the other, in a square of 24.
pub(crate) const TICK: &str = "M9.6 17.4 4.5 12.3l1.7-1.7 3.4 3.4 8.2-8.2 1.7 1.7z";

/// A drawing. `label` describes it to a screen reader; without one it is decoration.
#[component]
pub(crate) fn Drawing(
    #[prop(optional, into)] class: Option<String>,
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
