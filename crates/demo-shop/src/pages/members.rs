//! `GET /members`: a price of the backend's own, signed into a token. The proxy is not called: the page opens its order
//! with the token.
//!
//! The address holds the reference, so that a page that is loaded again signs for the same order.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use money::Amount;
use secrecy::ExposeSecret as _;

use super::layout::{Checkout as Shown, page};
use super::not_found;
use crate::html::Html;
use crate::order_token::{Claims, sign};
use crate::price::price;
use crate::shop::Shop;

/// What members pay for the mug. Nobody else can ask for it.
const MEMBERS_PRICE: &str = "10.00";

pub(crate) async fn begin(State(shop): State<Arc<Shop>>) -> Response {
    let reference = (shop.settings.new_reference)();
    Redirect::to(&format!("/members/{reference}")).into_response()
}

pub(crate) async fn show(State(shop): State<Arc<Shop>>, Path(reference): Path<String>) -> Response {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if reference.len() > 64 || !reference.chars().all(fits) {
        return not_found::show(State(shop)).await;
    }
    let settings = &shop.settings;
    let title = "Enamel mug, for members";
    let amount = Amount::parse(MEMBERS_PRICE).expect("our own price");
    let claims = Claims {
        proxy_url: &settings.proxy_url,
        store_id: &settings.store_id,
        reference: &reference,
        title,
        amount,
        currency: settings.currency,
        now: (settings.now)(),
    };
    let token = sign(&claims, settings.token_key.expose_secret());
    let price = price(amount, settings.currency);
    let main = Html::template(
        include_str!("../../site/members.html"),
        &[
            ("price", Html::text(&price)),
            ("store", Html::text(&settings.store_id)),
            ("order_token", Html::text(&token)),
        ],
    );
    page(StatusCode::OK, settings, Shown::Frame, title, main)
}
