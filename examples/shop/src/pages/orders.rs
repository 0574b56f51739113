//! Pages that open orders at a price of the backend's own: a cart, the hosted flow, and a members' price.

use std::sync::Arc;

use axum::extract::{Form, Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use florin_money::Amount;
use secrecy::ExposeSecret as _;
use serde::Deserialize;

use super::layout::{Checkout as Shown, Html, page};
use super::storefront::not_found;
use crate::cart::{Cart, Line};
use crate::catalogue::{Product, price};
use crate::proxy_client::{Claims, Hosted, NewOrder, OpenError, sign};
use crate::shop::{Checkout, Shop};
use crate::webhook::Facts;

type CartQuery = Vec<(String, String)>;

/// Opens an order, keeps it, and returns the path of its checkout.
async fn open(
    shop: &Shop,
    title: &str,
    lines: &[Line<'_>],
    amount: Amount,
    hosted: Option<Hosted<'_>>,
) -> Result<String, OpenError> {
    let currency = shop.settings.currency;
    let amount = amount.with_min_decimals(currency.decimals());
    let reference = (shop.settings.new_reference)();
    let order = NewOrder {
        reference: &reference,
        title,
        lines,
        amount,
        currency,
        hosted,
    };
    let opened = shop.proxy.open(order).await.inspect_err(|error| {
        tracing::error!(error = error as &dyn std::error::Error, "no order");
    })?;
    shop.orders().opened(Facts {
        order_id: opened.order_id,
        reference: reference.clone(),
        title: title.to_owned(),
        amount: amount.to_string(),
        currency: currency.to_string(),
    });
    let path = format!("/cart/{reference}");
    let checkout = Checkout {
        title: title.to_owned(),
        price: price(amount, currency),
        client_token: opened.client_token,
    };
    shop.checkouts().insert(reference, checkout);
    Ok(path)
}

/// `GET /cart`: a cart.
pub(crate) async fn cart(
    State(shop): State<Arc<Shop>>,
    Query(wanted): Query<CartQuery>,
) -> Response {
    let wanted = if wanted.is_empty() { example() } else { wanted };
    let cart = Cart::of(&shop.catalogue, &wanted);
    render_cart(&shop, &cart, StatusCode::OK, "")
}

/// `POST /cart`: opens an order for a cart and sends the browser to its checkout.
///
/// The price is the backend's: of what the browser sends only skus and quantities are read.
pub(crate) async fn check_out_cart(
    State(shop): State<Arc<Shop>>,
    Form(wanted): Form<CartQuery>,
) -> Response {
    let cart = Cart::of(&shop.catalogue, &wanted);
    let (Ok(total), false) = (cart.total(), cart.is_empty()) else {
        let problem = "Put something in the cart first.";
        return render_cart(&shop, &cart, StatusCode::BAD_REQUEST, problem);
    };
    let opened = open(&shop, &cart.title(), cart.lines(), total, None).await;
    let Ok(path) = opened else {
        let problem = "The checkout cannot be reached right now. Nothing was charged; \
                       please try again in a moment.";
        return render_cart(&shop, &cart, StatusCode::BAD_GATEWAY, problem);
    };
    Redirect::to(&path).into_response()
}

/// The cart of the link in the header, so that there is something to check out.
fn example() -> CartQuery {
    [("mug", "1"), ("sticker", "2")]
        .map(|(sku, quantity)| (sku.to_owned(), quantity.to_owned()))
        .into()
}

fn render_cart(shop: &Shop, cart: &Cart<'_>, status: StatusCode, problem: &str) -> Response {
    let rows = shop
        .catalogue
        .products()
        .iter()
        .map(|product| row(shop, cart, product));
    let total = cart.total().unwrap_or(Amount::ZERO);
    let values = [
        ("rows", Html::join(rows)),
        ("total", Html::text(&price(total, shop.settings.currency))),
        ("problem", Html::text(problem)),
    ];
    let main = shop.fill(include_str!("../../site/cart.html"), &values);
    (status, page(shop, Shown::Frame, "Your cart", main)).into_response()
}

fn row(shop: &Shop, cart: &Cart<'_>, product: &Product) -> Html {
    let quantity = cart.quantity_of(&product.sku);
    let each = price(product.price, shop.settings.currency);
    let more = (quantity + 1).min(product.max_quantity);
    let to = |quantity| Html::text(&cart.query_with(&shop.catalogue, &product.sku, quantity));
    shop.fill(
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

/// `GET /cart/{reference}`: the checkout of a cart.
///
/// A real shop shows it to the customer's session alone. Here the reference is the key: it cannot be guessed.
pub(crate) async fn cart_checkout(
    State(shop): State<Arc<Shop>>,
    Path(reference): Path<String>,
    look: Query<HostedQuery>,
) -> Response {
    let Some(checkout) = shop.checkouts().get(&reference).cloned() else {
        return not_found(State(Arc::clone(&shop))).await;
    };
    let values = [
        ("title", Html::text(&checkout.title)),
        ("price", Html::text(&checkout.price)),
        ("display", Html::text(HostedQuery::display(look))),
        ("client_token", Html::text(&checkout.client_token)),
    ];
    let main = shop.fill(include_str!("../../site/cart-checkout.html"), &values);
    page(&shop, Shown::Frame, "Checkout", main)
}

const HOSTED_SKU: &str = "ebook";

#[derive(Deserialize)]
pub(crate) struct HostedForm {
    email: String,
    display: String,
}

/// `GET /hosted`: a form for what the gateway's own page needs.
pub(crate) async fn hosted(State(shop): State<Arc<Shop>>) -> Response {
    render_hosted(&shop, StatusCode::OK, "")
}

/// The query of `/cart/{reference}`: how the gateway's page is shown.
#[derive(Deserialize)]
pub(crate) struct HostedQuery {
    #[serde(default)]
    display: String,
}

impl HostedQuery {
    /// One of the element's two ways; the frame for anything else.
    fn display(Query(look): Query<Self>) -> &'static str {
        if look.display == "redirect" {
            "redirect"
        } else {
            "frame"
        }
    }
}

/// `POST /hosted`: opens a hosted order and shows its checkout, with the gateway's page in a frame or in the whole window.
pub(crate) async fn check_out_hosted(
    State(shop): State<Arc<Shop>>,
    Form(wanted): Form<HostedForm>,
) -> Response {
    let product = hosted_product(&shop);
    let hosted = Some(Hosted {
        customer_email: wanted.email.trim(),
    });
    let opened = open(&shop, &product.title, &[], product.price, hosted).await;
    let Ok(path) = opened else {
        let problem = "The payment page cannot be reached right now. Nothing was charged; check the \
                       e-mail address, and try again in a moment.";
        return render_hosted(&shop, StatusCode::BAD_GATEWAY, problem);
    };
    let look = Query(HostedQuery {
        display: wanted.display,
    });
    let display = HostedQuery::display(look);
    Redirect::to(&format!("{path}?display={display}")).into_response()
}

fn hosted_product(shop: &Shop) -> &Product {
    let product = shop.catalogue.find(HOSTED_SKU);
    product.expect("a test looks at the shelf")
}

fn render_hosted(shop: &Shop, status: StatusCode, problem: &str) -> Response {
    let product = hosted_product(shop);
    let price = price(product.price, shop.settings.currency);
    let values = [
        ("title", Html::text(&product.title)),
        ("price", Html::text(&price)),
        ("problem", Html::text(problem)),
    ];
    let main = shop.fill(include_str!("../../site/hosted.html"), &values);
    (status, page(shop, Shown::Frame, &product.title, main)).into_response()
}

/// The mug's price for members. Only the backend can offer it.
const MEMBERS_PRICE: &str = "10.00";

/// `GET /members`: draws a reference and sends the browser to its page.
pub(crate) async fn members(State(shop): State<Arc<Shop>>) -> Response {
    let reference = (shop.settings.new_reference)();
    Redirect::to(&format!("/members/{reference}")).into_response()
}

/// `GET /members/{reference}`: a price of the backend's own, signed into a token. The proxy is not called: the page opens its order
/// with the token.
///
/// The address holds the reference, so that a page that is loaded again signs for the same order.
pub(crate) async fn members_checkout(
    State(shop): State<Arc<Shop>>,
    Path(reference): Path<String>,
) -> Response {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if reference.len() > 64 || !reference.chars().all(fits) {
        return not_found(State(shop)).await;
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
    let values = [
        ("price", Html::text(&price)),
        ("order_token", Html::text(&token)),
    ];
    let main = shop.fill(include_str!("../../site/members.html"), &values);
    page(&shop, Shown::Frame, title, main)
}
