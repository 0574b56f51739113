//! Opening the order, by the door that the page names.

use std::rc::Rc;

use checkout_api::{DonationView, Fields as _};
use reactive_graph::prelude::*;
use wasm_bindgen::JsCast as _;

use super::{Checkout, Quotes};
use crate::api::{Problem, read_order, refusal};
use crate::json::Parsed;
use crate::task::when;

impl Checkout {
    /// Opens the order.
    pub(crate) fn begin(self) {
        self.open(false);
    }

    /// Leaves this order and opens another by the same door.
    pub(crate) fn start_over(self) {
        self.open(true);
    }

    fn open(self, again: bool) {
        if self.busy.get_untracked() {
            return;
        }
        if let Some(parts) = self.parts() {
            parts.live.retry_no_more();
        }
        self.order.set(None);
        self.problem.set(None);
        self.stopped.set(false);
        self.choosing.set(false);
        self.asks.set(false);
        self.has_receipt.set(false);
        self.quotes.set(Quotes::Awaited);
        self.ask_to_open(again, "");
    }

    /// Asks once more for the order that could not be had. What is shown stays until there is an answer.
    pub(crate) fn try_again(self) {
        if !self.busy.get_untracked() {
            self.ask_to_open(false, "");
        }
    }

    /// Gives this amount, as a decimal text: the proxy says whether it is one, and within the bounds.
    pub(crate) fn give(self, amount: &str) {
        if self.busy.get_untracked() {
            return;
        }
        self.problem.set(None);
        self.ask_to_open(false, amount);
    }

    fn ask_to_open(self, again: bool, amount: &str) {
        let Some(parts) = self.parts() else { return };
        self.busy.set(true);
        when(parts.host.open(again, amount), move |answer| {
            if self.parts().is_none() {
                return;
            }
            self.busy.set(false);
            let done = answer
                .map_err(|_| Problem::Network)
                .and_then(|answer| self.opened(&Parsed(answer)));
            match done {
                Ok(()) => {}
                // What was typed stays on the screen.
                Err(problem) if self.has_screen() => self.tell(problem),
                Err(problem) => self.stop_with(problem),
            }
        });
    }

    fn opened(self, answer: &Parsed) -> Result<(), Problem> {
        let body = answer.object("body").ok_or(Problem::Unreadable)?;
        if answer.flag("asks") == Some(true) {
            let donation = DonationView::read(&body).map_err(|_| Problem::Unreadable)?;
            if let Some(parts) = self.parts() {
                *parts.donation.borrow_mut() = Some(Rc::new(donation));
            }
            self.problem.set(None);
            self.stopped.set(false);
            self.asks.set(true);
            return Ok(());
        }
        let Some(token) = answer.text("token") else {
            return Err(refusal(body.0));
        };
        if let Some(parts) = self.parts() {
            // What is still on its way is about the order before.
            parts.live.hush();
            let quotes = answer.member("quotes").and_then(|it| it.dyn_into().ok());
            parts.api.hold(token, quotes);
        }
        self.receive(read_order(&body.0)?);
        Ok(())
    }
}
