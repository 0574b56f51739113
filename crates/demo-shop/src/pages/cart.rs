//! `GET /cart` shows a cart; `POST /cart` opens an order for it and sends the browser to its checkout.

use std::sync::Arc;

use axum::extract::{Form, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};

use super::layout::{Checkout as Shown, page};
use crate::cart::Cart;
use crate::catalogue::Product;
use crate::html::Html;
use crate::order_book::Facts;
use crate::price::price;
use crate::proxy_client::NewOrder;
use crate::shop::{Checkout, Shop};

type Wanted = Vec<(String, String)>;

pub(crate) async fn show(State(shop): State<Arc<Shop>>, Query(wanted): Query<Wanted>) -> Response {
    let wanted = if wanted.is_empty() { example() } else { wanted };
    let cart = Cart::of(&shop.catalogue, &wanted);
    render(&shop, &cart, StatusCode::OK, "")
}

/// The price is the backend's: of what the browser sends only skus and quantities are read.
pub(crate) async fn check_out(
    State(shop): State<Arc<Shop>>,
    Form(wanted): Form<Wanted>,
) -> Response {
    let cart = Cart::of(&shop.catalogue, &wanted);
    let (Ok(total), false) = (cart.total(), cart.is_empty()) else {
        let problem = "Put something in the cart first.";
        return render(&shop, &cart, StatusCode::BAD_REQUEST, problem);
    };
    let (title, currency) = (cart.title(), shop.settings.currency);
    let amount = total.padded(currency.decimals());
    let reference = (shop.settings.new_reference)();
    let order = NewOrder {
        reference: &reference,
        title: &title,
        lines: cart.lines(),
        amount,
        currency,
        hosted: None,
    };
    let opened = match shop.proxy.open(order).await {
        Ok(opened) => opened,
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "no order for a cart"
            );
            let problem = "The checkout cannot be reached right now. Nothing was charged; \
                           please try again in a moment.";
            return render(&shop, &cart, StatusCode::BAD_GATEWAY, problem);
        }
    };
    shop.orders().opened(Facts {
        order_id: opened.order_id,
        reference: reference.clone(),
        title: title.clone(),
        amount: amount.to_string(),
        currency: currency.to_string(),
    });
    let to = format!("/cart/{reference}");
    let checkout = Checkout {
        title,
        price: price(amount, currency),
        client_token: opened.client_token,
    };
    shop.checkouts().insert(reference, checkout);
    Redirect::to(&to).into_response()
}

/// What the link in the header shows, so that there is something to check out.
fn example() -> Wanted {
    [("mug", "1"), ("sticker", "2")]
        .map(|(sku, quantity)| (sku.to_owned(), quantity.to_owned()))
        .into()
}

fn render(shop: &Shop, cart: &Cart<'_>, status: StatusCode, problem: &str) -> Response {
    let rows = shop
        .catalogue
        .products()
        .iter()
        .map(|product| row(shop, cart, product));
    let total = cart.total().unwrap_or(money::Amount::ZERO);
    let main = Html::template(
        include_str!("../../site/cart.html"),
        &[
            ("rows", Html::join(rows)),
            ("total", Html::text(&price(total, shop.settings.currency))),
            ("problem", Html::text(problem)),
        ],
    );
    page(status, &shop.settings, Shown::Frame, "Your cart", main)
}

fn row(shop: &Shop, cart: &Cart<'_>, product: &Product) -> Html {
    let quantity = cart.quantity_of(&product.sku);
    let each = price(product.price, shop.settings.currency);
    let more = (quantity + 1).min(product.max_quantity);
    let to = |quantity| Html::text(&cart.query_with(&shop.catalogue, &product.sku, quantity));
    Html::template(
        include_str!("../../site/cart-row.html"),
        &[
            ("sku", Html::text(&product.sku)),
            ("title", Html::text(&product.title)),
            ("price", Html::text(&each)),
            ("quantity", Html::text(&quantity.to_string())),
            ("less", to(quantity.saturating_sub(1))),
            ("more", to(more)),
        ],
    )
}
