//! A run: thousands of worlds with different seeds, on every core; and the coverage of some thousand orders: a fault that never
//! happens proves nothing.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::{env, fs, thread};

use florin_proxy::clock::{Clock as _, RandomBytes as _, SystemClock, SystemRandom};
use florin_storage::SqliteStorage;
use parking_lot::Mutex;
use support::{Counters, Folder, SeededRandom, names, rows};
use tokio::runtime::{Builder, Runtime};

use crate::behaviour::BEHAVIOURS;
use crate::disaster::DISASTERS;
use crate::disaster::{Endpoint, Fault};
use crate::order_sources::ORDER_SOURCES;
use crate::proxy::Proxy;
use crate::queries::Database;
use crate::schedule::{LONG, LONGEST, SHORT, Schedule};
use crate::stores::florin_toml;
use crate::timeline::Timeline;
use crate::transport::ENDPOINT_FAULTS;
use crate::world::World;

const ORDERS: u64 = 1_000;
const FULL_COVERAGE: u64 = 10_000;
const ORDERS_PER_WORLD: usize = 20;
/// One world in this many lasts more than a week, and one two months.
const LONG_EVERY: u64 = 100;
/// One short world in this many has several proxies on one database.
const SHARED_EVERY: u64 = 5;
const PROXIES: usize = 3;
/// One world in this many is run again, alone.
const REPEATED_EVERY: usize = 50;

struct Args {
    seed: u64,
    orders: u64,
    /// Runs only this world, with its log.
    world: Option<u64>,
}

impl Args {
    fn read() -> Self {
        const KNOWN: [&str; 3] = ["FLORIN_SIM_SEED", "FLORIN_SIM_ORDERS", "FLORIN_SIM_WORLD"];
        for (name, _) in env::vars() {
            let is_known = !name.starts_with("FLORIN_SIM_") || KNOWN.contains(&name.as_str());
            assert!(is_known, "{name} is unknown; the variables are {KNOWN:?}");
        }
        let variable = |name: &str| {
            let text = env::var(name).ok()?;
            let number = text.parse::<u64>();
            Some(number.unwrap_or_else(|_| panic!("{name} is a whole number, not {text:?}")))
        };
        Self {
            seed: variable("FLORIN_SIM_SEED").unwrap_or_else(fresh_seed),
            orders: variable("FLORIN_SIM_ORDERS").unwrap_or(ORDERS),
            world: variable("FLORIN_SIM_WORLD"),
        }
    }
}

fn fresh_seed() -> u64 {
    let mut bytes = [0; 4];
    SystemRandom.fill(&mut bytes);
    u64::from(u32::from_le_bytes(bytes))
}

#[derive(Default)]
struct Outcome {
    counters: Counters,
    virtual_millis: AtomicI64,
    next_world: AtomicU64,
    has_failed: AtomicBool,
    failures: Mutex<Vec<String>>,
    /// What each world did, by its number: [`Timeline::digest`].
    digests: Mutex<BTreeMap<u64, u64>>,
}

impl Outcome {
    fn fail(&self, failure: String) {
        self.has_failed.store(true, Ordering::Relaxed);
        self.failures.lock().push(failure);
    }
}

pub(crate) fn run() -> ExitCode {
    // Arguments of the test harness.
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|word| word == "--list") {
        println!("simulation: test");
        return ExitCode::SUCCESS;
    }
    let is_meant = |word: &String| word.starts_with('-') || "simulation".contains(word.as_str());
    if !arguments.iter().all(is_meant) {
        return ExitCode::SUCCESS;
    }
    let args = Args::read();
    let worlds = args.orders.div_ceil(ORDERS_PER_WORLD as u64);
    println!(
        "simulation: {} orders in {worlds} worlds, FLORIN_SIM_SEED={}",
        args.orders, args.seed
    );
    let began = SystemClock.now();
    let outcome = Outcome::default();
    if let Some(world) = args.world {
        enable_log();
        let scratch = Scratch::new();
        run_world(&scratch, &outcome, &args, world);
        for digest in outcome.digests.lock().values() {
            println!("  trace {digest:016x}");
        }
    } else {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let scratch = Scratch::new();
                    loop {
                        let world = outcome.next_world.fetch_add(1, Ordering::Relaxed);
                        if world >= worlds || outcome.has_failed.load(Ordering::Relaxed) {
                            break;
                        }
                        run_world(&scratch, &outcome, &args, world);
                    }
                });
            }
        });
    }
    if !outcome.has_failed.load(Ordering::Relaxed) && args.world.is_none() {
        repeat_alone(&outcome, &args, worlds);
    }
    println!("{}", outcome.counters);
    let took = SystemClock.now().duration_since(began);
    let days = outcome.virtual_millis.load(Ordering::Relaxed) / 86_400_000;
    println!("  {days} virtual days in {} s", took.as_secs());
    let mut failures = outcome.failures.into_inner();
    if failures.is_empty() && args.world.is_none() && args.orders >= FULL_COVERAGE {
        failures.extend(missing(&outcome.counters));
    }
    for failure in &failures {
        println!("\n{failure}");
    }
    if failures.is_empty() {
        println!("simulation: every invariant held");
        ExitCode::SUCCESS
    } else {
        println!("\nsimulation: FAILED");
        ExitCode::FAILURE
    }
}

