//! The rules. The truth is the chain's at the tip that the database has recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use florin_gateway::database::{AddressRow, Database};
use florin_gateway::invoice::Invoice;
use florin_gateway::wire::Status;
use florin_money::Amount;
use jiff::Timestamp;
use sqlx::{AnyConnection, Row as _};

use crate::chain::{Seen, amount};
use crate::customer::Answered;
use crate::node::{Node, Snapshot, address};

/// What the rules need beside the database and the chain. A backup has its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Judge {
    pub(crate) answered: BTreeMap<String, Answered>,
    /// Indexes that must not be given again.
    given: BTreeSet<u32>,
    /// The indexes given before the backup, until the first look after it was restored.
    of_backup: Option<BTreeSet<u32>>,
    /// Payments and numbers of an invoice when it was seen settled.
    settled: BTreeMap<String, (BTreeSet<String>, String)>,
}

pub(crate) type Verdict<T = ()> = Result<T, String>;

pub(crate) fn rule(name: &str, holds: bool, detail: impl FnOnce() -> String) -> Verdict {
    let violated = || format!("VIOLATED {name}: {}", detail());
    if holds { Ok(()) } else { Err(violated()) }
}

/// A result of the database, which never fails.
pub(crate) fn works<T, E: ToString>(result: Result<T, E>) -> Verdict<T> {
    result.map_err(|error| format!("VIOLATED works: {}", error.to_string()))
}

/// Waits for writes of operations that were cut off; fails if one keeps its lock.
pub(crate) async fn wait_for_writes(database: &Database) -> Verdict {
    works(database.set_fact("settled", "").await)
}

/// The truth that the database has recorded. Its time is the chain's, or the gateway's clock where that is behind.
pub(crate) async fn recorded(db: &mut AnyConnection, node: &Node) -> Verdict<Arc<Snapshot>> {
    let row = sqlx::query("SELECT cursor, tip_time FROM chains");
    let row = works(row.fetch_one(db).await)?;
    let cursor: String = row.get(0);
    let recorded = works(Timestamp::from_millisecond(row.get(1)))?;
    let mut truth = Snapshot::clone(&node.state.lock().snapshots[&cursor]);
    if let Some(tip) = &mut truth.tip {
        rule("status", recorded <= tip.time, || {
            format!("the time {recorded} is recorded at {tip:?}")
        })?;
        tip.time = recorded;
    }
    Ok(Arc::new(truth))
}

impl Judge {
    pub(crate) fn answer(&mut self, answered: Answered) -> Verdict {
        let is_new = self.given.insert(answered.index);
        let is_right = is_new && answered.address == address(answered.index);
        rule("address", is_right, || {
            format!("given again, or wrong: {answered:?}")
        })?;
        self.answered.insert(answered.id.clone(), answered);
        Ok(())
    }

    /// Continues with what was known at the time of the backup. All indexes stay taken until the chain was read.
    pub(crate) fn restore(&mut self, backup: Self) {
        let given = core::mem::take(&mut self.given);
        // A backup that was made before the first look after a restore knows no index given since the backup before.
        let of_backup = Some(backup.of_backup.unwrap_or(backup.given));
        let settled = BTreeMap::new();
        *self = Self {
            given,
            of_backup,
            settled,
            ..backup
        };
    }

    /// A look was recorded. After a restore the indexes given since the backup may be given again from here on, but for
    /// those up to the last one that was paid.
    pub(crate) fn looked(&mut self, truth: &Snapshot) {
        if let Some(mut given) = self.of_backup.take() {
            let last = truth.transfers.values().map(|seen| seen.output.index).max();
            given.extend(last.map_or(0..0, |last| 0..last + 1));
            self.given = given;
        }
    }

    /// Checks every rule. `after_look`: no invoice was opened since the last look.
    pub(crate) async fn check(
        &mut self,
        database: &Database,
        db: &mut AnyConnection,
        node: &Node,
        after_look: bool,
    ) -> Verdict {
        wait_for_writes(database).await?;
        let truth = recorded(db, node).await?;
        let invoices = works(database.newest_invoices(u32::MAX).await)?;
        check_money(works(database.addresses().await)?, &truth, &invoices)?;
        let mut callbacks = callbacks(db).await?;
        for invoice in &invoices {
            self.check_invoice(invoice, &truth, after_look)?;
            let statuses = invoice.history().iter().map(|(_, status)| *status);
            let reported = statuses.filter(|it| matches!(it, Status::Completed | Status::Failed));
            let expected: Vec<&str> = reported.map(Status::as_str).collect();
            let queued = callbacks.remove(&invoice.id).unwrap_or_default();
            let detail = || format!("{} queued {queued:?}, and was {expected:?}", invoice.id);
            rule("callback", queued == expected, detail)?;
        }
        rule("callback", callbacks.is_empty(), || {
            format!("without an invoice: {callbacks:?}")
        })?;
        let stored: BTreeSet<&String> = invoices.iter().map(|it| &it.id).collect();
        let lost = self.answered.keys().find(|id| !stored.contains(id));
        rule("kept", lost.is_none(), || {
            format!("{lost:?} is not in the database")
        })
    }

