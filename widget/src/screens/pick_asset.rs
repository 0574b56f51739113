//! The choice of the asset: drawn by the page's script, which has the rules of the list.

use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::closure::Closure;

use crate::browser::{insert, object};
use crate::host::AssetList;
use crate::state::{Checkout, use_checkout};

/// The place of the list, which follows prices and requests.
#[component]
pub(super) fn PickAsset() -> impl IntoView {
    let checkout = use_checkout();
    if checkout.quotes.with_untracked(String::is_empty) {
        checkout.load_quotes();
    }
    let may_leave = checkout.is_choosing.get_untracked();
    let place = NodeRef::<Div>::new();
    Effect::new(move |list: Option<Option<AssetList>>| {
        let (place, shared) = (place.get()?, checkout.shared()?);
        let list = list.flatten();
        let list = list.unwrap_or_else(|| shared.host.list(&place, &calls(checkout), may_leave));
        let quotes = checkout.quotes.get();
        let is_unpriced = checkout.has_unpriced_currency();
        let is_busy = checkout.is_busy.get();
        untrack(|| list.show(&quotes, is_unpriced, is_busy));
        Some(list)
    });
    view! { <div class="screen" data-testid="status-open" node_ref=place></div> }
}

/// `ListCalls` of widget/js/types.d.ts.
fn calls(checkout: Checkout) -> js_sys::Object {
    let choose = move |choice: String| {
        if let Some((crypto_code, quote_id)) = choice.split_once(' ') {
            checkout.open_attempt(crypto_code.to_owned(), quote_id.to_owned());
        }
    };
    let announce = move |text| checkout.announce(text);
    let forget = move |_| checkout.forget_press();
    let leave = move |_| checkout.is_choosing.set(false);
    let reload = move |_| {
        checkout.quotes.set(String::new());
        checkout.load_quotes();
    };
    let calls = object(&[]);
    for (name, call) in [
        ("choose", Closure::<dyn Fn(String)>::new(choose)),
        ("announce", Closure::new(announce)),
        ("forget", Closure::new(forget)),
        ("leave", Closure::new(leave)),
        ("reload", Closure::new(reload)),
    ] {
        insert(&calls, name, &call.into_js_value());
    }
    calls
}
