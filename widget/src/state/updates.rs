//! Responses of the proxy, passed to the screens, the shop's page and the live region.

use std::sync::Arc;

use florin_checkout_api::{ErrorCode, OrderView};
use leptos::prelude::*;

use super::announcements;
use super::phase::Phase;
use super::{Checkout, Problem, Sold};
use crate::browser::{later, object};

const BACK_FOR_MS: i32 = 6_000;

impl Checkout {
    /// Shows the new state of the order that is shown. A response about another order came too late: a new purchase has
    /// begun since.
    pub(crate) fn update(self, order: OrderView) {
        let is_shown = self.order.with_untracked(|shown| {
            shown
                .as_ref()
                .is_some_and(|shown: &Arc<OrderView>| shown.id == order.id)
        });
        if is_shown {
            self.receive(order);
        }
    }

    /// Shows the order as the server describes it.
    pub(crate) fn receive(self, order: OrderView) {
        let Some(shared) = self.shared() else { return };
        let before = self.order.get_untracked();
        // A slow response to an earlier request: what is shown is newer.
        let is_old = |shown: &Arc<OrderView>| shown.id == order.id && shown.version > order.version;
        if before.as_ref().is_some_and(is_old) {
            shared.connection.on_order(None);
            return;
        }
        let status = order.status;
        let is_new_status = before.is_none_or(|before| before.status != status);
        let left = order.attempt.as_ref().map_or(0, |a| a.expires_in_seconds);
        let id = order.id.clone();
        let order = Arc::new(order);
        self.count_down(left);
        self.checked_seconds_ago
            .set(order.checked_seconds_ago.unwrap_or_default());
        self.on_response(is_new_status);
        self.is_stopped.set(false);
        self.show_offer(Sold::from(&*order));
        self.order.set(Some(Arc::clone(&order)));
        shared.connection.on_order(Some(&order));
        if is_new_status {
            let detail = object(&[("order_id", &id), ("status", status.into())]);
            shared.host.emit("status", &detail);
        }
        if is_new_status && status.is_settled() {
            shared.host.emit("paid", &object(&[("order_id", &id)]));
        }
    }

    /// Shows what is offered, of which a choice makes an order.
    pub(crate) fn receive_offer(self, offer: Sold) {
        self.on_response(false);
        self.show_offer(offer);
        self.is_stopped.set(false);
        self.donation.set(None);
    }

    /// Shows what is sold, unless it is shown already.
    fn show_offer(self, offer: Sold) {
        let is_shown = |shown: &Option<Arc<Sold>>| {
            let shown = shown.as_ref();
            shown.is_some_and(|shown| shown.amount == offer.amount && shown.title == offer.title)
        };
        if !self.offer.with_untracked(is_shown) {
            self.offer.set(Some(Arc::new(offer)));
        }
    }

    /// The proxy has answered: the page is online, and a new status ends the report of an earlier refusal.
    pub(crate) fn on_response(self, is_new_status: bool) {
        if self.is_offline.get_untracked() {
            self.is_offline.set(false);
            self.is_back.set(true);
            later(BACK_FOR_MS, move || {
                let _ = self.is_back.try_set(false);
            });
        }
        // The report of a press stays until the press is done.
        let is_over = untrack(|| !self.is_unfinished())
            && self.problem.get_untracked() == Some(Problem::Network);
        if is_over || is_new_status {
            self.forget_press();
        }
    }

    /// Shows the problem in place of the order. A temporary problem is retried after a while, and reported once.
    pub(crate) fn show_stopped(self, problem: Problem) {
        let Some(shared) = self.shared() else { return };
        if problem.is_temporary() && !self.has_order() {
            shared.connection.retry_later();
        }
        let is_reported = self.is_stopped.get_untracked()
            && self
                .problem
                .with_untracked(|reported| reported.as_ref() == Some(&problem));
        if !is_reported {
            self.report(problem);
        }
        self.is_stopped.set(true);
    }

    /// Shows why a request was refused, and notifies the shop's page.
    pub(super) fn report(self, problem: Problem) {
        if let Some(shared) = self.shared() {
            let code = problem.code().map_or("network", ErrorCode::as_str);
            let detail = object(&[("code", code), ("message", problem.message())]);
            shared.host.emit("error", &detail);
        }
        self.problem.set(Some(problem));
    }

    /// Sets the countdown, and announces its moments.
    pub(crate) fn count_down(self, seconds: u32) {
        let before = self.seconds_left.get_untracked();
        self.seconds_left.set(seconds);
        let Some((number, unit)) = announcements::countdown(before, seconds) else {
            return;
        };
        if matches!(self.phase.get_untracked(), Phase::Paying | Phase::Underpaid) {
            let time = self.i18n.duration(number, unit);
            self.announce(self.i18n.text_with("time_left", &[("time", &time)]));
        }
    }

    /// Announces a new screen by what it says: its heading, unless it has the focus and is read out anyway (`is_focused`), and
    /// its first sentence.
    pub(crate) fn announce_phase(self, phase: Phase, is_focused: bool) {
        let Some(shared) = self.shared() else { return };
        let mut announcements = shared.announcements.get();
        let is_announced = announcements.arrive(phase);
        shared.announcements.set(announcements);
        if !is_announced {
            return;
        }
        let before = self.announcement.get_untracked();
        // Once it is there.
        later(0, move || {
            let Some(shared) = self.shared() else { return };
            // The screen has announced what is news beside it.
            if self.announcement.get_untracked() != before {
                return;
            }
            let read = |selector| {
                let found = shared.root.query_selector(selector).ok().flatten();
                found.and_then(|found| found.text_content())
            };
            let heading = read(".screen h2").filter(|_| !is_focused);
            let sentence = read(".screen > p:not([class])");
            let words: Vec<String> = heading.into_iter().chain(sentence).collect();
            self.announce(words.join(". "));
        });
    }

    /// Announces `text` about this number of confirmations, where the policy has it announced.
    pub(crate) fn announce_confirmations(self, count: u32, required: u32, text: &str) {
        let Some(shared) = self.shared() else { return };
        let mut announcements = shared.announcements.get();
        if announcements.note_confirmations(count, required) {
            self.announce(text.to_owned());
        }
        shared.announcements.set(announcements);
    }

    /// Sets the text of the live region. The same text again is read out again.
    pub(crate) fn announce(self, text: String) {
        let is_same = self
            .announcement
            .try_with_untracked(|before| *before == text);
        let suffix = if is_same == Some(true) { "\u{a0}" } else { "" };
        let _ = self.announcement.try_set(text + suffix);
    }
}
