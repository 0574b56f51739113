//! Asking the proxy, with the order's token.

use std::cell::RefCell;
use std::rc::Rc;

use checkout_api::{ErrorBody, ErrorCode, OrderView, Quote, Refusal, SignedReceipt, from_json};
use js_sys::{JSON, Promise};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, ReadableStreamDefaultReader, RequestCache, RequestInit, Response};

use crate::browser::window;
use crate::language::object;
use crate::links::handoff;
use crate::task::{spawn, when};

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
                Some(
                    ErrorCode::RateLimited
                        | ErrorCode::ServiceUnavailable
                        | ErrorCode::Internal
                        // The same request is still at work, or a proxy that was killed left it so for a while.
                        | ErrorCode::RequestInProgress
                        | ErrorCode::AttemptInProgress
                )
            ),
        }
    }
}

/// What comes back: the text of JSON, empty for an order that is as it was; or why there is none.
type Answer = Result<String, Problem>;

/// The proxy's endpoints for one order.
pub(crate) struct Api {
    /// Where the loader came from; ends in a slash.
    base: String,
    token: RefCell<String>,
    /// The order's first prices, asked for by the page that opened it.
    first_quotes: RefCell<Option<Promise>>,
    /// Of the last order read by asking.
    etag: RefCell<String>,
}

impl Api {
    pub(crate) fn new(base: String) -> Self {
        Self {
            base,
            token: RefCell::default(),
            first_quotes: RefCell::default(),
            etag: RefCell::default(),
        }
    }

    /// Asks for another order from here on; its prices may be on their way already.
    pub(crate) fn hold(&self, token: String, first_quotes: Option<Promise>) {
        *self.token.borrow_mut() = token;
        *self.first_quotes.borrow_mut() = first_quotes;
        self.etag.borrow_mut().clear();
    }

    /// The link that shows this order anywhere else.
    pub(crate) fn link(&self, store: &str) -> String {
        handoff(&self.base, store, &self.token.borrow())
    }

    /// The order; `None` when it is as it was.
    pub(crate) fn order(
        self: &Rc<Self>,
        done: impl FnOnce(Result<Option<OrderView>, Problem>) + 'static,
    ) {
        let api = Rc::clone(self);
        let read = move |json: String| {
            if json.is_empty() {
                return Ok(None);
            }
            let order = read(&json);
            if order.is_err() {
                // Else the same would be kept from a page that could not read it.
                api.etag.borrow_mut().clear();
            }
            order.map(Some)
        };
        let done = move |answer: Answer| done(answer.and_then(read));
        self.ask("", None, Box::new(done));
    }

    /// The prices in every asset.
    pub(crate) fn quotes(
        self: &Rc<Self>,
        done: impl FnOnce(Result<Vec<Quote>, Problem>) + 'static,
    ) {
        let done: Box<dyn FnOnce(Answer)> =
            Box::new(move |answer| done(answer.and_then(|json| read(&json))));
        let Some(first) = self.first_quotes.take() else {
            return self.ask("/quotes", None, done);
        };
        let api = Rc::clone(self);
        when(first, move |answer| match answer {
            Ok(quotes) if quotes.is_object() => done(stringify(&quotes)),
            _ => api.ask("/quotes", None, done),
        });
    }

    /// The receipt of a paid order.
    pub(crate) fn receipt(
        self: &Rc<Self>,
        done: impl FnOnce(Result<SignedReceipt, Problem>) + 'static,
    ) {
        let done = move |answer: Answer| done(answer.and_then(|json| read(&json)));
        self.ask("/receipt", None, Box::new(done));
    }

    /// Opens an attempt or a session, or marks it as paid; the answer is the order.
    pub(crate) fn post(
        self: &Rc<Self>,
        path: &'static str,
        json: String,
        done: impl FnOnce(Result<OrderView, Problem>) + 'static,
    ) {
        let done = move |answer: Answer| done(answer.and_then(|json| read(&json)));
        self.ask(path, Some(json), Box::new(done));
    }

    /// Does `done` with the answer. There is one future for all that is asked: each of their own would be a machine of
    /// a kilobyte.
    fn ask(
        self: &Rc<Self>,
        path: &'static str,
        json: Option<String>,
        done: Box<dyn FnOnce(Answer)>,
    ) {
        let api = Rc::clone(self);
        spawn(async move { done(api.answer(path, json).await) });
    }

    /// The answer's JSON, or the refusal in it.
    async fn answer(&self, path: &str, json: Option<String>) -> Answer {
        let asked = self.token.borrow().clone();
        let response = arrived(self.send(path, json, None)).await?;
        let response: Response = response.unchecked_into();
        if response.status() == 304 {
            return Ok(String::new());
        }
        let text = response.text().map_err(|_| Problem::Network)?;
        let json = arrived(text).await?.as_string().unwrap_or_default();
        if !response.ok() {
            return Err(refusal(&json));
        }
        // The name of an answer about an order that was left meanwhile is none for the next.
        if path.is_empty() && *self.token.borrow() == asked {
            let etag = response.headers().get("etag").ok().flatten();
            *self.etag.borrow_mut() = etag.unwrap_or_default();
        }
        Ok(json)
    }

    /// Does `done` with the stream of the order's changes, which goes on until `signal` ends it.
    pub(crate) fn events(
        &self,
        signal: &AbortSignal,
        done: impl FnOnce(Option<ReadableStreamDefaultReader>) + 'static,
    ) {
        when(self.send("/events", None, Some(signal)), move |response| {
            let response: Option<Response> = response.ok().map(JsCast::unchecked_into);
            let stream = response.and_then(|response| response.body().filter(|_| response.ok()));
            done(stream.map(|stream| stream.get_reader().unchecked_into()));
        });
    }

    fn send(&self, path: &str, json: Option<String>, signal: Option<&AbortSignal>) -> Promise {
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
        window().fetch_with_str_and_init(&url, &init)
    }
}

/// What a promise of the network's brings.
async fn arrived(promise: Promise) -> Result<JsValue, Problem> {
    let answer = JsFuture::from(promise).await;
    answer.map_err(|_| Problem::Network)
}

/// What an answer's body says.
pub(crate) fn read<T: DeserializeOwned>(json: &str) -> Result<T, Problem> {
    from_json(json).map_err(|_| Problem::Unreadable)
}

/// The refusal in an answer's body.
pub(crate) fn refusal(json: &str) -> Problem {
    read(json).map_or_else(
        |problem| problem,
        |Refusal { error }| Problem::Refused(error),
    )
}

/// A request's body.
pub(crate) fn write(request: &impl Serialize) -> String {
    serde_json::to_string(request).expect("texts and numbers become JSON")
}

/// The JSON of what the page has parsed already.
pub(crate) fn stringify(parsed: &JsValue) -> Result<String, Problem> {
    let text = JSON::stringify(parsed).ok();
    let text = text.and_then(|text| text.as_string());
    text.ok_or(Problem::Unreadable)
}