/// Runs a few worlds again, one after the other: what a world does must follow from its seed alone, or the command that
/// repeats a failure repeats something else.
fn repeat_alone(outcome: &Outcome, args: &Args, worlds: u64) {
    let scratch = Scratch::new();
    let first = args.seed % worlds.min(REPEATED_EVERY as u64);
    for number in (first..worlds).step_by(REPEATED_EVERY) {
        let alone = Outcome::default();
        run_world(&scratch, &alone, args, number);
        let digests = [outcome, &alone].map(|outcome| outcome.digests.lock().get(&number).copied());
        if digests[0] != digests[1] {
            outcome.fail(format!(
                "world {number} depends on more than its seed: its trace among others and alone is {digests:x?}"
            ));
        }
    }
}

fn run_world(scratch: &Scratch, outcome: &Outcome, args: &Args, number: u64) {
    let is_verbose = args.world.is_some();
    let played = catch_unwind(AssertUnwindSafe(|| {
        build_and_run(scratch, outcome, args.seed, number, is_verbose)
    }));
    let violations = played.unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().cloned();
        let message =
            message.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        vec![format!("panicked: {}", message.unwrap_or_default())]
    });
    if !violations.is_empty() {
        let trace = outcome
            .digests
            .lock()
            .get(&number)
            .copied()
            .unwrap_or_default();
        outcome.fail(format!(
            "world {number} failed, trace {trace:016x}:\n  {}\nSee it again:\n  FLORIN_SIM_SEED={} FLORIN_SIM_WORLD={number} \
             cargo test -p florin-tests --test simulation",
            violations.join("\n  "),
            args.seed
        ));
    }
}

fn build_and_run(
    scratch: &Scratch,
    outcome: &Outcome,
    seed: u64,
    number: u64,
    is_verbose: bool,
) -> Vec<String> {
    let random = SeededRandom::new(seed.wrapping_mul(0x1_0000_0001) ^ number);
    let seed = random.draw();
    let schedule: Schedule = if number % LONG_EVERY == LONG_EVERY - 1 {
        LONG
    } else if number % LONG_EVERY == LONG_EVERY / 2 {
        LONGEST
    } else {
        SHORT
    };
    // The others last for weeks.
    let is_shared = schedule.is_short() && random.draw().is_multiple_of(SHARED_EVERY);
    let proxies = if is_shared { PROXIES } else { 1 };
    let timeline = Timeline::default();
    let advance = timeline.clone();
    let runtime = Builder::new_current_thread()
        .enable_time()
        .on_thread_park(move || advance.advance())
        .build()
        .expect("a runtime on this thread alone");
    let database = scratch.database.clone();
    let file = scratch.fresh_database(number);
    let url = format!("sqlite://{}", file.display());
    let storage = database.run(SqliteStorage::open(&url, "test"));
    let storage = storage.expect("a copy of a good database");
    let settings = scratch.folder.file("florin.toml");
    support::write_private(&settings, &florin_toml(&url));
    let world = World::new(
        seed,
        timeline.clone(),
        database.clone(),
        file,
        schedule.longest_minutes,
        proxies,
        is_verbose,
    );
    let proxy = Proxy::new(world.clone(), storage, settings);
    runtime.block_on(schedule.run(proxy.clone(), ORDERS_PER_WORLD));
    proxy.end();
    drop(runtime);
    database.run(proxy.storage().close());
    for file in &*world.files.lock() {
        for ending in ["db", "db-wal", "db-shm", "db-lock"] {
            let _ = fs::remove_file(file.with_extension(ending));
        }
    }
    outcome.counters.take(&world.counters);
    outcome
        .counters
        .add("run", "orders", ORDERS_PER_WORLD as u64);
    outcome.counters.one("run", "worlds");
    if is_shared {
        outcome.counters.one("run", "worlds of three proxies");
    }
    outcome
        .virtual_millis
        .fetch_add(timeline.now(), Ordering::Relaxed);
    outcome.digests.lock().insert(number, timeline.digest());
    world.violations()
}

