//! Views that are built anew instead of changed in place.

use leptos::either::Either;
use leptos::prelude::*;

/// Builds a view whenever `key` changes, with new elements. A view that is changed in place would keep the old ones, and
/// with them what the customer has typed, ticked or opened, and animations that have ended.
pub(crate) fn renewed<K>(
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
