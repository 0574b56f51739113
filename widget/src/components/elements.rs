//! Elements of the page: the focus of the keyboard and of screen readers, and views that are built anew instead of changed
//! in place.

use leptos::either::Either;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{HtmlElement, ShadowRoot};

use crate::browser::{document, later};
use crate::state::Checkout;

/// Moves the focus to the heading of a new screen, unless the customer is busy elsewhere on the shop's page. Returns
/// `true` if it does.
pub(crate) fn focus_heading(checkout: Checkout) -> bool {
    let document = document();
    let own = checkout.shared().map(|shared| {
        let root: ShadowRoot = shared.root.get_root_node().unchecked_into();
        root.host()
    });
    let is_elsewhere = document
        .active_element()
        .is_some_and(|element| element.tag_name() != "BODY" && own != Some(element));
    // In a frame the customer may be busy on the page around it, which is another document.
    if is_elsewhere || !document.has_focus().unwrap_or(false) {
        return false;
    }
    focus(checkout, String::from("h2"));
    true
}

/// Returns `true` if the focus is on the screen, not in the language menu, and not outside the checkout.
pub(crate) fn is_screen_focused(checkout: Checkout) -> bool {
    checkout.shared().is_some_and(|shared| {
        let focused = shared.root.query_selector(".screen :focus");
        focused.is_ok_and(|focused| focused.is_some())
    })
}

/// Moves the focus to the first element that a selector finds, once it is there.
pub(crate) fn focus(checkout: Checkout, selector: String) {
    later(0, move || {
        let found = checkout
            .shared()
            .and_then(|shared| shared.root.query_selector(&selector).ok().flatten());
        if let Some(found) = found {
            let _ = found.unchecked_into::<HtmlElement>().focus();
        }
    });
}

/// Builds a view whenever `key` changes, with new elements. A view that is changed in place would keep the old ones, and
/// with them what the customer has typed, ticked or opened, and animations that have ended.
pub(crate) fn keyed<K>(
    key: Memo<K>,
    mut build: impl FnMut(K) -> AnyView + Send + 'static,
) -> impl IntoView
where
    K: Clone + PartialEq + Send + Sync + 'static,
{
    // The two sides of an `Either` have no elements in common.
    let mut is_left = false;
    move || {
        let key = key.get();
        let view = untrack(|| build(key));
        is_left = !is_left;
        if is_left {
            Either::Left(view)
        } else {
            Either::Right(view)
        }
    }
}
