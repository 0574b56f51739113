//! Requests to the proxy, with the order's token.

use std::cell::RefCell;

use florin_checkout_api::{DonationView, ErrorBody, OpenAttempt, OrderView};
use gloo_net::http::{RequestBuilder, Response};
use js_sys::{JSON, Promise};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, ReadableStreamDefaultReader, RequestCache};

use crate::format::links::handoff;
use crate::from_js::{from_js, from_json};
use crate::host::{Host, HostResponse};
use crate::state::{Chosen, Opened, Problem, Quotes, Request};

/// A request that takes longer is given up and sent again.
const TIMEOUT_MS: u32 = 20_000;

pub(super) struct Requests {
    host: Host,
    /// The proxy's address; ends in a slash.
    base: String,
    token: RefCell<String>,
    /// The order's first prices, requested by the script that opened it: they, or a promise of them.
    first_quotes: RefCell<Option<JsValue>>,
    /// Of the last order that a poll read.
    etag: RefCell<String>,
}

impl Requests {
    pub(super) fn new(host: Host) -> Self {
        Self {
            base: host.base(),
            host,
            token: RefCell::default(),
            first_quotes: RefCell::default(),
            etag: RefCell::default(),
        }
    }

    /// Opens the order and keeps its token for the requests that follow.
    pub(super) async fn open(&self, opening: Promise) -> Result<Opened, Problem> {
        let response = JsFuture::from(opening).await;
        let response = response.map_err(|_| Problem::Network)?;
        self.read_opening(&response.unchecked_into())
    }

    /// Opens the order with an attempt in this asset.
    pub(super) async fn choose(&self, choice: OpenAttempt) -> Result<Chosen, Problem> {
        let opening = self.host.choose(&choice.crypto_code, &choice.quote_id);
        let response = JsFuture::from(opening).await;
        let response: HostResponse = response.map_err(|_| Problem::Network)?.unchecked_into();
        let Opened::Order(order) = self.read_opening(&response)? else {
            return Err(Problem::Unreadable);
        };
        let refusal = response.refusal();
        let refusal = read::<Option<ErrorBody>>(refusal)?;
        Ok(Chosen {
            order: *order,
            refusal: refusal.map(Problem::Refused),
        })
    }

    /// What opening the order brought, with its prices, if it came before the program.
    pub(super) fn take_opening(&self) -> Option<Result<Opened, Problem>> {
        let response = self.host.take_opening()?;
        Some(self.read_opening(&response))
    }

    pub(super) fn take_first_quotes(&self) -> Option<Result<Quotes, Problem>> {
        let quotes = self
            .first_quotes
            .borrow_mut()
            .take_if(|quotes| quotes.is_array())?;
        Some(read_quotes(quotes))
    }

    fn read_opening(&self, response: &HostResponse) -> Result<Opened, Problem> {
        let body = response.body();
        if response.asks() == Some(true) {
            return read::<DonationView>(body).map(Opened::Donation);
        }
        let Some(token) = response.token() else {
            if response.offers() == Some(true) {
                let quotes = response.quotes();
                let quotes = quotes.is_array().then(|| read_quotes(quotes));
                return Ok(Opened::Offer(Box::new(read(body)?), quotes.transpose()?));
            }
            return Err(Problem::of_refusal(response.status(), from_js(body).ok()));
        };
        *self.token.borrow_mut() = token;
        *self.first_quotes.borrow_mut() = Some(response.quotes());
        self.etag.borrow_mut().clear();
        read(body).map(Box::new).map(Opened::Order)
    }

    /// Starts to open the order: the script sends the request at once.
    pub(super) fn start_opening(&self, as_new: bool, amount: &str) -> Promise {
        self.host.open(as_new, amount)
    }

    pub(super) fn link(&self, store: &str) -> String {
        handoff(&self.base, store, &self.token.borrow())
    }

    /// The order; `None` when it did not change.
    pub(super) async fn order(&self) -> Result<Option<OrderView>, Problem> {
        let token = self.token.borrow().clone();
        let etag = self.etag.borrow().clone();
        let mut request = self.request("", Method::Get);
        if !etag.is_empty() {
            request = request.header("if-none-match", &etag);
        }
        let response = send(request.build()).await?;
        if response.status() == 304 {
            return Ok(None);
        }
        let etag = response.headers().get("etag");
        let order = receive(response).await?;
        // The etag of an order that was left meanwhile is not for the next one.
        if *self.token.borrow() == token {
            *self.etag.borrow_mut() = etag.unwrap_or_default();
        }
        Ok(Some(order))
    }

