//! The quotes, and the customer's choice among them.

use std::sync::Arc;

use florin_checkout_api::Quote;
use leptos::prelude::*;

use super::checkout::{Checkout, Quotes, Shared};
use super::{Press, Problem};
use crate::browser::{later, now_ms};
use crate::format::networks::needs_network_warning;

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
        let done = move |response: Result<Vec<Quote>, Problem>| {
            let Some(shared) = self.shared() else { return };
            let quotes = match response {
                Ok(quotes) => quotes,
                Err(problem) => {
                    shared.connection.on_quotes(RETRY_SECONDS);
                    if !matches!(self.quotes.get_untracked(), Quotes::Shown(_)) {
                        self.quotes.set(Quotes::Missing);
                    }
                    // It lasts: reported once, however often the quotes are requested.
                    if problem.is_about_currency() && !untrack(|| self.has_unpriced_currency()) {
                        self.report(problem);
                    }
                    return;
                }
            };
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
        };
        shared.connection.quotes(Box::new(done));
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

    /// The customer picks an asset. The network of one that exists on several is confirmed first.
    pub(crate) fn pick(self, crypto_code: &str) {
        if self.is_busy.get_untracked() {
            return;
        }
        let Some(quote) = untrack(|| self.quote(crypto_code)) else {
            return;
        };
        if self.has_several_networks(&quote) {
            self.forget_press();
            self.confirming.set(quote.crypto_code);
        } else {
            self.accept(quote);
        }
    }

    /// The customer pays in this asset at the quoted price.
    pub(crate) fn accept(self, quote: Quote) {
        if let Some(shared) = self.shared() {
            shared.host.remember(&quote.crypto_code);
        }
        self.open_attempt(quote.crypto_code, quote.quote_id);
    }

    /// Returns `true` if the asset is sent on other networks as well, here or elsewhere.
    pub(crate) fn has_several_networks(self, quote: &Quote) -> bool {
        let is_same_asset = |other: &&Quote| other.asset == quote.asset;
        let shown = untrack(|| self.shown_quotes());
        let listed = shown.map_or(0, |quotes| quotes.iter().filter(is_same_asset).count());
        listed > 1 || needs_network_warning(&quote.asset, &quote.network)
    }

    /// The shop's page picked an asset: opened at once, or its network confirmed. It is not kept as the last choice.
    fn preselect(self, crypto_code: &str) {
        let Some(quote) = untrack(|| self.quote(crypto_code)).filter(|quote| quote.available)
        else {
            return;
        };
        if self.has_several_networks(&quote) {
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

    pub(crate) fn choose_again(self) {
        self.quotes.set(Quotes::Awaited);
        self.forget_press();
        self.is_choosing.set(true);
    }
}