    fn check_invoice(&mut self, invoice: &Invoice, truth: &Snapshot, after_look: bool) -> Verdict {
        let (index, code) = (invoice.address_index, invoice.coin.code.as_str());
        let is_of = |seen: &Seen| (seen.output.index, seen.output.code) == (index, code);
        let payments = truth.transfers.iter().filter(|(_, seen)| is_of(seen));
        let mut payments: BTreeMap<&String, &Seen> = payments.collect();
        let required =
            self.answered
                .get(&invoice.id)
                .map_or(invoice.required_confirmations, |answered| {
                    match answered.order.cents {
                        ..10_000 => 1,
                        10_000..100_000 => 3,
                        _ => 6,
                    }
                });
        leave_out_dust(&mut payments, invoice, truth, required);
        let sum = amount(payments.values().map(|seen| seen.output.units).sum());
        let is_counted = invoice.received().crypto == sum;
        rule("money", is_counted, || {
            format!("{invoice:?} received {sum} on the chain")
        })?;
        if let Some(answered) = self.answered.get(&invoice.id) {
            let order = answered.order;
            let terms = (index, code, Amount::from(&invoice.terms.crypto));
            let is_same = terms == (answered.index, order.code, amount(order.units()));
            let is_same = is_same && invoice.address == answered.address;
            rule("settled", is_same, || {
                format!("{invoice:?} was answered as {answered:?}")
            })?;
        }
        let status = invoice.status();
        let is_new = !after_look && invoice.history().len() == 1;
        let possible = possible(invoice, &payments, truth, required);
        rule("status", is_new || possible.contains(&status), || {
            format!(
                "not {possible:?} of {required} with {payments:?} at {:?}: {invoice:?}",
                truth.tip
            )
        })?;
        if !status.has_callback() {
            return Ok(());
        }
        let numbers = invoice.payments().iter();
        let numbers = numbers.map(|it| (&it.transaction_hash, it.amount, it.seen_at));
        let numbers = format!("{:?} {:?}", invoice.received(), numbers.collect::<Vec<_>>());
        let ids: BTreeSet<String> = payments.into_keys().cloned().collect();
        let now = (ids, numbers);
        let before = self.settled.insert(invoice.id.clone(), now.clone());
        let is_stable = before
            .as_ref()
            .is_none_or(|it| it.0 != now.0 || it.1 == now.1);
        rule("settled", is_stable, || {
            format!("{} was {before:?}, is {now:?}", invoice.id)
        })
    }
}

/// Less than a thousandth beside another payment counts once it has enough confirmations.
fn leave_out_dust(
    payments: &mut BTreeMap<&String, &Seen>,
    invoice: &Invoice,
    truth: &Snapshot,
    required: u32,
) {
    let asked = Amount::from(&invoice.terms.crypto);
    let is_dust = |it: &Seen| amount(it.output.units * 1_000) < asked;
    if payments.values().any(|it| !is_dust(it)) {
        payments.retain(|_, it| !is_dust(it) || confirmations(it, truth) >= required.into());
    }
}

fn confirmations(seen: &Seen, truth: &Snapshot) -> u64 {
    let height = truth.tip.as_ref().map_or(0, |tip| tip.height);
    seen.block.map_or(0, |block| height + 1 - block)
}

/// The statuses that the chain allows.
fn possible(
    invoice: &Invoice,
    payments: &BTreeMap<&String, &Seen>,
    truth: &Snapshot,
    required: u32,
) -> &'static [Status] {
    let Some(tip) = &truth.tip else {
        return &[Status::Checking];
    };
    let is_open = payments
        .values()
        .any(|it| it.block.is_some() || !it.low_fee);
    if !is_open && tip.time >= invoice.expires_at {
        return &[Status::Failed];
    }
    // The time of a tip may be before the last one's.
    if !is_open && truth.latest >= Some(invoice.expires_at) {
        return &[Status::Failed, Status::Checking];
    }
    let counts = payments.values().map(|it| confirmations(it, truth));
    match (counts.clone().min(), counts.max()) {
        (Some(fewest), _) if fewest >= u64::from(required) => &[Status::Completed],
        (_, Some(1..)) => &[Status::Processing],
        _ => &[Status::Checking],
    }
}

/// Every unit at an address of ours is listed once, with its invoice or without one.
fn check_money(listed: Vec<AddressRow>, truth: &Snapshot, invoices: &[Invoice]) -> Verdict {
    let mut expected: BTreeMap<(u32, String), (u64, Option<&str>)> = BTreeMap::new();
    for Seen { output, .. } in truth.transfers.values() {
        expected
            .entry((output.index, output.code.to_owned()))
            .or_default()
            .0 += output.units;
    }
    for invoice in invoices {
        let key = (invoice.address_index, invoice.coin.code.to_string());
        expected
            .entry(key)
            .and_modify(|(_, id)| *id = Some(&invoice.id));
    }
    for row in listed {
        let found = expected.remove(&(row.address_index, row.code.clone()));
        let is_right = found.is_some_and(|(units, id)| {
            let address = address(row.address_index);
            (amount(units), id, &address) == (row.received, row.invoice_id.as_deref(), &row.address)
        });
        rule("money", is_right, || {
            format!("{row:?} is listed, and the chain has {found:?}")
        })?;
    }
    rule("money", expected.is_empty(), || {
        format!("not listed: {expected:?}")
    })
}

/// The statuses of an invoice's callbacks in their order. Nothing sends them: all that were queued are there.
async fn callbacks(db: &mut AnyConnection) -> Verdict<BTreeMap<String, Vec<String>>> {
    let rows = sqlx::query("SELECT invoice_id, status FROM callbacks ORDER BY number");
    let mut callbacks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in works(rows.fetch_all(db).await)? {
        callbacks.entry(row.get(0)).or_default().push(row.get(1));
    }
    Ok(callbacks)
}
