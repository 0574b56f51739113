//! The evidence of a world, and the moments at which the rules of `florin-invariants` are checked on it.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::Ordering;

use florin_invariants::{Evidence, Millis, Moment, Order, Shop, StoredFile, check};
use sqlx::Row as _;

use crate::stores::STORES;
use crate::world::World;

const NOTICED_WITHIN: Millis = 6 * 60_000;
/// Added if the proxy's clock was an hour off: it takes an attempt for an hour older, and polls it a quarter of that later.
const AFTER_WRONG_CLOCK: Millis = 16 * 60_000;

impl World {
    /// Called after every write: credits are checked at the moment when they are written.
    pub(crate) fn after_write(&self, call: &'static str) {
        if call == "record_observation" && self.has_new_credit() {
            self.audit();
        }
        if !matches!(
            call,
            "due_attempts" | "due_deliveries" | "order_of_token" | "token_grant"
        ) {
            self.wakeup.notify_one();
        }
    }

    /// Notes the time of each new credit on the gateway's clock: the proxy's is set back and forward.
    fn has_new_credit(&self) -> bool {
        let mut expectations = self.expectations.lock();
        let known = i64::try_from(expectations.credited.len()).expect("a few dozen");
        let new = "SELECT order_id FROM credits ORDER BY rowid LIMIT -1 OFFSET ?";
        let new = self.queries.rows_after(new, known);
        for row in &new {
            let order = row.get("order_id");
            expectations.credited.insert(order, self.timeline.now());
        }
        !new.is_empty()
    }

    pub(crate) fn audit(&self) {
        self.check_rules(Moment::Running);
    }

    pub(crate) fn audit_end(&self) {
        self.check_rules(Moment::Drained);
        // Every donor of a world gives another amount: a second order of one amount is a request that was not recognised.
        let twice = "SELECT min(id) AS id FROM orders WHERE price_source = 'customer'
             GROUP BY store_id, amount HAVING count(*) > 1";
        for row in self.queries.rows(twice) {
            self.violated("a key opens one order", row.get("id"));
        }
    }

    fn check_rules(&self, moment: Moment) {
        let evidence = self.evidence(moment);
        for finding in check(&evidence, moment) {
            for offence in &finding.offences {
                self.violated(finding.name, offence);
            }
        }
        let orders = evidence.database.orders.into_iter();
        let paid = orders.filter(Order::is_paid).map(|order| order.id);
        self.expectations.lock().known_paid = paid.collect();
    }

    fn evidence(&self, moment: Moment) -> Evidence {
        let is_drained = moment == Moment::Drained;
        let database = self.read_tables(is_drained);
        let now = self.timeline.now();
        let was_off = self.clock_was_off.load(Ordering::Relaxed);
        let noticed_within = NOTICED_WITHIN + if was_off { AFTER_WRONG_CLOCK } else { 0 };
        let expectations = self.expectations.lock();
        let with_webhook = STORES.iter().filter(|store| store.has_webhook);
        Evidence {
            taken_at: self.wall(),
            due_at: now - noticed_within,
            database,
            gateway: self.gateway.evidence(now),
            shop: Shop {
                deliveries: self.shop.deliveries(),
                subscribed: Some(with_webhook.map(|store| store.id.to_owned()).collect()),
                // The sender of a world delivers before anything is signed.
                webhook_secret: Vec::new(),
                listing: None,
            },
            agreed: expectations.agreed.clone(),
            known_paid: expectations.known_paid.clone(),
            restores: self.restores.lock().clone(),
            files: if is_drained {
                self.database_files()
            } else {
                Vec::new()
            },
        }
    }

    /// Reads the database in use, with the times of the credits by the gateway's clock.
    pub(crate) fn read_tables(&self, with_damage: bool) -> florin_invariants::Database {
        let mut database = self.queries.read_tables(with_damage);
        let now = self.timeline.now();
        let expectations = self.expectations.lock();
        for credit in &mut database.credits {
            let at = expectations.credited.get(&credit.order_id);
            credit.at = at.copied().unwrap_or(now);
        }
        database
    }

    fn database_files(&self) -> Vec<StoredFile> {
        let file = self.database_file();
        let files = ["db", "db-wal"].map(|ending| file.with_extension(ending));
        let files = files.into_iter().filter_map(|file| {
            let bytes = fs::read(&file).ok()?;
            let name = file.display().to_string();
            Some(StoredFile { name, bytes })
        });
        files.collect()
    }

    pub(crate) fn count_rows(&self) {
        for (theme, kind, table) in [
            ("orders", "status", "orders"),
            ("attempts", "state", "attempts"),
            (
                "assessments",
                "CASE WHEN instr(assessment, ':') THEN substr(assessment, 1, instr(assessment, ':') - 1)
                     ELSE assessment END",
                "observations",
            ),
            ("events", "type", "events"),
            ("outbox", "state", "outbox"),
        ] {
            let sql = format!("SELECT {kind} AS kind, count(*) AS n FROM {table} GROUP BY 1");
            for row in self.queries.rows(&sql) {
                let count = row.get::<i64, _>("n").unsigned_abs();
                self.counters.add(theme, row.get::<String, _>("kind"), count);
            }
        }
        let deliveries = self.shop.deliveries();
        let distinct: BTreeSet<&str> = deliveries.iter().map(|it| it.id.as_str()).collect();
        let repeated = deliveries.len() - distinct.len();
        self.counters
            .add("totals", "repeated deliveries", repeated as u64);
        let invoices = self.gateway.invoices();
        let paid = invoices.iter().filter(|it| !it.payments.is_empty());
        let (theme, paid) = ("totals", paid.count() as u64);
        self.counters.add(theme, "invoices with payments", paid);
    }
}
