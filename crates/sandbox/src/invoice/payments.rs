//! What happens to an invoice's payments on their chain.

use florin_money::Amount;

use super::{Invoice, MAX_TRANSACTIONS, Received, Refused, Standing, Transaction};

impl Invoice {
    /// A transaction is seen.
    pub(crate) fn pay(&mut self, seen: Transaction) -> Result<(), Refused> {
        let amount = seen.amount;
        if self.failed {
            return Err(Refused::HasFailed);
        }
        if amount.is_zero() {
            return Err(Refused::Nothing);
        }
        let decimals = self.coin.decimals;
        if amount.decimals() > decimals {
            return Err(Refused::TooFine { decimals });
        }
        if self.transactions.len() == MAX_TRANSACTIONS {
            return Err(Refused::TooMany);
        }
        let crypto = self.received.crypto.checked_add(amount);
        self.received = crypto
            .and_then(|crypto| Received::worth(crypto, &self.terms, self.local_currency))
            .map_err(Refused::Incalculable)?;
        self.transactions.push(seen);
        Ok(())
    }

    /// Blocks are found: every transaction counts them but those that are stuck. Says whether any did.
    pub(crate) fn mine(&mut self, blocks: u32) -> bool {
        if self.failed || blocks == 0 {
            return false;
        }
        let mut counted = false;
        for seen in &mut self.transactions {
            seen.standing = match seen.standing {
                Standing::Waiting => Standing::InBlock(blocks),
                Standing::InBlock(count) => Standing::InBlock(count.saturating_add(blocks)),
                other @ (Standing::Stuck | Standing::Replaced) => other,
            };
            counted |= seen.confirmations() > 0;
        }
        counted
    }

    /// Blocks are taken back: what was in them waits again. Says whether anything was.
    pub(crate) fn reorganize(&mut self, blocks: u32) -> bool {
        let mut lost = false;
        for seen in &mut self.transactions {
            if let Standing::InBlock(count) = seen.standing {
                seen.standing = match count.saturating_sub(blocks) {
                    0 => Standing::Waiting,
                    left => Standing::InBlock(left),
                };
                lost = true;
            }
        }
        lost
    }

    /// The fee of every stuck transaction is raised: the next block takes it.
    pub(crate) fn unstick(&mut self) -> Result<(), Refused> {
        let mut stuck = self.transactions.iter_mut();
        let mut raised = false;
        for seen in stuck
            .by_ref()
            .filter(|seen| seen.standing == Standing::Stuck)
        {
            seen.standing = Standing::Waiting;
            raised = true;
        }
        if raised {
            Ok(())
        } else {
            Err(Refused::NoSuchPayment)
        }
    }

    /// The latest payment is replaced by one to somebody else: it never was.
    pub(crate) fn replace(&mut self) -> Result<(), Refused> {
        let stands = |seen: &&mut Transaction| seen.standing != Standing::Replaced;
        let latest = self.transactions.iter_mut().rev().find(stands);
        latest.ok_or(Refused::NoSuchPayment)?.standing = Standing::Replaced;
        let mut crypto = Amount::ZERO;
        for seen in self.seen() {
            crypto = crypto
                .checked_add(seen.amount)
                .map_err(Refused::Incalculable)?;
        }
        self.received = if crypto.is_zero() {
            Received::NOTHING
        } else {
            Received::worth(crypto, &self.terms, self.local_currency)
                .map_err(Refused::Incalculable)?
        };
        Ok(())
    }
}
