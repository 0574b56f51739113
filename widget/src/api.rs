//! Asking the proxy, with the order's token.

use std::cell::RefCell;

use checkout_api::{ErrorBody, ErrorCode, OrderView, Quote};
use js_sys::{Array, JSON, Promise};
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortSignal, ReadableStreamDefaultReader, Request, RequestCache, RequestInit, Response,
};

use crate::browser::window;
use crate::json::Parsed;
use crate::language::object;

/// An answer that takes longer is given up and asked for again.
const TIMEOUT_MS: u32 = 20_000;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The network is gone, or the proxy.
    Network,
    /// The proxy refused.
    Refused(ErrorBody),
    /// The answer is not of this contract: the page is older or newer than the proxy.
    Unreadable,
}

impl Problem {
    /// The refusal's code.
    pub(crate) fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused(body) => body.code,
            Self::Network | Self::Unreadable => None,
        }
    }

    /// Whether the same question may be answered after a while. A page that is older than the proxy reads the answer
    /// no better then, but a proxy that is older than the page is about to be replaced.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Network | Self::Unreadable => true,
            Self::Refused(body) => matches!(
                body.code,
                Some(ErrorCode::RateLimited | ErrorCode::ServiceUnavailable | ErrorCode::Internal)
            ),
        }
    }
}

/// The proxy's endpoints for one order.
pub(crate) struct Api {
    /// Where the loader came from; ends in a slash.
    base: String,
    token: RefCell<String>,
    /// Of the last order read by asking.
    etag: RefCell<String>,
}

impl Api {
    pub(crate) fn new(base: String) -> Self {
        Self {
            base,
            token: RefCell::default(),
            etag: RefCell::default(),
        }
    }

    /// Asks for another order from here on.
    pub(crate) fn hold(&self, token: String) {
        *self.token.borrow_mut() = token;
        self.etag.borrow_mut().clear();
    }

    /// The order; `None` when it is as it was.
    pub(crate) async fn order(&self) -> Result<Option<OrderView>, Problem> {
        let response = self.send("", None, None).await?;
        if response.status() == 304 {
            return Ok(None);
        }
        let order = read_order(&body(&response).await?)?;
        *self.etag.borrow_mut() = etag(&response);
        Ok(Some(order))
    }

    /// The prices in every asset.
    pub(crate) async fn quotes(&self) -> Result<Vec<Quote>, Problem> {
        let body = body(&self.send("/quotes", None, None).await?).await?;
        let list: Array = body.dyn_into().map_err(|_| Problem::Unreadable)?;
        list.iter()
            .map(|quote| Quote::read(&Parsed(quote)).map_err(|_| Problem::Unreadable))
            .collect()
    }

    /// The receipt of a paid order.
    pub(crate) async fn receipt(&self) -> Result<JsValue, Problem> {
        body(&self.send("/receipt", None, None).await?).await
    }

    /// Opens an attempt or a session, or marks it as paid; the answer is the order.
    pub(crate) async fn post(&self, path: &str, json: String) -> Result<OrderView, Problem> {
        read_order(&body(&self.send(path, Some(json), None).await?).await?)
    }

    /// The stream of the order's changes, until `signal` ends it.
    pub(crate) async fn events(
        &self,
        signal: &AbortSignal,
    ) -> Result<ReadableStreamDefaultReader, Problem> {
        let response = self.send("/events", None, Some(signal)).await?;
        let stream = response.body().filter(|_| response.ok());
        Ok(stream
            .ok_or(Problem::Unreadable)?
            .get_reader()
            .unchecked_into())
    }

    async fn send(
        &self,
        path: &str,
        json: Option<String>,
        signal: Option<&AbortSignal>,
    ) -> Result<Response, Problem> {
        let url = [self.base.as_str(), "v1/checkout", path].concat();
        let bearer = ["Bearer ", self.token.borrow().as_str()].concat();
        let timeout = AbortSignal::timeout_with_u32(TIMEOUT_MS);
        let signal = signal.unwrap_or(&timeout);
        let etag = self.etag.borrow().clone();
        let mut headers = vec![("authorization", bearer.as_str())];
        let init = RequestInit::new();
        init.set_cache(RequestCache::NoStore);
        init.set_signal(Some(signal));
        if let Some(json) = json {
            headers.push(("content-type", "application/json"));
            init.set_method("POST");
            init.set_body(&JsValue::from_str(&json));
        } else if path.is_empty() && !etag.is_empty() {
            headers.push(("if-none-match", etag.as_str()));
        }
        init.set_headers(&object(&headers));
        let request = Request::new_with_str_and_init(&url, &init);
        let request = request.map_err(|_| Problem::Network)?;
        let answer = arrived(window().fetch_with_request(&request)).await?;
        Ok(answer.unchecked_into())
    }
}

/// What a promise of the network's brings.
async fn arrived(promise: Promise) -> Result<JsValue, Problem> {
    let answer = JsFuture::from(promise).await;
    answer.map_err(|_| Problem::Network)
}

fn etag(response: &Response) -> String {
    let etag = response.headers().get("etag").ok().flatten();
    etag.unwrap_or_default()
}

/// The answer's JSON, or the refusal in it.
async fn body(response: &Response) -> Result<JsValue, Problem> {
    let text = response.text().map_err(|_| Problem::Network)?;
    let text = arrived(text).await?.as_string().unwrap_or_default();
    let json = JSON::parse(&text).map_err(|_| Problem::Unreadable)?;
    if response.ok() {
        Ok(json)
    } else {
        Err(refusal(json))
    }
}

/// The refusal in an answer's body.
pub(crate) fn refusal(json: JsValue) -> Problem {
    ErrorBody::read(&Parsed(json)).map_or(Problem::Unreadable, Problem::Refused)
}

/// The order in an answer's body.
pub(crate) fn read_order(json: &JsValue) -> Result<OrderView, Problem> {
    OrderView::read(&Parsed(json.clone())).map_err(|_| Problem::Unreadable)
}
