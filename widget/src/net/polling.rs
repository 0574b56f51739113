//! Keeps the order up to date: polls at the server's pace, reads the event stream, and wakes up with the page.
//!
//! Polling is the baseline that works everywhere; the event stream is only faster. A hidden page does neither, unless its
//! customer waits for a notification. Time left is the server's number of seconds, counted down by the monotonic clock; the wall clock serves for one thing
//! only, to notice that the computer was asleep, and for how long.

mod stream;

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::{Rc, Weak};

use florin_checkout_api::{ErrorCode, OpenAttempt, OrderView};
use js_sys::Function;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::closure::Closure;
use web_sys::{AbortController, EventTarget};

use super::backoff;
use super::requests::Requests;
use crate::browser::{document, drift_ms, is_hidden, now_ms, random, spawn, window};
use crate::host::Host;
use crate::state::phase::Phase;
use crate::state::{Checkout, Chosen, Connection, Done, Opened, Problem, Quotes, Request};

/// Failures in a row after which the page says that it is offline.
const OFFLINE_AFTER: u32 = 2;

/// The requests, timers and listeners of one checkout.
pub(crate) struct Polling {
    this: Weak<Self>,
    requests: Rc<Requests>,
    checkout: OnceCell<Checkout>,
    on_time: OnceCell<Closure<dyn FnMut()>>,
    on_tick: OnceCell<Closure<dyn FnMut()>>,
    timer: Cell<i32>,
    ticks: Cell<i32>,
    is_under_way: Cell<bool>,
    failures: Cell<u32>,
    stream: RefCell<Option<AbortController>>,
    /// When the stream last brought something; 0 for not yet.
    stream_active_ms: Cell<u64>,
    stream_from_ms: Cell<u64>,
    /// Seconds from a response to the next poll; `None` once nothing can change.
    interval: Cell<Option<u32>>,
    /// When the invoice expires, by the monotonic clock.
    deadline_ms: Cell<u64>,
    /// When the quotes shown lapse; 0 while none are.
    quotes_until_ms: Cell<u64>,
    checked_ms: Cell<u64>,
    /// When the order is opened again; 0 while no retry is planned.
    retry_ms: Cell<u64>,
    /// Wall clock minus monotonic clock, at the last tick.
    drift_ms: Cell<u64>,
}

impl Polling {
    /// Requests that go through `host`. [`Self::start`] begins to poll.
    pub(crate) fn new(host: Host) -> Rc<Self> {
        Rc::new_cyclic(|this| Self {
            this: this.clone(),
            requests: Rc::new(Requests::new(host)),
            checkout: OnceCell::new(),
            on_time: OnceCell::new(),
            on_tick: OnceCell::new(),
            timer: Cell::default(),
            ticks: Cell::default(),
            is_under_way: Cell::default(),
            failures: Cell::default(),
            stream: RefCell::default(),
            stream_active_ms: Cell::default(),
            stream_from_ms: Cell::default(),
            interval: Cell::default(),
            deadline_ms: Cell::default(),
            quotes_until_ms: Cell::default(),
            checked_ms: Cell::default(),
            retry_ms: Cell::default(),
            drift_ms: Cell::default(),
        })
    }

    /// Begins to tick and to wake. Once.
    pub(crate) fn start(&self, checkout: Checkout) {
        let (polled, ticked) = (self.this.clone(), self.this.clone());
        let on_time = Closure::<dyn FnMut()>::new(move || {
            if let Some(polling) = polled.upgrade() {
                polling.poll_now();
            }
        });
        let on_tick = Closure::<dyn FnMut()>::new(move || {
            if let Some(polling) = ticked.upgrade() {
                polling.tick();
            }
        });
        for (target, event) in wake_targets() {
            let _ = target.add_event_listener_with_callback(event, function(&on_time));
        }
        let ticks = window()
            .set_interval_with_callback_and_timeout_and_arguments_0(function(&on_tick), 1000);
        self.ticks.set(ticks.unwrap_or_default());
        self.drift_ms.set(drift_ms());
        let _ = self.checkout.set(checkout);
        let _ = self.on_time.set(on_time);
        let _ = self.on_tick.set(on_tick);
    }

