//! Drawings of one filled path, and the icons of assets: a coloured disc with a glyph of our own drawing, and the network's
//! on its rim where it matters.

use leptos::prelude::*;

use crate::state::use_checkout;

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

/// The icon of an asset, with the coin of its network where it needs one.
#[component]
pub(crate) fn AssetIcon<'a>(asset: &'a str, badge: Option<&'a str>) -> impl IntoView + use<> {
    let badge = badge.map(|coin| view! { <span class="badge">{disc(coin)}</span> });
    view! {
        <span class="coin" aria-hidden="true">
            {disc(asset)}
            {badge}
        </span>
    }
}

fn disc(code: &str) -> AnyView {
    let glyph = use_checkout()
        .shared()
        .and_then(|shared| shared.host.glyph(code));
    if let Some(path) = glyph {
        let class = format!("disc {}", code.to_ascii_lowercase());
        view! { <Drawing class=class view_box="0 0 24 24" path=path /> }.into_any()
    } else {
        let initial = code.chars().next().map(String::from);
        view! { <span class="disc">{initial}</span> }.into_any()
    }
}
