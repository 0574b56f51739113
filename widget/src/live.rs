//! Keeping up with the order: asking at the server's pace, listening to its events, and waking up.
//!
//! Asking is the baseline that works everywhere; the stream of events is merely faster. A hidden page does neither.
//! Time left is the server's number of seconds, counted down by the monotonic clock; the wall clock serves for one
//! thing only, to notice that the computer was asleep, and for how long.

mod clock;
mod stream;
mod tick;
mod wake;

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use checkout_api::{ErrorCode, OrderView};
use js_sys::{Function, Math};
use reactive_graph::prelude::*;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::closure::Closure;
use web_sys::AbortController;

use self::clock::drift_ms;
use self::wake::{is_hidden, wake_targets};
use crate::browser::window;
use crate::checkout::Checkout;
use crate::pace;

pub(crate) use self::clock::now_ms;

/// Failures in a row that count as a lost connection.
const LOST_AFTER: u32 = 2;

/// The work of one checkout beside its screens.
#[derive(Default)]
pub(crate) struct Live {
    checkout: OnceCell<Checkout>,
    on_time: OnceCell<Closure<dyn FnMut()>>,
    on_tick: OnceCell<Closure<dyn FnMut()>>,
    timer: Cell<i32>,
    ticking: Cell<i32>,
    asking: Cell<bool>,
    failures: Cell<u32>,
    stream: RefCell<Option<AbortController>>,
    /// When the stream was last heard; 0 for not yet.
    stream_heard_ms: Cell<u64>,
    /// When a stream may be opened again.
    stream_from_ms: Cell<u64>,
    /// When the next question is due without an answer in between, in seconds; `None` once nothing can change.
    pace: Cell<Option<u32>>,
    /// When the invoice runs out, by the monotonic clock.
    deadline_ms: Cell<u64>,
    /// When the quotes shown lapse; 0 while none are.
    quotes_until_ms: Cell<u64>,
    /// When the payment service was last heard about the order.
    checked_ms: Cell<u64>,
    /// When an order that could not be had is asked for again; 0 while it is not.
    retry_ms: Cell<u64>,
    /// Wall clock minus monotonic clock, at the last tick.
    drift_ms: Cell<u64>,
}

impl Live {
    /// Begins to tick and to wake. Once.
    pub(crate) fn start(self: &Rc<Self>, checkout: Checkout) {
        let (asked, ticked) = (Rc::downgrade(self), Rc::downgrade(self));
        let on_time = Closure::<dyn FnMut()>::new(move || {
            if let Some(live) = asked.upgrade() {
                live.ask();
            }
        });
        let on_tick = Closure::<dyn FnMut()>::new(move || {
            if let Some(live) = ticked.upgrade() {
                live.tick();
            }
        });
        for (target, event) in wake_targets() {
            let _ = target.add_event_listener_with_callback(event, function(&on_time));
        }
        let ticking = window()
            .set_interval_with_callback_and_timeout_and_arguments_0(function(&on_tick), 1000);
        self.ticking.set(ticking.unwrap_or_default());
        self.drift_ms.set(drift_ms());
        let _ = self.checkout.set(checkout);
        let _ = self.on_time.set(on_time);
        let _ = self.on_tick.set(on_tick);
    }

    /// Ends everything: no timer, no listener and no stream is left.
    pub(crate) fn stop(&self) {
        let window = window();
        window.clear_timeout_with_handle(self.timer.take());
        window.clear_interval_with_handle(self.ticking.take());
        if let Some(on_time) = self.on_time.get() {
            for (target, event) in wake_targets() {
                let _ = target.remove_event_listener_with_callback(event, function(on_time));
            }
        }
        self.pace.set(None);
        self.hush();
    }

    /// An order has arrived, whichever way.
    pub(crate) fn heard(self: &Rc<Self>, order: Option<&OrderView>) {
        self.failures.set(0);
        if let Some(order) = order {
            let ago = u64::from(order.checked_seconds_ago.unwrap_or_default()) * 1000;
            self.checked_ms.set(now_ms().saturating_sub(ago));
            let left = order.attempt.as_ref().map_or(0, |a| a.expires_in_seconds);
            self.deadline_ms.set(now_ms() + u64::from(left) * 1000);
            self.pace.set(order.next_poll_seconds);
        }
        if self.pace.get().is_none() {
            self.hush();
        } else if self.may_listen() {
            self.listen();
        }
        self.schedule();
    }

    /// The quotes on the screen hold for so long.
    pub(crate) fn quotes_hold(&self, seconds: u32) {
        self.quotes_until_ms
            .set(now_ms() + u64::from(seconds) * 1000);
    }

    /// There is no order to show: it is asked for again after a while, the longer the more often it failed.
    pub(crate) fn retry_later(&self) {
        self.failures.set(self.failures.get() + 1);
        let pause = pace::after_failure(self.failures.get(), chance());
        self.retry_ms.set(now_ms() + u64::from(pause));
        self.count_to_retry();
    }

    /// The customer, or an answer, was faster.
    pub(crate) fn retry_no_more(&self) {
        self.retry_ms.set(0);
        self.count_to_retry();
    }

    fn count_to_retry(&self) {
        let left = self.retry_ms.get().saturating_sub(now_ms()).div_ceil(1000);
        if let Some(checkout) = self.checkout.get() {
            let left = u32::try_from(left).unwrap_or_default();
            let _ = checkout.retry_in.try_set(left);
        }
    }

    /// Asks for the order now. The page's wake-ups come here too, so that a hidden page ends its stream here.
    pub(crate) fn ask(self: &Rc<Self>) {
        let Some(checkout) = self.checkout.get().copied() else {
            return;
        };
        if is_hidden() {
            self.hush();
            return;
        }
        if self.retry_ms.get() > 0 {
            self.retry_no_more();
            checkout.try_again();
        }
        if self.asking.get() || !checkout.is_open() {
            return;
        }
        let Some(parts) = checkout.parts() else {
            return;
        };
        self.asking.set(true);
        let live = Rc::clone(self);
        parts.api.order(move |answer| {
            live.asking.set(false);
            if checkout.parts().is_none() {
                return;
            }
            match answer {
                Ok(Some(order)) => checkout.update(order),
                Ok(None) => {
                    live.heard(None);
                    checkout.answered(false);
                }
                Err(problem) if problem.code() == Some(ErrorCode::NotFound) => {
                    checkout.stop_with(problem);
                }
                Err(_) => {
                    live.failures.set(live.failures.get() + 1);
                    if live.failures.get() >= LOST_AFTER {
                        checkout.lost.set(true);
                    }
                    live.schedule();
                }
            }
        });
    }

    fn schedule(&self) {
        let window = window();
        window.clear_timeout_with_handle(self.timer.take());
        let (Some(seconds), Some(on_time)) = (self.pace.get(), self.on_time.get()) else {
            return;
        };
        let pause = match self.failures.get() {
            0 => pace::after_answer(seconds, self.events_arrive(), chance()),
            failures => pace::after_failure(failures, chance()),
        };
        let timer = window.set_timeout_with_callback_and_timeout_and_arguments_0(
            function(on_time),
            i32::try_from(pause).unwrap_or(i32::MAX),
        );
        self.timer.set(timer.unwrap_or_default());
    }
}

fn function(closure: &Closure<dyn FnMut()>) -> &Function {
    closure.as_ref().unchecked_ref()
}

/// Chance, from the middle digits of a random number: its mantissa is evenly spread.
fn chance() -> u8 {
    Math::random().to_bits().to_be_bytes()[3]
}