    /// Ends everything: no timer, no listener and no stream is left.
    pub(crate) fn stop(&self) {
        let window = window();
        window.clear_timeout_with_handle(self.timer.take());
        window.clear_interval_with_handle(self.ticks.take());
        if let Some(on_time) = self.on_time.get() {
            for (target, event) in wake_targets() {
                let _ = target.remove_event_listener_with_callback(event, function(on_time));
            }
        }
        self.interval.set(None);
        self.close_stream();
    }

    pub(crate) fn checkout(&self) -> Option<Checkout> {
        let checkout = self.checkout.get().copied();
        checkout.filter(|checkout| !checkout.is_removed())
    }

    fn request<T: 'static, F>(&self, request: impl FnOnce(Rc<Requests>) -> F, done: Done<T>)
    where
        F: Future<Output = Result<T, Problem>> + 'static,
    {
        let request = request(Rc::clone(&self.requests));
        spawn(async move { done(request.await) });
    }

    fn on_poll(&self, response: Result<Option<OrderView>, Problem>) {
        self.is_under_way.set(false);
        let Some(checkout) = self.checkout() else {
            return;
        };
        match response {
            Ok(Some(order)) => checkout.update(order),
            Ok(None) => {
                self.on_order(None);
                checkout.on_response(false);
            }
            Err(problem) if problem.code() == Some(ErrorCode::NotFound) => {
                checkout.show_stopped(problem);
            }
            Err(_) => {
                self.failures.set(self.failures.get() + 1);
                if self.failures.get() >= OFFLINE_AFTER {
                    checkout.is_offline.set(true);
                }
                self.schedule();
            }
        }
    }

    fn count_to_retry(&self) {
        let left = self.retry_ms.get().saturating_sub(now_ms()).div_ceil(1000);
        if let Some(shared) = self.checkout().and_then(Checkout::shared) {
            let left = u32::try_from(left).unwrap_or_default();
            shared.retry_in_seconds.set(left);
        }
    }

    fn schedule(&self) {
        let window = window();
        window.clear_timeout_with_handle(self.timer.take());
        let (Some(seconds), Some(on_time)) = (self.interval.get(), self.on_time.get()) else {
            return;
        };
        let pause = match self.failures.get() {
            0 => backoff::after_response(seconds, self.events_arrive(), random()),
            failures => backoff::after_failure(failures, random()),
        };
        let timer = window.set_timeout_with_callback_and_timeout_and_arguments_0(
            function(on_time),
            i32::try_from(pause).unwrap_or(i32::MAX),
        );
        self.timer.set(timer.unwrap_or_default());
    }
}

impl Connection for Polling {
    fn open(&self, as_new: bool, amount: &str, done: Done<Opened>) {
        if !as_new
            && amount.is_empty()
            && let Some(response) = self.requests.take_opening()
        {
            return done(response);
        }
        let opening = self.requests.start_opening(as_new, amount);
        let this = self.this.clone();
        let done = Box::new(move |response: Result<Opened, Problem>| {
            // What is still on its way is about the order before.
            if let (Ok(Opened::Order(_)), Some(polling)) = (&response, this.upgrade()) {
                polling.close_stream();
            }
            done(response);
        });
        self.request(|requests| async move { requests.open(opening).await }, done);
    }

    fn choose(&self, choice: OpenAttempt, done: Done<Chosen>) {
        let request = |requests: Rc<Requests>| async move { requests.choose(choice).await };
        self.request(request, done);
    }

    fn quotes(&self, done: Done<Quotes>) {
        if let Some(quotes) = self.requests.take_first_quotes() {
            return done(quotes);
        }
        self.request(|requests| async move { requests.quotes().await }, done);
    }

    fn receipt(&self, done: Done<String>) {
        self.request(|requests| async move { requests.receipt().await }, done);
    }

    fn send(&self, request: Request, done: Done<OrderView>) {
        self.request(|requests| async move { requests.send(request).await }, done);
    }

    fn link(&self, store: &str) -> String {
        self.requests.link(store)
    }

