//! The quotes, as the page's script draws them, and the way to them and back.

use leptos::prelude::*;

use super::checkout::Checkout;
use super::phase::Phase;
use super::{Opened, Press, Problem, Quotes};

/// Minimum validity of a quote, so that the page does not request new quotes without a pause.
const SHORTEST_HOLD_SECONDS: u32 = 5;
/// Validity of prices that name no end.
const USUAL_HOLD_SECONDS: u32 = 30;
/// Pause before prices are requested again after a failure.
const RETRY_SECONDS: u32 = 15;

impl Checkout {
    /// Gets the quotes; those on the screen stay until then.
    pub(crate) fn load_quotes(self) {
        let Some(shared) = self.shared() else { return };
        if !self.has_order() {
            let done = move |response: Result<Opened, Problem>| match response {
                _ if self.is_removed() => {}
                Ok(Opened::Offer(offer, quotes)) => {
                    self.receive_offer(*offer);
                    match quotes {
                        Some(quotes) => self.show_quotes(quotes),
                        None => self.miss_quotes(),
                    }
                }
                // It was opened elsewhere.
                Ok(Opened::Order(order)) => self.receive(*order),
                Ok(Opened::Donation(_)) => {}
                Err(problem) => self.lack_quotes(problem),
            };
            shared.connection.open(false, "", Box::new(done));
            return;
        }
        let done = move |response: Result<Quotes, Problem>| match response {
            _ if self.is_removed() => {}
            Ok(quotes) => self.show_quotes(quotes),
            Err(problem) => self.lack_quotes(problem),
        };
        shared.connection.quotes(Box::new(done));
    }

    fn lack_quotes(self, problem: Problem) {
        self.miss_quotes();
        // It lasts: reported once, however often the quotes are requested.
        if problem.is_about_currency() && !untrack(|| self.has_unpriced_currency()) {
            self.report(problem);
        }
    }

    /// There are no prices now. Those on the screen stay.
    fn miss_quotes(self) {
        let Some(shared) = self.shared() else { return };
        shared.connection.on_quotes(RETRY_SECONDS);
        if self.quotes.with_untracked(String::is_empty) {
            self.quotes.set(String::from("[]"));
        }
    }

    pub(super) fn show_quotes(self, quotes: Quotes) {
        let Some(shared) = self.shared() else { return };
        let prices = quotes.prices.iter();
        let hold = prices.map(|price| price.valid_for_seconds).min();
        let hold = hold.unwrap_or(USUAL_HOLD_SECONDS);
        shared.connection.on_quotes(hold.max(SHORTEST_HOLD_SECONDS));
        self.quotes.set(quotes.json);
    }

    /// Returns `true` if prices in the order's currency cannot be paid. Reads a signal.
    pub(crate) fn has_unpriced_currency(self) -> bool {
        let problem = self.problem.get();
        problem.is_some_and(|problem| problem.is_about_currency())
    }

    /// Opens another attempt in the same asset at today's price; offers the choice when there is no price for it.
    pub(crate) fn renew(self, crypto_code: String) {
        let Some(shared) = self.shared() else { return };
        let press = Press::Renew(crypto_code.clone());
        if !self.begin_press(&press) {
            return;
        }
        self.is_busy.set(true);
        let done = move |response: Result<Quotes, Problem>| {
            if self.is_removed() {
                return;
            }
            self.is_busy.set(false);
            let quotes = match response {
                Ok(quotes) => quotes,
                Err(problem) => return self.report_press(press, problem),
            };
            let mut prices = quotes.prices.into_iter();
            let price = prices.find(|price| price.available && price.crypto_code == crypto_code);
            match price {
                Some(price) => self.open_attempt(price.crypto_code, price.quote_id),
                None => self.choose_again(),
            }
        };
        shared.connection.quotes(Box::new(done));
    }

    /// Goes to the list from a payment that can still be another one, or back to it.
    pub(crate) fn turn_to_list(self, is_list: bool) {
        let can_choose = self
            .order
            .with_untracked(|order| order.as_ref().is_some_and(|order| order.can_open_attempt));
        if !is_list {
            self.is_choosing.set(false);
        } else if can_choose && self.phase.get_untracked() != Phase::Choosing {
            self.choose_again();
        }
    }

    pub(crate) fn choose_again(self) {
        self.quotes.set(String::new());
        self.forget_press();
        self.is_choosing.set(true);
    }
}
