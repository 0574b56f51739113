//! Drawings of one filled path, and the icons of assets.

use florin_checkout_api::Quote;
use leptos::html::Span;
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

/// The icon of an asset, with the coin of its network where it needs one: the script of the page draws it.
#[component]
pub(crate) fn AssetIcon<'a>(quote: &'a Quote, has_badge: bool) -> impl IntoView + use<> {
    let checkout = use_checkout();
    let (asset, glyph) = (quote.asset.clone(), quote.glyph.clone());
    let badge = quote.badge.clone().filter(|_| has_badge);
    let place = NodeRef::<Span>::new();
    place.on_load(move |place| {
        if let Some(shared) = checkout.shared() {
            let host = &shared.host;
            host.draw_icon(&place, &asset, glyph.as_deref(), badge.as_deref());
        }
    });
    view! { <span class="coin" aria-hidden="true" node_ref=place></span> }
}
