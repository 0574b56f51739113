//! Opening the order, as the page's attributes say.

use std::sync::Arc;

use leptos::prelude::*;

use super::{Checkout, Opened, Problem, Quotes};

impl Checkout {
    /// Opens the order.
    pub(crate) fn begin(self) {
        self.leave_and_open(false);
    }

    /// Leaves this order and opens another by the same attributes.
    pub(crate) fn start_over(self) {
        self.leave_and_open(true);
    }

    fn leave_and_open(self, again: bool) {
        if self.is_busy.get_untracked() {
            return;
        }
        if let Some(shared) = self.shared() {
            shared.connection.cancel_retry();
        }
        self.order.set(None);
        self.problem.set(None);
        self.is_stopped.set(false);
        self.is_choosing.set(false);
        self.donation.set(None);
        self.receipt.set(None);
        self.quotes.set(Quotes::Awaited);
        self.open(again, "");
    }

    /// Opens the order after an attempt that failed. What is shown stays until there is an answer.
    pub(crate) fn retry(self) {
        if !self.is_busy.get_untracked() {
            self.open(false, "");
        }
    }

    /// Opens the order of a donation of this amount, a decimal text: the proxy checks its form and its bounds.
    pub(crate) fn donate(self, amount: &str) {
        if self.is_busy.get_untracked() {
            return;
        }
        self.problem.set(None);
        self.open(false, amount);
    }

    fn open(self, again: bool, amount: &str) {
        let Some(shared) = self.shared() else { return };
        self.is_busy.set(true);
        let done = move |answer: Result<Opened, Problem>| {
            if self.is_removed() {
                return;
            }
            self.is_busy.set(false);
            match answer {
                Ok(Opened::Order(order)) => self.receive(*order),
                Ok(Opened::Donation(donation)) => {
                    self.problem.set(None);
                    self.is_stopped.set(false);
                    self.donation.set(Some(Arc::new(donation)));
                }
                // What was typed stays on the screen.
                Err(problem) if self.has_screen() => self.report(problem),
                Err(problem) => self.stop(problem),
            }
        };
        shared.connection.open(again, amount, Box::new(done));
    }
}
