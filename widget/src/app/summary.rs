//! The summary of the purchase, with its shop and price: always on the screen.

use leptos::html::Div;
use leptos::prelude::*;

use crate::components::HelpLink;
use crate::i18n::use_i18n;
use crate::state::phase::Phase;
use crate::state::use_checkout;

/// What is sold. The language menu follows it, see `element`.
#[component]
pub(super) fn Summary() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let is_stopped = Memo::new(move |_| checkout.phase.get() == Phase::Error);
    let content = move || {
        let has_offer = checkout.offer.with(Option::is_some);
        if has_offer || checkout.donation.with(Option::is_some) && !is_stopped.get() {
            view! { <Sold has_help=has_offer /> }.into_any()
        } else if is_stopped.get() {
            let store = checkout.store_name();
            let store = (!store.is_empty()).then(|| {
                view! {
                    <p class="store" part="store">
                        <bdi>{store}</bdi>
                    </p>
                }
            });
            store.into_any()
        } else {
            view! {
                <div class="bar"></div>
                <div class="bar"></div>
            }
            .into_any()
        }
    };
    view! {
        <aside class="summary" part="summary" aria-label=i18n.text("order")>
            <div class="live">{content}</div>
        </aside>
    }
}

/// What the page's script has drawn, for the first list as well.
#[component]
fn Sold(has_help: bool) -> impl IntoView {
    let checkout = use_checkout();
    let place = NodeRef::<Div>::new();
    place.on_load(move |place| {
        if let Some(shared) = checkout.shared() {
            let _ = place.prepend_with_node_1(&shared.host.about());
        }
    });
    view! {
        <div class="order" node_ref=place>
            {has_help.then(|| view! { <HelpLink class="quiet help" /> })}
        </div>
    }
}
