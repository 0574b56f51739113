//! Pages that open orders at a price of the backend's own: a cart, the hosted flow, and a members' price.

use std::sync::Arc;

use axum::extract::{Form, Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use florin_money::Amount;
use serde::Deserialize;

use super::layout::{Checkout as Shown, Html, page};
use super::storefront::not_found;
use crate::cart::{Cart, Line};
use crate::catalogue::{Product, price};
use crate::proxy_client::{NewOrder, sign};
use crate::shop::{Checkout, Shop};
use crate::webhook::Facts;

type CartQuery = Vec<(String, String)>;

/// Opens an order, keeps it, and returns the path of its checkout.
async fn open(
    shop: &Shop,
    title: &str,
    lines: &[Line<'_>],
    amount: Amount,
    hosted_email: Option<&str>,
) -> anyhow::Result<String> {
    let currency = shop.settings.currency;
    let amount = amount.with_min_decimals(currency.decimals());
    let reference = (shop.settings.new_reference)();
    let order = NewOrder {
        reference: &reference,
        title,
        lines,
        amount,
        hosted_email,
    };
    let opened = shop.proxy.open(&shop.settings, order).await;
    let opened = opened.inspect_err(|error| tracing::error!("no order: {error:#}"))?;
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
    let email = Some(wanted.email.trim());
    let opened = open(&shop, &product.title, &[], product.price, email).await;
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
    product.expect("the catalogue has the e-book")
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
    let title = "Enamel mug, for members";
    let amount = Amount::parse(MEMBERS_PRICE).expect("our own price");
    let token = sign(&shop.settings, &reference, title, amount);
    let price = price(amount, shop.settings.currency);
    let values = [
        ("price", Html::text(&price)),
        ("order_token", Html::text(&token)),
    ];
    let main = shop.fill(include_str!("../../site/members.html"), &values);
    page(&shop, Shown::Frame, title, main)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use axum::body::to_bytes;
    use axum::http::HeaderMap;
    use axum::routing::post;
    use axum::{Json, Router};
    use serde_json::{Value, json};
    use tokio::net::TcpListener;

    use super::*;
    use crate::shop::tests::{SECRET_KEY, TOKEN_KEY, shop_at};

    type Asked = Arc<Mutex<Vec<(HeaderMap, Value)>>>;

    /// A shop whose proxy answers every order with `status`, and keeps its requests.
    async fn shop(status: StatusCode) -> (Arc<Shop>, Asked) {
        let asked = Asked::default();
        let kept = asked.clone();
        let open = async move |headers: HeaderMap, Json(body): Json<Value>| {
            kept.lock().unwrap().push((headers, body));
            let response = json!({ "order": { "id": "ord_9" }, "client_token": "ct_9" });
            (status, Json(response))
        };
        let routes = Router::new().route("/v1/orders", post(open));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        (shop_at(&url), asked)
    }

    async fn check_out(shop: &Arc<Shop>, wanted: &[(&str, &str)]) -> Response {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let wanted = wanted.iter().map(owned).collect();
        check_out_cart(State(shop.clone()), Form(wanted)).await
    }

    fn location(response: &Response) -> &str {
        response.headers()["location"].to_str().unwrap()
    }

    async fn text(response: Response) -> String {
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        String::from_utf8(body.to_vec()).unwrap()
    }

    async fn checkout_of(shop: &Arc<Shop>, reference: &str) -> Response {
        let look = Query(HostedQuery {
            display: String::new(),
        });
        cart_checkout(State(shop.clone()), Path(reference.to_owned()), look).await
    }

    #[tokio::test]
    async fn the_backend_names_the_price_and_the_page_gets_the_token() {
        let (shop, asked) = shop(StatusCode::CREATED).await;
        let wanted = [("mug", "1"), ("sticker", "2"), ("amount", "0.01")];
        let response = check_out(&shop, &wanted).await;
        assert_eq!(response.status(), StatusCode::SEE_OTHER);
        assert_eq!(location(&response), "/cart/cart-1");
        let (headers, body) = asked.lock().unwrap()[0].clone();
        assert_eq!(headers["authorization"], format!("Bearer {SECRET_KEY}"));
        assert_eq!(headers["idempotency-key"], "cart-1");
        let line = |title: &str, quantity: u32, unit_amount: &str| json!({ "title": title, "quantity": quantity, "unit_amount": unit_amount });
        let expected = json!({
            "amount": "15.50", "currency": "USD", "reference": "cart-1",
            "title": "1 × Enamel mug, 2 × Sticker",
            "lines": [line("Enamel mug", 1, "12.50"), line("Sticker", 2, "1.50")],
        });
        assert_eq!(body, expected);
        let page = text(checkout_of(&shop, "cart-1").await).await;
        let element = "<florin-checkout store=\"demo\" client-token=\"ct_9\" display=\"frame\">";
        assert!(
            page.contains(element) && !page.contains(SECRET_KEY),
            "{page}"
        );
        let orders = serde_json::to_value(shop.orders().newest_first()).unwrap();
        let known = (&orders[0]["id"], &orders[0]["paid_by"]);
        assert_eq!(known, (&json!("ord_9"), &Value::Null));
        let another = checkout_of(&shop, "cart-of-another").await;
        assert_eq!(another.status(), StatusCode::NOT_FOUND);
    }

    #[tokio::test]
    async fn a_members_price_is_in_a_token_and_its_key_is_nowhere() {
        let (shop, asked) = shop(StatusCode::CREATED).await;
        let begun = members(State(shop.clone())).await;
        assert_eq!(location(&begun), "/members/cart-1");
        let page = async |reference: &str| {
            members_checkout(State(shop.clone()), Path(reference.to_owned())).await
        };
        let shown = text(page("cart-1").await).await;
        let (_, token) = shown.split_once("order-token=\"").unwrap();
        let (token, _) = token.split_once('"').unwrap();
        assert_eq!(token.split('.').count(), 3);
        assert!(!shown.contains(TOKEN_KEY) && !shown.contains(SECRET_KEY));
        let again = text(page("cart-1").await).await;
        assert!(again.contains(token), "loaded again, it is the same order");
        assert!(asked.lock().unwrap().is_empty(), "the proxy is not asked");
        assert_eq!(page("\">").await.status(), StatusCode::NOT_FOUND);
    }

    #[tokio::test]
    async fn an_empty_cart_and_a_proxy_that_refuses_or_is_down_open_nothing() {
        let (shop, asked) = shop(StatusCode::CONFLICT).await;
        let empty = check_out(&shop, &[("mug", "0")]).await;
        assert_eq!(empty.status(), StatusCode::BAD_REQUEST);
        assert!(asked.lock().unwrap().is_empty());
        for shop in [shop, shop_at("http://127.0.0.1:9")] {
            let response = check_out(&shop, &[("mug", "1")]).await;
            assert_eq!(response.status(), StatusCode::BAD_GATEWAY);
            let page = text(response).await;
            assert!(page.contains("Nothing was charged"), "{page}");
            assert!(shop.orders().newest_first().is_empty());
        }
    }
}
