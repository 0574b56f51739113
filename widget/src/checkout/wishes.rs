//! What the customer wants of the proxy, once there is an order.

use std::rc::Rc;

use checkout_api::{MarkPaid, OpenAttempt};
use reactive_graph::prelude::*;

use super::Checkout;
use crate::api::write;

impl Checkout {
    /// Opens an attempt in this asset, at the price that was shown.
    pub(crate) fn choose(self, crypto_code: String, quote_id: String) {
        let wish = OpenAttempt {
            crypto_code,
            quote_id,
        };
        self.post("/attempt", write(&wish));
    }

    /// "I have paid".
    pub(crate) fn mark_paid(self, email: &str) {
        let email = email.trim();
        let wish = MarkPaid {
            email: (!email.is_empty()).then(|| email.to_owned()),
        };
        self.post("/paid", write(&wish));
    }

    /// Opens another session on the payment service's page.
    pub(crate) fn open_session(self) {
        self.post("/session", String::from("{}"));
    }

    /// Gets the receipt, so that it is there when somebody prints.
    pub(crate) fn load_receipt(self, print: bool) {
        let Some(parts) = self.parts() else { return };
        parts.api.receipt(move |answer| {
            let Some(parts) = self.parts() else { return };
            match answer {
                Ok(receipt) => {
                    *parts.receipt.borrow_mut() = Some(Rc::new(receipt));
                    self.has_receipt.set(true);
                    if print {
                        parts.host.print();
                    }
                }
                Err(problem) if print => self.tell(problem),
                Err(_) => {}
            }
        });
    }

    /// Prints the receipt.
    pub(crate) fn print_receipt(self) {
        match self.parts() {
            Some(parts) if self.has_receipt.get_untracked() => parts.host.print(),
            _ => self.load_receipt(true),
        }
    }

    pub(super) fn post(self, path: &'static str, json: String) {
        let Some(parts) = self.parts() else { return };
        if self.busy.get_untracked() {
            return;
        }
        self.busy.set(true);
        self.problem.set(None);
        parts.api.post(path, json, move |answer| {
            let Some(parts) = self.parts() else { return };
            self.busy.set(false);
            match answer {
                Ok(order) => {
                    self.choosing.set(false);
                    self.update(order);
                }
                Err(problem) => {
                    self.tell(problem);
                    // The prices or the order may not be what the screen shows.
                    if self.is_choosing() {
                        self.load_quotes();
                    }
                    parts.live.ask();
                }
            }
        });
    }
}
