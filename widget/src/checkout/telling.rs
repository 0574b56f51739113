//! What the proxy says, told to the screens, the shop's page and a screen reader.

use std::rc::Rc;

use checkout_api::{ErrorCode, OrderView};
use reactive_graph::graph::untrack;
use reactive_graph::prelude::*;

use super::Checkout;
use crate::announcing;
use crate::api::Problem;
use crate::language::object;
use crate::phase::Phase;
use crate::task::later;

/// How long the page says that the connection is back.
const BACK_FOR_MS: i32 = 6_000;

impl Checkout {
    /// Shows what has become of the order that is shown. An answer about another one came too late: a new purchase has
    /// begun meanwhile.
    pub(crate) fn update(self, order: OrderView) {
        let is_shown =
            |shown: &Option<Rc<OrderView>>| shown.as_ref().map(|shown| shown.id == order.id);
        if self.order.with_untracked(is_shown) == Some(true) {
            self.receive(order);
        }
    }

    /// Shows the order as the server describes it.
    pub(crate) fn receive(self, order: OrderView) {
        let Some(parts) = self.parts() else { return };
        let before = self.order.get_untracked();
        // A slow answer to an earlier question: what is shown is newer.
        let is_old = |shown: &Rc<OrderView>| shown.id == order.id && shown.version > order.version;
        if before.as_ref().is_some_and(is_old) {
            parts.live.heard(None);
            return;
        }
        let status = order.status;
        let is_news = before.is_none_or(|before| before.status != status);
        let left = order.attempt.as_ref().map_or(0, |a| a.expires_in_seconds);
        let id = order.id.clone();
        let order = Rc::new(order);
        self.count_down(left);
        self.checked_for
            .set(order.checked_seconds_ago.unwrap_or_default());
        self.answered(is_news);
        self.stopped.set(false);
        self.order.set(Some(Rc::clone(&order)));
        parts.live.heard(Some(&order));
        if is_news {
            let detail = object(&[("order_id", &id), ("status", status.as_str())]);
            parts.host.emit("status", &detail);
        }
        if is_news && status.is_settled() {
            parts.host.emit("paid", &object(&[("order_id", &id)]));
        }
    }

    /// The proxy has answered: a connection that was lost is back, and with news what was refused before is past.
    pub(crate) fn answered(self, is_news: bool) {
        if self.lost.get_untracked() {
            self.lost.set(false);
            self.back.set(true);
            let over = move || {
                let _ = self.back.try_set(false);
            };
            later(BACK_FOR_MS, over);
        }
        let is_past = self.problem.with_untracked(|problem| match problem {
            Some(Problem::Network) => true,
            Some(_) => is_news,
            None => false,
        });
        if is_past {
            self.problem.set(None);
        }
    }

    /// Gives up for now. What may pass by itself is tried again after a while, and told once.
    pub(crate) fn stop_with(self, problem: Problem) {
        let Some(parts) = self.parts() else { return };
        if problem.may_pass() && !self.is_open() {
            parts.live.retry_later();
        }
        let is_told = self.stopped.get_untracked()
            && self
                .problem
                .with_untracked(|told| told.as_ref() == Some(&problem));
        if !is_told {
            self.tell(problem);
        }
        self.stopped.set(true);
    }

    /// Shows why a wish was not granted.
    pub(super) fn tell(self, problem: Problem) {
        if let Some(parts) = self.parts() {
            let code = problem.code().map_or("network", ErrorCode::as_str);
            let message = match &problem {
                Problem::Refused(body) => body.message.as_str(),
                Problem::Network => "no answer",
                Problem::Unreadable => "an answer that this page does not understand",
            };
            let detail = object(&[("code", code), ("message", message)]);
            parts.host.emit("error", &detail);
        }
        self.problem.set(Some(problem));
    }

    /// The countdown has moved.
    pub(crate) fn count_down(self, seconds: u32) {
        let before = self.seconds_left.get_untracked();
        self.seconds_left.set(seconds);
        let (Some((number, unit)), Some(parts)) =
            (announcing::countdown(before, seconds), self.parts())
        else {
            return;
        };
        if untrack(|| self.phase()) == Phase::Paying {
            let time = parts.language.duration(number, unit);
            self.say(self.sentence("time_left", &[("time", &time)]));
        }
    }

    /// A screen has changed: tells what it means to who cannot see it.
    pub(crate) fn arrive(self, phase: Phase, is_focused: bool) {
        let Some(parts) = self.parts() else { return };
        let mut announcing = parts.announcing.get();
        let keys = announcing.arrive(phase, is_focused);
        parts.announcing.set(announcing);
        let store = |order: &Rc<OrderView>| order.store.name.clone();
        let store = self.order.with_untracked(|order| order.as_ref().map(store));
        let store = store.unwrap_or_default();
        let mut told = String::new();
        for key in keys {
            if !told.is_empty() {
                told.push_str(". ");
            }
            told.push_str(&self.sentence(key, &[("store", &store)]));
        }
        if !told.is_empty() {
            self.say(told);
        }
    }

    /// Tells of so many blocks, where the policy wants it told.
    pub(crate) fn confirm(self, count: u32, required: u32, words: &str) {
        let Some(parts) = self.parts() else { return };
        let mut announcing = parts.announcing.get();
        if announcing.confirm(count, required) {
            self.say(words.to_owned());
        }
        parts.announcing.set(announcing);
    }

    /// Tells a screen reader. Saying the same again is told again.
    pub(crate) fn say(self, words: String) {
        let is_said = self.said.try_with_untracked(|said| *said == words);
        let again = if is_said == Some(true) { "\u{a0}" } else { "" };
        let _ = self.said.try_set(words + again);
    }
}
