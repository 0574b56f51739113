//! A customer's page, as far as it talks to the proxy, and a customer on the gateway's hosted page.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::http_response::HttpResponse;
use crate::wait::eventually;

#[derive(Clone, Debug)]
pub struct Customer {
    pub(crate) http: reqwest::Client,
    pub(crate) base: String,
    /// Those of every request.
    pub(crate) headers: Vec<(&'static str, String)>,
}

#[derive(Clone, Debug)]
pub struct Checkout {
    page: Customer,
    token: String,
    pub order: String,
}

impl Customer {
    pub fn from_page_of(&self, origin: &str) -> Self {
        self.with_header("origin", origin)
    }

    /// The same customer, whose every request has this header.
    pub fn with_header(&self, name: &'static str, value: &str) -> Self {
        let mut customer = self.clone();
        customer.headers.retain(|(known, _)| *known != name);
        customer.headers.push((name, value.to_owned()));
        customer
    }

    /// The same customer, who reaches the proxy at this address by this client.
    pub fn through(&self, base: &str, http: reqwest::Client) -> Self {
        Self {
            http,
            base: base.to_owned(),
            ..self.clone()
        }
    }

    /// The same customer, whose every request carries this `Idempotency-Key`.
    pub fn with_key(&self, key: &str) -> Self {
        self.with_header("idempotency-key", key)
    }

    pub async fn open(&self, product: &str) -> Checkout {
        let source = json!({ "store": "demo", "product": product });
        self.checkout_of(&self.request_order(&source).await.with(201))
    }

    /// Opens an order, and its attempt in this asset.
    pub async fn open_with(&self, product: &str, crypto_code: &str) -> Checkout {
        let checkout = self.open(product).await;
        checkout.choose(crypto_code).await;
        checkout
    }

    pub async fn request_order(&self, source: &Value) -> HttpResponse {
        self.send(Method::POST, "/v1/checkout", None, Some(source))
            .await
    }

    /// GET /v1/checkout/offer.
    pub async fn offer(&self, query: &str) -> HttpResponse {
        let path = format!("/v1/checkout/offer?{query}");
        self.send(Method::GET, &path, None, None).await
    }

    /// POST /v1/checkout/offer.
    pub async fn offer_of_token(&self, order_token: &str) -> HttpResponse {
        let request = self.request(Method::POST, "/v1/checkout/offer");
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let response = HttpResponse::of(request.body(format!("order_token={order_token}"))).await;
        response.described(&Method::POST, "/v1/checkout/offer")
    }

    /// Opens an order with the attempt of an asset at a quote of this offer.
    pub async fn choose(&self, source: &Value, offer: &Value, crypto_code: &str) -> HttpResponse {
        let mut quotes = offer["quotes"].as_array().expect("there are prices").iter();
        let quote = quotes.find(|quote| quote["crypto_code"] == crypto_code);
        let quote = quote.unwrap_or_else(|| panic!("{crypto_code} is not offered"));
        let mut request = source.clone();
        request["crypto_code"] = json!(crypto_code);
        request["quote_id"] = quote["quote_id"].clone();
        self.request_order(&request).await
    }

    /// Returns the page of an order that this response opened.
    #[track_caller]
    pub fn checkout_of(&self, opened: &HttpResponse) -> Checkout {
        self.with_token(
            &opened.text_at("/client_token"),
            &opened.text_at("/order/id"),
        )
    }

    /// Returns the page of an order that was opened elsewhere.
    pub fn with_token(&self, token: &str, order: &str) -> Checkout {
        Checkout {
            page: self.clone(),
            token: token.to_owned(),
            order: order.to_owned(),
        }
    }

    pub async fn send(
        &self,
        method: Method,
        path: &str,
        token: Option<&str>,
        body: Option<&Value>,
    ) -> HttpResponse {
        let mut request = self.request(method.clone(), path);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        HttpResponse::of(request).await.described(&method, path)
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        let headers = self.headers.iter();
        headers.fold(request, |request, (name, value)| {
            request.header(*name, value)
        })
    }
}

impl Checkout {
    pub fn token(&self) -> &str {
        &self.token
    }

