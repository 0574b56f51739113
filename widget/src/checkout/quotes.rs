//! The prices on offer.

use std::rc::Rc;

use checkout_api::Quote;
use leptos::prelude::*;

use super::Checkout;
use crate::task::spawn;

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
        spawn(async move {
            let answer = parts.api.quotes().await;
            if self.parts().is_none() {
                return;
            }
            if let Ok(quotes) = answer {
                let hold = quotes.iter().map(|quote| quote.valid_for_seconds).min();
                parts.live.quotes_hold(hold.unwrap_or(30).max(5));
                let wanted = parts.host.asset();
                let first = matches!(self.quotes.get_untracked(), Quotes::Awaited);
                let chosen = quotes
                    .iter()
                    .find(|quote| first && quote.available && quote.crypto_code == wanted)
                    .cloned();
                self.quotes.set(Quotes::Shown(quotes.into()));
                if let Some(quote) = chosen.filter(|_| !self.choosing.get_untracked()) {
                    self.choose(quote.crypto_code, quote.quote_id);
                }
            } else {
                parts.live.quotes_hold(15);
                if !matches!(self.quotes.get_untracked(), Quotes::Shown(_)) {
                    self.quotes.set(Quotes::Missing);
                }
            }
        });
    }

    /// Opens another attempt in the same asset at today's price; offers the choice when it is not to be had.
    pub(crate) fn renew(self, crypto_code: String) {
        let Some(parts) = self.parts() else { return };
        if self.busy.get_untracked() {
            return;
        }
        self.busy.set(true);
        spawn(async move {
            let quotes = parts.api.quotes().await.unwrap_or_default();
            if self.parts().is_none() {
                return;
            }
            self.busy.set(false);
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