    fn on_order(&self, order: Option<&OrderView>) {
        self.failures.set(0);
        if let Some(order) = order {
            let ago = u64::from(order.checked_seconds_ago.unwrap_or_default()) * 1000;
            self.checked_ms.set(now_ms().saturating_sub(ago));
            let left = order.attempt.as_ref().map_or(0, |a| a.expires_in_seconds);
            self.deadline_ms.set(now_ms() + u64::from(left) * 1000);
            self.interval.set(order.next_poll_seconds);
        }
        if self.interval.get().is_none() {
            self.close_stream();
        } else if self.may_listen() {
            self.listen();
        }
        self.schedule();
    }

    fn on_quotes(&self, valid_for_seconds: u32) {
        let valid_for = u64::from(valid_for_seconds) * 1000;
        self.quotes_until_ms.set(now_ms() + valid_for);
    }

    /// The page's wake-ups come here too, so that a hidden page ends its stream here.
    fn poll_now(&self) {
        let Some(checkout) = self.checkout() else {
            return;
        };
        if checkout.is_at_rest() {
            self.close_stream();
            return;
        }
        if self.retry_ms.get() > 0 {
            self.cancel_retry();
            checkout.retry();
        }
        if self.is_under_way.get() || !checkout.has_order() {
            return;
        }
        self.is_under_way.set(true);
        let (requests, this) = (Rc::clone(&self.requests), self.this.clone());
        spawn(async move {
            let response = requests.order().await;
            if let Some(polling) = this.upgrade() {
                polling.on_poll(response);
            }
        });
    }

    fn retry_later(&self) {
        self.failures.set(self.failures.get() + 1);
        let pause = backoff::after_failure(self.failures.get(), random());
        self.retry_ms.set(now_ms() + u64::from(pause));
        self.count_to_retry();
    }

    fn cancel_retry(&self) {
        self.retry_ms.set(0);
        self.count_to_retry();
    }
}

fn function(closure: &Closure<dyn FnMut()>) -> &Function {
    closure.as_ref().unchecked_ref()
}

/// A page without a network polls as well: the failures show at once that it is offline, long before a silent stream
/// would.
const WAKE_EVENTS: [&str; 5] = ["focus", "offline", "online", "pageshow", "visibilitychange"];

fn wake_targets() -> impl Iterator<Item = (EventTarget, &'static str)> {
    WAKE_EVENTS.into_iter().map(|event| {
        // `visibilitychange` is dispatched on the document, and in older browsers does not bubble to the window.
        let target: EventTarget = if event == "visibilitychange" {
            document().into()
        } else {
            window().into()
        };
        (target, event)
    })
}

/// The two clocks apart by more than this: the computer was asleep.
const ASLEEP_MS: u64 = 3_000;

impl Polling {
    fn tick(&self) {
        let Some(checkout) = self.checkout() else {
            return;
        };
        let drift = drift_ms();
        let before = self.drift_ms.replace(drift);
        let was_asleep = drift.abs_diff(before) > ASLEEP_MS;
        if was_asleep {
            // The monotonic clock stood still, the invoice's did not. The next response has the exact time.
            let slept = drift.saturating_sub(before);
            let deadline = self.deadline_ms.get();
            self.deadline_ms.set(deadline.saturating_sub(slept));
        }
        let now = now_ms();
        let left = self.deadline_ms.get().saturating_sub(now).div_ceil(1000);
        let left = u32::try_from(left).unwrap_or(u32::MAX);
        if left != checkout.seconds_left.get_untracked() {
            checkout.count_down(left);
            if left == 0 {
                self.poll_now();
            }
        }
        let checked = now.saturating_sub(self.checked_ms.get()) / 1000;
        let checked = u32::try_from(checked).unwrap_or(u32::MAX);
        checkout.checked_seconds_ago.set(checked);
        let retry = self.retry_ms.get();
        if retry > 0 && now >= retry {
            // A hidden page opens the order once it is visible again.
            self.poll_now();
        } else if retry > 0 {
            self.count_to_retry();
        }
        let until = self.quotes_until_ms.get();
        if until > 0
            && now >= until
            && checkout.phase.get_untracked() == Phase::Choosing
            && !is_hidden()
        {
            self.quotes_until_ms.set(0);
            checkout.load_quotes();
        }
        if was_asleep {
            self.poll_now();
        }
    }
}