    pub(super) async fn quotes(&self) -> Result<Quotes, Problem> {
        let first = self.first_quotes.take();
        let first = first.and_then(|first| first.dyn_into::<Promise>().ok());
        if let Some(first) = first
            && let Ok(quotes) = JsFuture::from(first).await
            && quotes.is_object()
        {
            return read_quotes(quotes);
        }
        let response = self.get("/quotes").await?;
        let id = response.headers().get("x-request-id");
        let quotes = parse(&body(response).await?).and_then(read_quotes);
        quotes.map_err(|_| Problem::of_unread(id.as_deref()))
    }

    pub(super) async fn receipt(&self) -> Result<String, Problem> {
        body(self.get("/receipt").await?).await
    }

    /// Sends a request of the customer; the response is the order.
    pub(super) async fn send(&self, request: Request) -> Result<OrderView, Problem> {
        let (path, json) = match request {
            Request::Attempt(attempt) => ("/attempt", write(&attempt)),
            Request::Email(email) => ("/email", write(&email)),
            Request::Paid(paid) => ("/paid", write(&paid)),
            Request::RefundAddress(named) => ("/refund-address", write(&named)),
            Request::Session => ("/session", String::from("{}")),
        };
        let request = self
            .request(path, Method::Post)
            .header("content-type", "application/json")
            .body(json);
        receive(send(request).await?).await
    }

    /// The stream of the order's changes, which stays open until `signal` ends it.
    pub(super) async fn events(&self, signal: &AbortSignal) -> Option<ReadableStreamDefaultReader> {
        let request = self.request("/events", Method::Get);
        let request = request.abort_signal(Some(signal));
        let response = send(request.build()).await.ok()?;
        let stream = response.body().filter(|_| response.ok())?;
        Some(stream.get_reader().unchecked_into())
    }

    /// Resolves with `true` if a stream may be opened: it has a place until `signal` ends it.
    pub(super) fn may_stream(&self, signal: &AbortSignal) -> Promise {
        self.host.may_stream(signal)
    }

    async fn get(&self, path: &str) -> Result<Response, Problem> {
        send(self.request(path, Method::Get).build()).await
    }

    fn request(&self, path: &str, method: Method) -> RequestBuilder {
        let mut url = format!("{}v1/checkout{path}", self.base);
        let request = match method {
            Method::Get => {
                url.push_str(&self.host.uncached());
                gloo_net::http::Request::get(&url)
            }
            Method::Post => gloo_net::http::Request::post(&url),
        };
        let timeout = AbortSignal::timeout_with_u32(TIMEOUT_MS);
        request
            .header("authorization", &format!("Bearer {}", self.token.borrow()))
            .cache(RequestCache::NoStore)
            .abort_signal(Some(&timeout))
    }
}

#[derive(Clone, Copy)]
enum Method {
    Get,
    Post,
}

async fn send(
    request: Result<gloo_net::http::Request, gloo_net::Error>,
) -> Result<Response, Problem> {
    let request = request.map_err(|_| Problem::Network)?;
    request.send().await.map_err(|_| Problem::Network)
}

async fn receive<T: DeserializeOwned>(response: Response) -> Result<T, Problem> {
    let id = response.headers().get("x-request-id");
    let read = from_json(&body(response).await?);
    read.map_err(|_| Problem::of_unread(id.as_deref()))
}

async fn body(response: Response) -> Result<String, Problem> {
    let json = response.text().await.map_err(|_| Problem::Network)?;
    if response.ok() {
        Ok(json)
    } else {
        let refusal = from_json(&json).ok();
        Err(Problem::of_refusal(response.status(), refusal))
    }
}

fn read<T: DeserializeOwned>(parsed: JsValue) -> Result<T, Problem> {
    from_js(parsed).map_err(|_| Problem::Unreadable)
}

fn parse(json: &str) -> Result<JsValue, Problem> {
    JSON::parse(json).map_err(|_| Problem::Unreadable)
}

fn read_quotes(parsed: JsValue) -> Result<Quotes, Problem> {
    let json = JSON::stringify(&parsed).ok();
    let json = json.and_then(|json| json.as_string());
    Ok(Quotes {
        json: json.ok_or(Problem::Unreadable)?,
        prices: read(parsed)?,
    })
}

fn write(request: &impl Serialize) -> String {
    serde_json::to_string(request).expect("texts and numbers become JSON")
}
