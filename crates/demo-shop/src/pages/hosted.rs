//! `GET /hosted` asks for what the payment service's own page needs; `POST /hosted` opens a hosted order and shows its
//! checkout, with that page in a frame or in the whole window.

use std::sync::Arc;

use axum::extract::{Form, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::layout::{Checkout as Shown, page};
use crate::html::Html;
use crate::order_book::Facts;
use crate::price::price;
use crate::proxy_client::{Hosted, NewOrder};
use crate::shop::{Checkout, Shop};

/// What is sold here.
const SKU: &str = "ebook";

#[derive(Deserialize)]
pub(crate) struct Wanted {
    email: String,
    display: String,
}

pub(crate) async fn show(State(shop): State<Arc<Shop>>) -> Response {
    render(&shop, StatusCode::OK, "")
}

/// The query of `/cart/{reference}` that says how the service's page is shown.
#[derive(Deserialize)]
pub(crate) struct Look {
    #[serde(default)]
    pub(crate) display: String,
}

impl Look {
    /// One of the element's two ways; the frame for anything else.
    pub(crate) fn of(Query(look): Query<Self>) -> &'static str {
        if look.display == "redirect" {
            "redirect"
        } else {
            "frame"
        }
    }
}

pub(crate) async fn check_out(
    State(shop): State<Arc<Shop>>,
    Form(wanted): Form<Wanted>,
) -> Response {
    let product = shop.catalogue.find(SKU).expect("a test looks at the shelf");
    let currency = shop.settings.currency;
    let amount = product.price.padded(currency.decimals());
    let reference = (shop.settings.new_reference)();
    let order = NewOrder {
        reference: &reference,
        title: &product.title,
        lines: &[],
        amount,
        currency,
        hosted: Some(Hosted {
            customer_email: wanted.email.trim(),
        }),
    };
    let opened = match shop.proxy.open(order).await {
        Ok(opened) => opened,
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "no hosted order");
            let problem = "The payment page cannot be reached right now. Nothing was charged; check the \
                           e-mail address, and try again in a moment.";
            return render(&shop, StatusCode::BAD_GATEWAY, problem);
        }
    };
    shop.orders().opened(Facts {
        order_id: opened.order_id,
        reference: reference.clone(),
        title: product.title.clone(),
        amount: amount.to_string(),
        currency: currency.to_string(),
    });
    let look = Query(Look {
        display: wanted.display,
    });
    let to = format!("/cart/{reference}?display={}", Look::of(look));
    let checkout = Checkout {
        title: product.title.clone(),
        price: price(amount, currency),
        client_token: opened.client_token,
    };
    shop.checkouts().insert(reference, checkout);
    Redirect::to(&to).into_response()
}

fn render(shop: &Shop, status: StatusCode, problem: &str) -> Response {
    let product = shop.catalogue.find(SKU).expect("a test looks at the shelf");
    let price = price(product.price, shop.settings.currency);
    let main = Html::template(
        include_str!("../../site/hosted.html"),
        &[
            ("title", Html::text(&product.title)),
            ("price", Html::text(&price)),
            ("problem", Html::text(problem)),
        ],
    );
    page(status, &shop.settings, Shown::Frame, &product.title, main)
}
