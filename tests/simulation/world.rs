//! A world: one database, one gateway, some stores, on one virtual clock from one seed. The proxy and its customers act
//! on it. Its evidence, and the moments at which the rules of `florin-invariants` are checked on it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use florin_invariants::{Evidence, Moment, Order, Price, Restore, StoredFile, check};
use florin_storage::{FileFault, StorageError};
use parking_lot::{Mutex, MutexGuard};
use sqlx::Row as _;
use support::{Counters, SeededRandom};
use tokio::sync::Notify;

use crate::gateway::Gateway;
use crate::queries::{Database, Queries};
use crate::stores::{STORES, Shop};
use crate::timeline::{Millis, Timeline};

const FIRST_DAY: Millis = 1_790_000_000_000;

/// A pause that seems longer, because the clock was set by more, is over for the proxy.
const LONGEST_PAUSE: Millis = 300_000;

#[derive(Debug)]
pub(crate) struct Backup {
    pub(crate) made_at: Millis,
    pub(crate) file: PathBuf,
}

pub(crate) struct World {
    pub(crate) timeline: Timeline,
    pub(crate) random: SeededRandom,
    pub(crate) counters: Counters,
    pub(crate) gateway: Gateway,
    pub(crate) proxies: usize,
    pub(crate) shop: Shop,
    pub(crate) queries: Queries,
    pub(crate) database: Database,
    pub(crate) files: Mutex<Vec<PathBuf>>,
    pub(crate) backup: Mutex<Option<Backup>>,
    pub(crate) restores: Mutex<Vec<Restore>>,
    pub(crate) restore_wanted: Notify,
    writes: AtomicI64,
    wall_offset: AtomicI64,
    injects_faults: AtomicBool,
    /// One lasts at a time.
    pub(crate) has_disaster: AtomicBool,
    outage: Mutex<Option<Outage>>,
    /// The proxy's clock was an hour off at times: what it planned then is late.
    pub(crate) clock_was_off: AtomicBool,
    /// `false` at the end of a world, when only events are delivered.
    pub(crate) polls: AtomicBool,
    pub(crate) wakeup: Notify,
    pub(crate) expectations: Mutex<Expectations>,
    violations: Mutex<Vec<String>>,
    is_verbose: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Expectations {
    pub(crate) agreed: BTreeMap<String, Price>,
    pub(crate) known_paid: BTreeSet<String>,
    /// The time of each order's credit, by the gateway's clock.
    pub(crate) credited: BTreeMap<String, Millis>,
}

impl World {
    pub(crate) fn new(
        seed: u64,
        timeline: Timeline,
        database: Database,
        file: PathBuf,
        longest_minutes: i64,
        proxies: usize,
        is_verbose: bool,
    ) -> Arc<Self> {
        let random = SeededRandom::new(seed);
        let queries = Queries::open(&database, &file);
        queries.set_traps();
        let gateway = Gateway::new(SeededRandom::new(random.draw()), longest_minutes);
        Arc::new(Self {
            timeline,
            random,
            counters: Counters::default(),
            gateway,
            proxies,
            shop: Shop::default(),
            queries,
            database,
            files: Mutex::new(vec![file]),
            backup: Mutex::default(),
            restores: Mutex::default(),
            restore_wanted: Notify::new(),
            writes: AtomicI64::new(0),
            wall_offset: AtomicI64::new(FIRST_DAY),
            injects_faults: AtomicBool::new(true),
            has_disaster: AtomicBool::new(false),
            outage: Mutex::default(),
            clock_was_off: AtomicBool::new(false),
            polls: AtomicBool::new(true),
            wakeup: Notify::new(),
            expectations: Mutex::default(),
            violations: Mutex::default(),
            is_verbose,
        })
    }

    /// The wall clock of the proxy's machine.
    pub(crate) fn wall(&self) -> Millis {
        self.timeline.now() + self.wall_offset.load(Ordering::Relaxed)
    }

    pub(crate) fn set_wall_clock(&self, by: Millis) {
        self.gateway.forget_pauses_until(self.wall());
        self.wall_offset.fetch_add(by, Ordering::Relaxed);
        self.log(|| format!("the wall clock is set by {by} ms"));
        self.gateway
            .forget_pauses_after(self.wall() + LONGEST_PAUSE);
        let way = if by < 0 { "back" } else { "forward" };
        self.count("clock", format!("set {way}"));
    }

    /// The time by the gateway's right clock.
    pub(crate) fn right_time(&self) -> Millis {
        self.timeline.now() + FIRST_DAY
    }

    pub(crate) fn writes(&self) -> i64 {
        self.writes.load(Ordering::Relaxed)
    }

    pub(crate) fn count_write(&self) {
        self.writes.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn outage(&self) -> MutexGuard<'_, Option<Outage>> {
        self.outage.lock()
    }

    pub(crate) fn database_file(&self) -> PathBuf {
        self.files.lock().last().expect("it has one").clone()
    }

    pub(crate) fn use_file(&self, file: PathBuf) {
        self.count_write();
        self.files.lock().push(file);
    }

    pub(crate) fn injects_faults(&self) -> bool {
        self.injects_faults.load(Ordering::Relaxed)
    }

    /// Draws a fault of a table with this chance in a thousand, while faults are injected.
    pub(crate) fn draw_fault<F: Copy + Debug>(
        &self,
        theme: &'static str,
        chance: u64,
        faults: &[(u64, F)],
    ) -> Option<F> {
        let happens = self.injects_faults() && self.random.in_thousand(chance);
        let fault = happens.then(|| self.random.weigh(faults))?;
        self.log(|| format!("{theme}: {fault:?}"));
        self.count(theme, format!("{fault:?}"));
        Some(fault)
    }

    pub(crate) fn count(&self, theme: &'static str, kind: impl Into<String>) {
        self.counters.one(theme, kind);
    }

    pub(crate) fn stop_faults(&self) {
        self.injects_faults.store(false, Ordering::Relaxed);
        self.log(|| "the faults end".into());
    }

    pub(crate) fn violated(&self, invariant: &str, details: &str) {
        let at = self.timeline.now();
        self.log(|| format!("VIOLATED {invariant}: {details}"));
        let mut violations = self.violations.lock();
        if violations.len() < 20 {
            violations.push(format!("{invariant} (at {at} ms): {details}"));
        }
    }

    pub(crate) fn violations(&self) -> Vec<String> {
        self.violations.lock().clone()
    }

    pub(crate) fn log(&self, line: impl FnOnce() -> String) {
        if self.is_verbose {
            let now = self.timeline.now();
            let (seconds, millis) = (now / 1000, now % 1000);
            eprintln!(
                "{:>6}:{:02}.{millis:03} {}",
                seconds / 60,
                seconds % 60,
                line()
            );
        }
    }
}

/// An outage of the simulated storage, with the error that the proxy meets: it does the same in each other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outage {
    Unreadable,
    Gone,
    Replaced,
    Damaged,
    /// Another program holds the file: each call waits before it fails.
    Locked,
}

impl Outage {
    /// Returns `true` if nothing can be read either.
    pub(crate) fn stops_reads(self) -> bool {
        self == Self::Damaged
    }

    pub(crate) fn error(self) -> StorageError {
        let (path, found) = ("florin.db".to_owned(), "injected".to_owned());
        let fault = match self {
            Self::Gone => FileFault::Gone(path),
            Self::Replaced => FileFault::Replaced(path),
            Self::Damaged => FileFault::Damaged { path, found },
            Self::Unreadable | Self::Locked => FileFault::Unreadable { path, error: found },
        };
        fault.into()
    }
}

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
            shop: florin_invariants::Shop {
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