    pub fn from_page_of(&self, origin: &str) -> Self {
        let page = self.page.from_page_of(origin);
        page.with_token(&self.token, &self.order)
    }

    /// The same page, whose every request carries this `Idempotency-Key`.
    pub fn with_key(&self, key: &str) -> Self {
        let page = self.page.with_key(key);
        page.with_token(&self.token, &self.order)
    }

    pub async fn get(&self, path: &str) -> HttpResponse {
        let path = format!("/v1/checkout{path}");
        self.page
            .send(Method::GET, &path, Some(&self.token), None)
            .await
    }

    pub async fn post(&self, path: &str, body: &Value) -> HttpResponse {
        let path = format!("/v1/checkout{path}");
        self.page
            .send(Method::POST, &path, Some(&self.token), Some(body))
            .await
    }

    pub async fn view(&self) -> Value {
        self.get("").await.with(200).body
    }

    pub async fn quotes(&self) -> Vec<Value> {
        let quotes = self.get("/quotes").await.with(200).body;
        quotes.as_array().expect("a list of quotes").clone()
    }

    pub async fn quote(&self, crypto_code: &str) -> Value {
        let quotes = self.quotes().await;
        let found = quotes
            .into_iter()
            .find(|quote| quote["crypto_code"] == crypto_code);
        found.unwrap_or_else(|| panic!("{crypto_code} is not offered"))
    }

    pub async fn request_attempt(&self, crypto_code: &str) -> HttpResponse {
        let quote = self.quote(crypto_code).await;
        let choice = json!({ "crypto_code": crypto_code, "quote_id": quote["quote_id"] });
        self.post("/attempt", &choice).await
    }

    pub async fn choose(&self, crypto_code: &str) -> Value {
        let view = self.request_attempt(crypto_code).await.with(200).body;
        assert_eq!(view["status"], "awaiting_payment", "{view}");
        assert_eq!(view["attempt"]["crypto_code"], crypto_code, "{view}");
        view
    }

    pub async fn report_paid(&self) -> Value {
        self.post("/paid", &json!({})).await.with(200).body
    }

    pub async fn address(&self) -> String {
        let view = self.view().await;
        crate::http_response::text_at(&view, "/attempt/address")
    }

    pub async fn wait_for(&self, status: &str) -> Value {
        let what = format!("{} is {status}", self.order);
        eventually(&what, async || {
            Some(self.view().await).filter(|view| view["status"] == status)
        })
        .await
    }

    pub async fn stream(&self) -> reqwest::Response {
        let request = self
            .page
            .http
            .get(format!("{}/v1/checkout/events", self.page.base));
        let response = request.bearer_auth(&self.token).send().await;
        response.expect("the proxy answers")
    }
}

#[derive(Clone, Debug)]
pub struct HostedPage {
    pub(crate) http: reqwest::Client,
    /// Where the page is, without its query.
    pub(crate) base: String,
    pub session: String,
}

impl HostedPage {
    /// The page at a `payment_process_url`.
    pub(crate) fn at(http: reqwest::Client, url: &str) -> Self {
        let (base, session) = url
            .split_once("?id=")
            .expect("the page's address ends in its session");
        Self {
            http,
            base: base.to_owned(),
            session: session.to_owned(),
        }
    }

    pub async fn pick(&self, crypto_code: &str) {
        let choice = json!({ "id": self.session, "crypto_code": crypto_code });
        self.post("choose", &choice).await;
    }

    pub async fn pay(&self) {
        let path = format!("../sandbox/invoices/{}/pay", self.session);
        self.post(&path, &json!({ "amount": "rest" })).await;
    }

    async fn post(&self, path: &str, body: &Value) {
        let request = self.http.post(format!("{}/{path}", self.base)).json(body);
        HttpResponse::of(request).await.with(200);
    }
}
