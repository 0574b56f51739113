//! What the proxy says, told to the screens, the shop's page and a screen reader.

use std::rc::Rc;

use checkout_api::{ErrorCode, OrderView};
use leptos::prelude::*;

use super::Checkout;
use crate::api::Problem;
use crate::countdown;
use crate::language::object;
use crate::phase::Phase;

impl Checkout {
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
        self.seconds_left.set(left);
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
        self.lost.set(false);
        let is_past = self.problem.with_untracked(|problem| match problem {
            Some(Problem::Network) => true,
            Some(_) => is_news,
            None => false,
        });
        if is_past {
            self.problem.set(None);
        }
    }

    /// Gives up until the customer tries again.
    pub(crate) fn stop_with(self, problem: Problem) {
        self.tell(problem);
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
        self.seconds_left.set(seconds);
        let (Some((number, unit)), Some(parts)) = (countdown::announcement(seconds), self.parts())
        else {
            return;
        };
        if untrack(|| self.phase()) == Phase::Paying {
            let time = parts.language.duration(number, unit);
            self.said
                .set(self.sentence("time_left", &[("time", &time)]));
        }
    }
}