struct Scratch {
    folder: Folder,
    database: Database,
    _runtime: Runtime,
}

impl Scratch {
    fn new() -> Self {
        let folder = Folder::in_memory();
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime for the database");
        let database = Database(runtime.handle().clone());
        let url = format!("sqlite://{}", folder.file("empty.db").display());
        let made = database.run(SqliteStorage::open(&url, "test"));
        database.run(made.expect("our own folder is writable").close());
        Self {
            folder,
            database,
            _runtime: runtime,
        }
    }

    /// A new name for each world, because databases close asynchronously.
    fn fresh_database(&self, number: u64) -> PathBuf {
        let file = self.folder.file(&format!("world-{number}.db"));
        fs::copy(self.folder.file("empty.db"), &file).expect("our own folder is writable");
        file
    }
}

fn enable_log() {
    let _ = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::INFO)
        .with_writer(std::io::stderr)
        .without_time()
        .with_ansi(false)
        .try_init();
}

/// What must happen, beside the kinds that are drawn from tables.
const MUST_HAPPEN: &str = "
customers | CompletedAfterWeeks
steps with a disaster | Storage, Gateway, Webhook, Clock
actions of customers | paid, was cancelled, was refunded, closed the page, returned to a new page
keys | replayed
restores | lost orders, lost credits, lost events
responses of the proxy | 409 request_in_progress, 422 idempotency_key_reused
callbacks | sent, repeated, lost, a wrong status
clock | set back, set forward
crashes | at any time, during a call, before a response is read, before a delivery
crashes | after a delivery and before it is recorded, a suspended process beside a new one
crashes | before a commit, within a commit, after a commit
faults of the storage | Before, Halfway, After, CrashBefore, CrashHalfway, CrashAfter
faults of the storage | a commit of unknown outcome
run | worlds of three proxies
orders | open, awaiting_payment, paid, overpaid, underpaid, failed, cancelled, expired, blocked
assessments | waiting, detected, confirming, settled, underpaid, failed, cancelled, expired
assessments | address_changed, needs_review
events | order.created, order.attempt_opened, order.payment_seen, order.processing, order.paid
events | order.overpaid, order.underpaid, order.failed, order.expired, order.cancelled
events | order.blocked, order.late_payment, order.reverted, order.refunded, donation.created, donation.paid
";

fn missing(counters: &Counters) -> Vec<String> {
    let listed = rows(MUST_HAPPEN);
    let listed = listed.map(|[theme, kinds]| counters.missing(theme, kinds.split(", ")));
    let mut missing: Vec<String> = listed.flatten().collect();
    let sources = ORDER_SOURCES.map(|source| format!("{source:?}"));
    missing.extend(counters.missing("order sources", sources));
    missing.extend(counters.missing("customers", names(&BEHAVIOURS)));
    missing.extend(counters.missing("faults of the store", names(&ENDPOINT_FAULTS)));
    let disasters = DISASTERS.map(|(_, disaster)| disaster.name());
    missing.extend(counters.missing("disasters", disasters));
    let any = SeededRandom::new(0);
    for endpoint in [
        Endpoint::Prices,
        Endpoint::Create,
        Endpoint::Session,
        Endpoint::Lookup,
        Endpoint::Confirm,
    ] {
        let faults = Fault::all(endpoint, &any).into_iter();
        let kinds = faults.map(|(_, fault)| format!("{endpoint:?}: {}", fault.name()));
        missing.extend(counters.missing("faults of the gateway", kinds));
    }
    missing
}
