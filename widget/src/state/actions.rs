//! Requests of the customer to the proxy once there is an order.

use std::sync::Arc;

use florin_checkout_api::{MarkPaid, OpenAttempt, OrderView, ReceiptEmail, RefundAddress};
use leptos::prelude::*;
use wasm_bindgen::JsValue;

use super::checkout::Print;
use super::connection::{Chosen, Request};
use super::phase::Phase;
use super::{Checkout, Opened, Press, Problem};
use crate::browser::later;
use crate::from_js::from_json;

const PRINT: Press = Press::Print(Print(Checkout::print_receipt));
const REPORT_AGAIN_MS: i32 = 3_000;

impl Checkout {
    /// Opens an attempt in this asset, at the price that was shown.
    pub(crate) fn open_attempt(self, crypto_code: String, quote_id: String) {
        let attempt = OpenAttempt {
            crypto_code,
            quote_id,
        };
        self.send(Request::Attempt(attempt));
    }

    /// "I've sent it".
    pub(crate) fn mark_paid(self) {
        self.send(Request::Paid(MarkPaid::default()));
    }

    /// Passes on the transaction by which a wallet has sent the payment to an attempt's address, with "I've sent it". It is
    /// tried again until the proxy has it, beside every other request: the money is on its way.
    pub(crate) fn report_transaction(self, hash: String, address: String) {
        let Some(shared) = self.shared() else { return };
        let paid = MarkPaid {
            transaction_hash: Some(hash.clone()),
            address: Some(address.clone()),
            ..MarkPaid::default()
        };
        let done = move |response: Result<OrderView, Problem>| {
            if self.is_removed() {
                return;
            }
            match response {
                Ok(order) => self.update(order),
                Err(problem) if problem.is_temporary() => {
                    later(REPORT_AGAIN_MS, move || {
                        self.report_transaction(hash, address);
                    });
                }
                // The order is over: what arrives is found without the hint.
                Err(_) => {}
            }
        };
        shared.connection.send(Request::Paid(paid), Box::new(done));
    }

    pub(crate) fn ask_for_receipt(self, email: String) {
        self.send(Request::Email(ReceiptEmail { email }));
    }

    pub(crate) fn name_refund_address(self, address: String) {
        self.send(Request::RefundAddress(RefundAddress { address }));
    }

    pub(crate) fn open_session(self) {
        self.send(Request::Session);
    }

    /// Gets the receipt, so that it is there when the customer prints.
    pub(crate) fn load_receipt(self, print: bool) {
        let Some(shared) = self.shared() else { return };
        let done = move |response: Result<String, Problem>| {
            let Some(shared) = self.shared() else { return };
            let read = |json: String| from_json(&json).map_err(|_| Problem::Unreadable);
            match response.and_then(read) {
                Ok(receipt) => {
                    self.receipt.set(Some(Arc::new(receipt)));
                    if print {
                        self.forget_press();
                        shared.host.print();
                    }
                }
                Err(problem) if print => self.report_press(PRINT, problem),
                Err(_) => {}
            }
        };
        shared.connection.receipt(Box::new(done));
    }

    pub(crate) fn print_receipt(self) {
        match self.shared() {
            Some(shared) if self.receipt.with_untracked(Option::is_some) => shared.host.print(),
            _ if self.begin_press(&PRINT) => self.load_receipt(true),
            _ => {}
        }
    }

    /// Dispatches `florin-close`: the customer goes back to the shop.
    pub(crate) fn close(self) {
        if let Some(shared) = self.shared() {
            shared.host.emit("close", &JsValue::NULL);
        }
    }

    pub(super) fn send(self, request: Request) {
        let Some(shared) = self.shared() else { return };
        let press = Press::Send(request.clone());
        if !self.begin_press(&press) {
            return;
        }
        self.is_busy.set(true);
        if let (Request::Attempt(choice), false) = (&request, self.has_order()) {
            let done = move |response: Result<Chosen, Problem>| {
                if self.is_removed() {
                    return;
                }
                self.is_busy.set(false);
                match response {
                    Ok(Chosen { order, refusal }) => {
                        self.forget_press();
                        self.receive(order);
                        if let Some(problem) = refusal {
                            self.refuse(press, problem);
                        }
                    }
                    Err(problem) => self.refuse(press, problem),
                }
            };
            shared.connection.choose(choice.clone(), Box::new(done));
            return;
        }
        let done = move |response| {
            if self.is_removed() {
                return;
            }
            self.is_busy.set(false);
            match response {
                Ok(order) => {
                    self.forget_press();
                    self.is_choosing.set(false);
                    self.update(order);
                }
                Err(problem) => self.refuse(press, problem),
            }
        };
        shared.connection.send(request, Box::new(done));
    }

    /// Reports a press without a result. The prices or the order may not be what the screen shows.
    fn refuse(self, press: Press, problem: Problem) {
        self.report_press(press, problem);
        if self.phase.get_untracked() == Phase::Choosing {
            self.load_quotes();
        }
        if let Some(shared) = self.shared() {
            shared.connection.poll_now();
        }
    }
}

impl Checkout {
    pub(crate) fn begin(self) {
        self.leave_and_open(false);
    }

    pub(crate) fn start_over(self) {
        self.leave_and_open(true);
    }

    fn leave_and_open(self, as_new: bool) {
        if self.is_busy.get_untracked() {
            return;
        }
        if let Some(shared) = self.shared() {
            shared.connection.cancel_retry();
        }
        self.order.set(None);
        self.offer.set(None);
        self.forget_press();
        self.is_stopped.set(false);
        self.is_choosing.set(false);
        self.donation.set(None);
        self.receipt.set(None);
        self.quotes.set(String::new());
        self.open(as_new, "");
    }

    /// Opens the order after an attempt that failed. What is shown stays until there is a response.
    pub(crate) fn retry(self) {
        if !self.is_busy.get_untracked() {
            self.open(false, "");
        }
    }

    /// Opens the order of a donation of this amount, a decimal text: the proxy checks its form and its bounds.
    pub(crate) fn donate(self, amount: &str) {
        if self.begin_press(&Press::Donate(amount.to_owned())) {
            self.open(false, amount);
        }
    }

    fn open(self, as_new: bool, amount: &str) {
        let Some(shared) = self.shared() else { return };
        self.is_busy.set(true);
        let press = Press::Donate(amount.to_owned());
        let done = move |response: Result<Opened, Problem>| {
            if self.is_removed() {
                return;
            }
            self.is_busy.set(false);
            match response {
                Ok(Opened::Order(order)) => self.receive(*order),
                Ok(Opened::Offer(offer, quotes)) => {
                    // Without them the list asks again.
                    if let Some(quotes) = quotes {
                        self.show_quotes(quotes);
                    }
                    self.receive_offer(*offer);
                }
                Ok(Opened::Donation(donation)) => {
                    self.problem.set(None);
                    self.is_stopped.set(false);
                    self.donation.set(Some(Arc::new(donation)));
                }
                // What was typed stays on the screen.
                Err(problem) if self.has_screen() => self.report_press(press, problem),
                Err(problem) => self.show_stopped(problem),
            }
        };
        shared.connection.open(as_new, amount, Box::new(done));
    }
}
