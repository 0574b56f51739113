//! The prices on offer, and the customer's choice among them.

use std::rc::Rc;

use checkout_api::Quote;
use reactive_graph::graph::untrack;
use reactive_graph::prelude::*;

use super::{Checkout, Parts};
use crate::live::now_ms;
use crate::network::is_guest;
use crate::task::later;

/// How long the page notes that prices have moved.
const FRESH_FOR_MS: i32 = 6_000;
/// A screen reader is told no more often.
const SAID_EVERY_MS: u64 = 60_000;

/// The prices on the screen.
#[derive(Clone)]
pub(crate) enum Quotes {
    /// Under way, with nothing to show yet.
    Awaited,
    /// Not to be had at present.
    Missing,
    /// Prices, in the order in which they are offered.
    Shown(Rc<[Quote]>),
}

impl Checkout {
    /// Gets the prices; those on the screen stay until then.
    pub(crate) fn load_quotes(self) {
        let Some(parts) = self.parts() else { return };
        parts.api.quotes(move |answer| {
            let Some(parts) = self.parts() else { return };
            if let Ok(quotes) = answer {
                let hold = quotes.iter().map(|quote| quote.valid_for_seconds).min();
                parts.live.quotes_hold(hold.unwrap_or(30).max(5));
                let wanted = parts.host.asset();
                let before = self.quotes.get_untracked();
                self.quotes.set(Quotes::Shown(quotes.into()));
                match before {
                    Quotes::Shown(before) => {
                        if self.have_moved(&before) {
                            self.tell_fresh(&parts);
                        }
                    }
                    Quotes::Awaited if !self.choosing.get_untracked() => self.preselect(&wanted),
                    Quotes::Awaited | Quotes::Missing => {}
                }
            } else {
                parts.live.quotes_hold(15);
                if !matches!(self.quotes.get_untracked(), Quotes::Shown(_)) {
                    self.quotes.set(Quotes::Missing);
                }
            }
        });
    }

    /// The prices on the screen, once there are any. Follows them.
    pub(crate) fn shown(self) -> Option<Rc<[Quote]>> {
        match self.quotes.get() {
            Quotes::Shown(quotes) => Some(quotes),
            Quotes::Awaited | Quotes::Missing => None,
        }
    }

    /// What the order costs in this asset now, as far as it is offered. Follows the prices.
    pub(crate) fn quote(self, crypto_code: &str) -> Option<Quote> {
        let quotes = self.shown()?;
        find(&quotes, crypto_code).cloned()
    }

    /// The customer picks an asset: one that lives on several networks is confirmed before it is paid in.
    pub(crate) fn pick(self, crypto_code: &str) {
        if self.busy.get_untracked() {
            return;
        }
        let Some(quote) = untrack(|| self.quote(crypto_code)) else {
            return;
        };
        if self.has_several_networks(&quote) {
            self.confirming.set(quote.crypto_code);
        } else {
            self.take(quote);
        }
    }

    /// The customer pays in this asset at this price.
    pub(crate) fn take(self, quote: Quote) {
        if let Some(parts) = self.parts() {
            parts.host.remember(&quote.crypto_code);
        }
        self.choose(quote.crypto_code, quote.quote_id);
    }

    /// Whether the asset is sent on other networks as well, here or elsewhere.
    pub(crate) fn has_several_networks(self, quote: &Quote) -> bool {
        let again = |other: &&Quote| other.asset == quote.asset;
        let shown = untrack(|| self.shown());
        let listed = shown.map_or(0, |quotes| quotes.iter().filter(again).count());
        listed > 1 || is_guest(&quote.asset, &quote.network)
    }

    /// The shop's page picked an asset: opened at once, or its network confirmed. It is not the customer's last choice.
    fn preselect(self, crypto_code: &str) {
        let Some(quote) = untrack(|| self.quote(crypto_code)).filter(|quote| quote.available)
        else {
            return;
        };
        if self.has_several_networks(&quote) {
            self.confirming.set(quote.crypto_code);
        } else {
            self.choose(quote.crypto_code, quote.quote_id);
        }
    }

    /// Whether anything now costs other than it did before.
    fn have_moved(self, before: &[Quote]) -> bool {
        let moved = |quote: &Quote| {
            let now = untrack(|| self.quote(&quote.crypto_code));
            now.is_some_and(|now| {
                now.amount_in_crypto != quote.amount_in_crypto
                    || now.amount_in_usd != quote.amount_in_usd
            })
        };
        before.iter().any(moved)
    }

    /// Says that the prices have moved: on the page for a moment, to a screen reader seldom.
    fn tell_fresh(self, parts: &Parts) {
        let now = now_ms();
        let said = parts.prices_said_ms.get();
        if said.is_none_or(|said| now.saturating_sub(said) >= SAID_EVERY_MS) {
            parts.prices_said_ms.set(Some(now));
            self.say(self.word("prices_fresh"));
        }
        self.fresh.set(true);
        let past = move || {
            let _ = self.fresh.try_set(false);
        };
        later(FRESH_FOR_MS, past);
    }

    /// Opens another attempt in the same asset at today's price; offers the choice when it is not to be had.
    pub(crate) fn renew(self, crypto_code: String) {
        let Some(parts) = self.parts() else { return };
        if self.busy.get_untracked() {
            return;
        }
        self.busy.set(true);
        parts.api.quotes(move |answer| {
            if self.parts().is_none() {
                return;
            }
            self.busy.set(false);
            let quotes = answer.unwrap_or_default();
            let quote = quotes
                .into_iter()
                .find(|quote| quote.available && quote.crypto_code == crypto_code);
            match quote {
                Some(quote) => self.choose(quote.crypto_code, quote.quote_id),
                None => self.choose_again(),
            }
        });
    }

    /// Shows the choice of assets.
    pub(crate) fn choose_again(self) {
        self.quotes.set(Quotes::Awaited);
        self.problem.set(None);
        self.choosing.set(true);
    }
}

fn find<'a>(quotes: &'a [Quote], crypto_code: &str) -> Option<&'a Quote> {
    quotes.iter().find(|quote| quote.crypto_code == crypto_code)
}
