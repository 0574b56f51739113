//! `GET /cart/{reference}`: the checkout of a cart.
//!
//! A real shop shows it to the customer's session alone. Here the reference is the key: it cannot be guessed.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::hosted::Look;
use super::layout::{Checkout as Shown, page};
use super::not_found;
use crate::html::Html;
use crate::shop::Shop;

pub(crate) async fn show(
    State(shop): State<Arc<Shop>>,
    Path(reference): Path<String>,
    look: Query<Look>,
) -> Response {
    let Some(checkout) = shop.checkouts().get(&reference).cloned() else {
        return not_found::show(State(Arc::clone(&shop))).await;
    };
    let main = Html::template(
        include_str!("../../site/cart-checkout.html"),
        &[
            ("title", Html::text(&checkout.title)),
            ("price", Html::text(&checkout.price)),
            ("display", Html::text(Look::of(look))),
            ("store", Html::text(&shop.settings.store_id)),
            ("client_token", Html::text(&checkout.client_token)),
        ],
    );
    page(
        StatusCode::OK,
        &shop.settings,
        Shown::Frame,
        "Checkout",
        main,
    )
}
