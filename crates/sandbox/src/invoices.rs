//! Every invoice of this run, in the order in which they were opened.

use std::time::Duration;

use florin_money::{Amount, Currency};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use crate::chain::Chain;
use crate::coin::Coin;
use crate::conversion::Terms;
use crate::invoice::{Final, Hosted, Invoice, Opening, Refused, Standing, Status, Transaction};
use crate::payment_uri::payment_uri;
use crate::seed::Seed;
use crate::shelf::Shelf;

/// The service's invoices.
#[derive(Debug)]
pub(crate) struct Invoices {
    seed: Seed,
    shelf: Shelf<Invoice>,
    next: NextInvoice,
}

/// What somebody wants an invoice for.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) coin: Coin,
    pub(crate) terms: Terms,
    pub(crate) local_currency: Currency,
    pub(crate) minutes: u32,
    /// The session's, when the service's own page wants it.
    pub(crate) session: Option<(String, String, Hosted)>,
}

/// What the next invoice says instead of the truth: a corrupted address, a foreign QR code.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NextInvoice {
    pub(crate) address: Option<String>,
    pub(crate) qr_string: Option<String>,
}

/// Something that a callback tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Announcement {
    pub(crate) invoice_id: String,
    pub(crate) reached: Final,
    /// Where; `None` for the account's own URL.
    pub(crate) callback_url: Option<String>,
    /// How long it is held back.
    pub(crate) delay: Duration,
    /// Those that were to come before it and come after its first try, oldest first.
    pub(crate) followers: Vec<Announcement>,
}

impl Announcement {
    /// What is told at once, with nothing behind it.
    pub(crate) fn new(invoice_id: String, reached: Final, callback_url: Option<String>) -> Self {
        Self {
            invoice_id,
            reached,
            callback_url,
            delay: Duration::ZERO,
            followers: Vec::new(),
        }
    }
}

/// What moved an invoice since it was last looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) invoice_id: String,
    pub(crate) from: Status,
    pub(crate) to: Status,
    /// A final status that nobody was told yet.
    pub(crate) announced: Option<Final>,
    /// Where that is told; `None` for the account's own URL.
    pub(crate) callback_url: Option<String>,
}

impl Invoices {
    pub(crate) fn new(seed: Seed) -> Self {
        Self {
            seed,
            shelf: Shelf::default(),
            next: NextInvoice::default(),
        }
    }

    /// Opens an invoice at a fresh address, or at the one that was asked for with [`Invoices::lie_next`].
    pub(crate) fn open(&mut self, wanted: Wanted, now: Timestamp) -> &Invoice {
        let Wanted { coin, terms, .. } = wanted;
        let number = self.shelf.next_number();
        let lie = core::mem::take(&mut self.next);
        let address = lie
            .address
            .unwrap_or_else(|| coin.chain.address(&self.seed.draw("address", number)));
        let qr_string = lie
            .qr_string
            .unwrap_or_else(|| payment_uri(&coin, &address, &terms.crypto));
        let lifetime = SignedDuration::from_mins(i64::from(wanted.minutes));
        let (id, email, hosted) = match wanted.session {
            Some((id, email, hosted)) => (id, Some(email), Some(hosted)),
            None => (
                format!("inv_{}", self.seed.id("invoice", number)),
                None,
                None,
            ),
        };
        let opening = Opening {
            id: id.clone(),
            coin,
            terms,
            local_currency: wanted.local_currency,
            address,
            qr_string,
            expires_at: now
                .saturating_add(lifetime)
                .expect("a duration is no calendar unit"),
            email,
            hosted,
        };
        let due = opening.expires_at;
        self.shelf.add(id, Invoice::open(opening, now), due)
    }

    /// The next invoice answers with these instead. A QR string that is not given follows the address.
    pub(crate) fn lie_next(&mut self, next: NextInvoice) {
        self.next = next;
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Invoice> {
        self.shelf.find(id)
    }

    pub(crate) fn find_mut(&mut self, id: &str) -> Option<&mut Invoice> {
        self.shelf.find_mut(id)
    }

    /// An address of the invoice's chain that is not its own.
    pub(crate) fn other_address(&self, id: &str) -> Option<String> {
        let invoice = self.find(id)?;
        Some(invoice.coin.chain.address(&self.seed.draw(id, 0)))
    }

    /// Those that are kept.
    pub(crate) fn count(&self) -> usize {
        self.shelf.len()
    }

    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &Invoice> {
        self.shelf.newest_first()
    }

    /// Sends `amount` to an invoice's address; `None` when there is no such invoice.
    pub(crate) fn pay(
        &mut self,
        id: &str,
        amount: Amount,
        standing: Standing,
        now: Timestamp,
    ) -> Option<Result<(), Refused>> {
        let seed = self.seed;
        let invoice = self.find_mut(id)?;
        let nth = u64::try_from(invoice.transactions().len()).expect("transactions fit the memory");
        let drawn = seed.draw(id, nth);
        let transaction = Transaction {
            hash: invoice.coin.chain.transaction_hash(&drawn),
            amount,
            seen_at: now,
            standing,
        };
        Some(invoice.pay(transaction))
    }

    /// Blocks are found on one chain, or on all.
    pub(crate) fn mine(&mut self, chain: Option<Chain>, blocks: u32) {
        let on = |invoice: &Invoice| chain.is_none_or(|chain| chain == invoice.coin.chain);
        self.shelf
            .change_all(|invoice| on(invoice) && invoice.mine(blocks));
    }

    /// Blocks are taken back on one chain, or on all.
    pub(crate) fn reorganize(&mut self, chain: Option<Chain>, blocks: u32) {
        let on = |invoice: &Invoice| chain.is_none_or(|chain| chain == invoice.coin.chain);
        self.shelf
            .change_all(|invoice| on(invoice) && invoice.reorganize(blocks));
    }

    /// What moved since the last look: statuses, and which of them are to be told.
    pub(crate) fn changes(&mut self, now: Timestamp) -> Vec<Change> {
        self.shelf.look(now, |invoice| {
            let (from, to) = invoice.moved(now)?;
            let hosted = invoice.hosted.as_ref();
            Some(Change {
                invoice_id: invoice.id.clone(),
                from,
                to,
                callback_url: hosted.map(|hosted| hosted.callback_url.clone()),
                announced: invoice.announce(now),
            })
        })
    }
}
