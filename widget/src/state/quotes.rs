//! The quotes, and the customer's choice among them.

use std::sync::Arc;

use florin_checkout_api::Quote;
use leptos::prelude::*;

use super::checkout::{Checkout, Quotes, Shared, WALLET_ROW};
use super::phase::Phase;
use super::{Opened, Press, Problem};
use crate::browser::{later, now_ms};

const FRESH_FOR_MS: i32 = 6_000;
/// Changed quotes are announced no more often.
const ANNOUNCED_EVERY_MS: u64 = 60_000;
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
        if let Some(quotes) = shared.first_quotes.take() {
            return self.show_quotes(quotes);
        }
        if !self.has_order() {
            let done = move |response: Result<Opened, Problem>| match response {
                _ if self.is_removed() => {}
                Ok(Opened::Offer(offer)) => self.receive_offer(*offer),
                // It was opened elsewhere.
                Ok(Opened::Order(order)) => self.receive(*order),
                Ok(Opened::Donation(_)) => {}
                Err(problem) => self.lack_quotes(problem),
            };
            shared.connection.open(false, "", Box::new(done));
            return;
        }
        let done = move |response: Result<Vec<Quote>, Problem>| match response {
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
    pub(super) fn miss_quotes(self) {
        let Some(shared) = self.shared() else { return };
        shared.connection.on_quotes(RETRY_SECONDS);
        if !matches!(self.quotes.get_untracked(), Quotes::Shown(_)) {
            self.quotes.set(Quotes::Missing);
        }
    }

    pub(super) fn show_quotes(self, quotes: Vec<Quote>) {
        let Some(shared) = self.shared() else { return };
        let hold = quotes.iter().map(|quote| quote.valid_for_seconds).min();
        let hold = hold.unwrap_or(USUAL_HOLD_SECONDS);
        shared.connection.on_quotes(hold.max(SHORTEST_HOLD_SECONDS));
        let before = self.quotes.get_untracked();
        self.quotes.set(Quotes::Shown(quotes.into()));
        match before {
            Quotes::Shown(before) if self.have_changed(&before) => self.note_fresh(&shared),
            Quotes::Awaited if !self.is_choosing.get_untracked() => {
                self.preselect(&shared.host.asset());
            }
            _ => {}
        }
    }

    /// Returns `true` if prices in the order's currency cannot be paid. Reads a signal.
    pub(crate) fn has_unpriced_currency(self) -> bool {
        let problem = self.problem.get();
        problem.is_some_and(|problem| problem.is_about_currency())
    }

    pub(crate) fn shown_quotes(self) -> Option<Arc<[Quote]>> {
        match self.quotes.get() {
            Quotes::Shown(quotes) => Some(quotes),
            Quotes::Awaited | Quotes::Missing => None,
        }
    }

    /// What the order costs in this asset now, while it is offered. Reads a signal.
    pub(crate) fn quote(self, crypto_code: &str) -> Option<Quote> {
        let quotes = self.shown_quotes()?;
        quotes
            .iter()
            .find(|quote| quote.crypto_code == crypto_code)
            .cloned()
    }

    /// The customer picks an asset. The network of one that exists on several is confirmed first, unless a wallet pays, which
    /// switches to it.
    pub(crate) fn pick(self, crypto_code: &str) {
        if self.is_busy.get_untracked() {
            return;
        }
        let Some(quote) = untrack(|| self.quote(crypto_code)) else {
            return;
        };
        if quote.confirms_network && self.chosen_wallet().is_empty() {
            self.forget_press();
            self.confirming.set(quote.crypto_code);
        } else {
            self.accept(quote);
        }
    }

    /// The name of the wallet that pays; empty for none.
    fn chosen_wallet(self) -> String {
        let within = self.within.get_untracked();
        within
            .strip_prefix(WALLET_ROW)
            .unwrap_or_default()
            .to_owned()
    }

    /// The customer pays in this asset at the quoted price.
    pub(crate) fn accept(self, quote: Quote) {
        if let Some(shared) = self.shared() {
            shared.host.remember(&quote.crypto_code);
            shared.host.use_wallet(&self.chosen_wallet());
        }
        self.open_attempt(quote.crypto_code, quote.quote_id);
    }

    /// The shop's page picked an asset: opened at once, or its network confirmed. It is not kept as the last choice.
    fn preselect(self, crypto_code: &str) {
        let Some(quote) = untrack(|| self.quote(crypto_code)).filter(|quote| quote.available)
        else {
            return;
        };
        if quote.confirms_network {
            self.confirming.set(quote.crypto_code);
        } else {
            self.open_attempt(quote.crypto_code, quote.quote_id);
        }
    }

    /// Returns `true` if any price differs from `before`.
    fn have_changed(self, before: &[Quote]) -> bool {
        before.iter().any(|quote| {
            let now = untrack(|| self.quote(&quote.crypto_code));
            now.is_some_and(|now| {
                now.amount_in_crypto != quote.amount_in_crypto
                    || now.amount_in_usd != quote.amount_in_usd
            })
        })
    }

    /// Shows for a moment that the quotes have changed, and announces it seldom.
    fn note_fresh(self, shared: &Shared) {
        let now = now_ms();
        let announced = shared.prices_announced_ms.get();
        if announced.is_none_or(|then| now.saturating_sub(then) >= ANNOUNCED_EVERY_MS) {
            shared.prices_announced_ms.set(Some(now));
            self.announce(self.i18n.text("prices_fresh"));
        }
        self.has_fresh_quotes.set(true);
        later(FRESH_FOR_MS, move || {
            let _ = self.has_fresh_quotes.try_set(false);
        });
    }

    /// Opens another attempt in the same asset at today's price; offers the choice when there is no price for it.
    pub(crate) fn renew(self, crypto_code: String) {
        let Some(shared) = self.shared() else { return };
        let press = Press::Renew(crypto_code.clone());
        if !self.begin_press(&press) {
            return;
        }
        self.is_busy.set(true);
        let done = move |response: Result<Vec<Quote>, Problem>| {
            if self.is_removed() {
                return;
            }
            self.is_busy.set(false);
            let quotes = match response {
                Ok(quotes) => quotes,
                Err(problem) => return self.report_press(press, problem),
            };
            let quote = quotes
                .into_iter()
                .find(|quote| quote.available && quote.crypto_code == crypto_code);
            match quote {
                Some(quote) => self.open_attempt(quote.crypto_code, quote.quote_id),
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
        self.quotes.set(Quotes::Awaited);
        self.forget_press();
        self.is_choosing.set(true);
    }
}
