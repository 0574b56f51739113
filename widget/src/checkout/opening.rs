//! Opening the order, by the door that the page names.

use std::rc::Rc;

use checkout_api::DonationView;
use reactive_graph::prelude::*;
use wasm_bindgen::JsCast as _;

use super::{Checkout, Quotes};
use crate::api::{Problem, read, refusal, stringify};
use crate::element::Opening;
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
                .and_then(|answer| self.opened(answer.unchecked_ref()));
            match done {
                Ok(()) => {}
                // What was typed stays on the screen.
                Err(problem) if self.has_screen() => self.tell(problem),
                Err(problem) => self.stop_with(problem),
            }
        });
    }

    fn opened(self, answer: &Opening) -> Result<(), Problem> {
        let body = stringify(&answer.body())?;
        if answer.asks() == Some(true) {
            let donation: DonationView = read(&body)?;
            if let Some(parts) = self.parts() {
                *parts.donation.borrow_mut() = Some(Rc::new(donation));
            }
            self.problem.set(None);
            self.stopped.set(false);
            self.asks.set(true);
            return Ok(());
        }
        let Some(token) = answer.token() else {
            return Err(refusal(&body));
        };
        if let Some(parts) = self.parts() {
            // What is still on its way is about the order before.
            parts.live.hush();
            parts.api.hold(token, answer.quotes().dyn_into().ok());
        }
        self.receive(read(&body)?);
        Ok(())
    }
}
