//! Bugs that the rules must find: a trigger of the database, or a driver's answer that is changed on its way.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planted {
    /// The end of `CREATE TRIGGER plant AFTER`: the database does something else than the core asks for.
    Trigger(&'static str),
    DeadlineByTheClock,
    CursorOutsideOfTheTransaction,
}

use Planted::{CursorOutsideOfTheTransaction, DeadlineByTheClock, Trigger};

/// The rule that finds it first, the bug, and the plant.
pub(crate) const PLANTED: [(&str, &str, Planted); 12] = [
    ("money", "a transfer is counted twice under another id", Trigger(
        "INSERT ON transfers BEGIN INSERT INTO transfers SELECT chain, id || 'b', number + 1000000, address_index, address,
         code, amount, transaction_hash, block, low_fee, gone, seen_at FROM transfers WHERE id = NEW.id; END",
    )),
    ("money or status", "the cursor is written outside of the transaction", CursorOutsideOfTheTransaction),
    ("status", "the deadline counts by the clock", DeadlineByTheClock),
    ("status", "one confirmation too many is counted", Trigger(
        "UPDATE OF block ON transfers BEGIN UPDATE transfers SET block = block - 1 WHERE id = NEW.id; END",
    )),
    ("money", "gone is ignored", Trigger(
        "UPDATE OF gone ON transfers WHEN NEW.gone > OLD.gone
         BEGIN UPDATE transfers SET gone = 0 WHERE id = NEW.id; END",
    )),
    ("money", "a transfer that comes back stays gone", Trigger(
        "UPDATE OF gone ON transfers WHEN NEW.gone < OLD.gone
         BEGIN UPDATE transfers SET gone = 1 WHERE id = NEW.id; END",
    )),
    ("money", "money without an invoice is forgotten", Trigger(
        "INSERT ON transfers WHEN NOT EXISTS (SELECT 1 FROM invoices WHERE address_index = NEW.address_index)
         BEGIN DELETE FROM transfers WHERE id = NEW.id; END",
    )),
    ("status", "a reorganisation changes no block", Trigger(
        "UPDATE OF block ON transfers WHEN OLD.block IS NOT NULL AND NEW.block IS NOT OLD.block
         BEGIN UPDATE transfers SET block = OLD.block WHERE id = NEW.id; END",
    )),
    ("address", "the chain does not raise the next index", Trigger(
        "UPDATE OF next_index ON chains WHEN NEW.next_index > OLD.next_index + 1
         BEGIN UPDATE chains SET next_index = OLD.next_index; END",
    )),
    ("callback", "a callback is queued twice", Trigger(
        "INSERT ON callbacks BEGIN INSERT INTO callbacks
         SELECT NEW.number + 1000000, NEW.invoice_id, NEW.status, NEW.url, 0, 0; END",
    )),
    ("settled", "a repeated answer changes when a payment was seen", Trigger(
        "UPDATE OF block ON transfers BEGIN UPDATE transfers SET seen_at = seen_at + 1000 WHERE id = NEW.id; END",
    )),
    ("kept", "an invoice is lost after its answer", Trigger(
        "INSERT ON invoices WHEN NEW.number % 20 = 0 BEGIN DELETE FROM invoices WHERE id = NEW.id; END",
    )),
];
