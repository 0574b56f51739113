//! Every invoice of this run, in the order in which they were opened.

use jiff::Timestamp;
use money::{Amount, Currency};
use serde::Deserialize;

use crate::coin::Coin;
use crate::conversion::Terms;
use crate::invoice::{Final, Invoice, Opening, Refused, Status, Transaction};
use crate::payment_uri::payment_uri;
use crate::seed::Seed;
use crate::settings::Settings;

/// The service's invoices.
#[derive(Debug)]
pub(crate) struct Invoices {
    seed: Seed,
    local_currency: Currency,
    minutes: u32,
    all: Vec<Invoice>,
    next: NextInvoice,
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
}

/// What moved an invoice since it was last looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) invoice_id: String,
    pub(crate) from: Status,
    pub(crate) to: Status,
    /// A final status that nobody was told yet.
    pub(crate) announced: Option<Final>,
}

impl Invoices {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            seed: Seed::new(settings.seed),
            local_currency: settings.local_currency,
            minutes: settings.invoice_minutes,
            all: Vec::new(),
            next: NextInvoice::default(),
        }
    }

    /// Opens an invoice at a fresh address, or at the one that was asked for with [`Invoices::lie_next`].
    pub(crate) fn open(&mut self, coin: Coin, terms: Terms, now: Timestamp) -> &Invoice {
        let number = u64::try_from(self.all.len()).expect("invoices fit the memory") + 1;
        let lie = core::mem::take(&mut self.next);
        let address = lie
            .address
            .unwrap_or_else(|| coin.chain.address(&self.seed.draw("address", number)));
        let qr_string = lie
            .qr_string
            .unwrap_or_else(|| payment_uri(&coin, &address, &terms.crypto));
        let opening = Opening {
            id: format!("inv_{}", self.seed.id("invoice", number)),
            coin,
            terms,
            local_currency: self.local_currency,
            address,
            qr_string,
            minutes: self.minutes,
        };
        self.all.push(Invoice::open(opening, now));
        self.all.last().expect("one was pushed")
    }

    /// The next invoice answers with these instead. A QR string that is not given follows the address.
    pub(crate) fn lie_next(&mut self, next: NextInvoice) {
        self.next = next;
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Invoice> {
        self.all.iter().find(|invoice| invoice.id == id)
    }

    pub(crate) fn find_mut(&mut self, id: &str) -> Option<&mut Invoice> {
        self.all.iter_mut().find(|invoice| invoice.id == id)
    }

    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &Invoice> {
        self.all.iter().rev()
    }

    /// Sends `amount` to an invoice's address; `None` when there is no such invoice.
    pub(crate) fn pay(
        &mut self,
        id: &str,
        amount: Amount,
        confirmations: u32,
        now: Timestamp,
    ) -> Option<Result<(), Refused>> {
        let seed = self.seed;
        let invoice = self.find_mut(id)?;
        let nth = u64::try_from(invoice.transaction_count()).expect("transactions fit the memory");
        let drawn = seed.draw(id, nth);
        let transaction = Transaction {
            hash: invoice.coin.chain.transaction_hash(&drawn),
            seen_at: now,
            confirmations,
        };
        Some(invoice.pay(amount, transaction))
    }

    /// Finds blocks on every chain.
    pub(crate) fn mine(&mut self, blocks: u32) {
        for invoice in &mut self.all {
            invoice.mine(blocks);
        }
    }

    /// What moved since the last look: statuses, and which of them are to be told.
    pub(crate) fn changes(&mut self, now: Timestamp) -> Vec<Change> {
        let news = self.all.iter_mut().filter_map(|invoice| {
            let (from, to) = invoice.moved(now)?;
            Some(Change {
                invoice_id: invoice.id.clone(),
                from,
                to,
                announced: invoice.announce(now),
            })
        });
        news.collect()
    }
}
