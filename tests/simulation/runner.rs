//! A run: thousands of worlds, each from a seed of its own, on every core; and how it is told what came of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::{env, fs, thread};

use florin_storage::SqliteStorage;
use proxy::clock::{Clock as _, RandomBytes as _, SystemClock, SystemRandom};
use tokio::runtime::{Builder, Handle};

use crate::counters::Tally;
use crate::coverage;
use crate::queries::Database;
use crate::random::Chance;
use crate::schedule::{Course, LONG, SHORT};
use crate::stores::florin_toml;
use crate::timeline::Timeline;
use crate::world::{Making, World};

/// How many lives a run plays unless it is told otherwise.
const LIVES: u64 = 1_000;
/// So many lives must have seen everything.
const ENOUGH: u64 = 10_000;
/// Orders that share a world.
const LIVES_PER_WORLD: usize = 20;
/// One world in so many lasts for more than a week.
const LONG_EVERY: u64 = 100;

/// What was asked for.
struct Wishes {
    seed: u64,
    lives: u64,
    /// One world alone, with its log.
    world: Option<u64>,
}

impl Wishes {
    fn read() -> Self {
        let variable = |name: &str| {
            let text = env::var(name).ok()?;
            let number = text.parse::<u64>();
            Some(number.unwrap_or_else(|_| panic!("{name} is a whole number, not {text:?}")))
        };
        Self {
            seed: variable("FLORIN_SIM_SEED").unwrap_or_else(fresh_seed),
            lives: variable("FLORIN_SIM_LIVES").unwrap_or(LIVES),
            world: variable("FLORIN_SIM_WORLD"),
        }
    }
}

fn fresh_seed() -> u64 {
    let mut bytes = [0; 4];
    SystemRandom.fill(&mut bytes);
    u64::from(u32::from_le_bytes(bytes))
}

/// What the worlds came to.
#[derive(Default)]
struct Outcome {
    tally: Tally,
    virtual_millis: AtomicI64,
    next_world: AtomicU64,
    has_failed: AtomicBool,
    failures: Mutex<Vec<String>>,
}

pub(crate) fn run() -> ExitCode {
    // What is asked of a test binary that has one test.
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|word| word == "--list") {
        println!("simulation: test");
        return ExitCode::SUCCESS;
    }
    let is_meant = |word: &String| word.starts_with('-') || "simulation".contains(word.as_str());
    if !arguments.iter().all(is_meant) {
        return ExitCode::SUCCESS;
    }
    let wishes = Wishes::read();
    let worlds = wishes.lives.div_ceil(LIVES_PER_WORLD as u64);
    println!(
        "simulation: {} lives in {worlds} worlds, FLORIN_SIM_SEED={}",
        wishes.lives, wishes.seed
    );
    let began = SystemClock.now();
    let outcome = Outcome::default();
    if let Some(world) = wishes.world {
        tell_the_log();
        let folder = Scratch::new();
        play_on(&folder, &outcome, &wishes, world);
    } else {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let folder = Scratch::new();
                    loop {
                        let world = outcome.next_world.fetch_add(1, Ordering::Relaxed);
                        if world >= worlds || outcome.has_failed.load(Ordering::Relaxed) {
                            break;
                        }
                        play_on(&folder, &outcome, &wishes, world);
                    }
                });
            }
        });
    }
    println!("{}", outcome.tally);
    let took = SystemClock.now().duration_since(began);
    let days = outcome.virtual_millis.load(Ordering::Relaxed) / 86_400_000;
    println!("  {days} virtual days in {} s", took.as_secs());
    let mut failures = outcome
        .failures
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    if failures.is_empty() && wishes.world.is_none() && wishes.lives >= ENOUGH {
        failures.extend(coverage::missing(&outcome.tally));
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

/// Plays one world and notes what came of it.
fn play_on(folder: &Scratch, outcome: &Outcome, wishes: &Wishes, number: u64) {
    let is_verbose = wishes.world.is_some();
    let played = catch_unwind(AssertUnwindSafe(|| {
        play(folder, outcome, wishes.seed, number, is_verbose)
    }));
    let complaints = played.unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(|said| (*said).to_owned()));
        vec![format!("panicked: {}", said.unwrap_or_default())]
    });
    if !complaints.is_empty() {
        outcome.has_failed.store(true, Ordering::Relaxed);
        let mut failures = outcome
            .failures
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        failures.push(format!(
            "world {number} broke:\n  {}\nSee it again:\n  FLORIN_SIM_SEED={} FLORIN_SIM_WORLD={number} \
             cargo test -p tests --test simulation",
            complaints.join("\n  "),
            wishes.seed
        ));
    }
}

fn play(
    folder: &Scratch,
    outcome: &Outcome,
    seed: u64,
    number: u64,
    is_verbose: bool,
) -> Vec<String> {
    let seed = Chance::new(seed.wrapping_mul(0x1_0000_0001) ^ number).draw();
    let course: Course = if number % LONG_EVERY == LONG_EVERY - 1 {
        LONG
    } else {
        SHORT
    };
    let timeline = Timeline::default();
    let advance = timeline.clone();
    let runtime = Builder::new_current_thread()
        .enable_time()
        .on_thread_park(move || advance.advance())
        .build()
        .expect("a runtime on this thread alone");
    let database = Database(folder.handle.clone());
    let file = folder.fresh_database(number);
    let url = format!("sqlite://{}", file.display());
    let ledger = database.run(SqliteStorage::open(&url, "test"));
    let ledger = ledger.expect("a copy of a good database");
    let settings = folder.path.join("florin.toml");
    fs::write(&settings, florin_toml(&url)).expect("our own folder is writable");
    let world = World::new(Making {
        seed,
        timeline: timeline.clone(),
        database: database.clone(),
        ledger: ledger.clone(),
        file: &file,
        settings,
        longest_minutes: course.longest_minutes,
        is_verbose,
    });
    runtime.block_on(course.run(world.clone(), LIVES_PER_WORLD));
    world.end();
    drop(runtime);
    database.run(ledger.close());
    for ending in ["db", "db-wal", "db-shm"] {
        let _ = fs::remove_file(file.with_extension(ending));
    }
    outcome.tally.take(&world.tally);
    outcome.tally.add("played", "lives", LIVES_PER_WORLD as u64);
    outcome.tally.one("played", "worlds");
    outcome
        .virtual_millis
        .fetch_add(timeline.now(), Ordering::Relaxed);
    world.complaints()
}

/// A thread's own folder, in memory where the machine has such a place, with an empty database to copy.
struct Scratch {
    path: PathBuf,
    handle: Handle,
    _runtime: Arc<tokio::runtime::Runtime>,
}

impl Scratch {
    fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let in_memory = Path::new("/dev/shm");
        let base = if in_memory.is_dir() {
            in_memory.to_owned()
        } else {
            env::temp_dir()
        };
        let path = base.join(format!("florin-simulation-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder for temporary files");
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime for the database");
        let scratch = Self {
            path,
            handle: runtime.handle().clone(),
            _runtime: Arc::new(runtime),
        };
        let empty = scratch.path.join("empty.db");
        let database = Database(scratch.handle.clone());
        let url = format!("sqlite://{}", empty.display());
        let made = database.run(SqliteStorage::open(&url, "test"));
        database.run(made.expect("our own folder is writable").close());
        scratch
    }

    /// Under a name of its own: what closes a database does so in its own time.
    fn fresh_database(&self, number: u64) -> PathBuf {
        let file = self.path.join(format!("world-{number}.db"));
        fs::copy(self.path.join("empty.db"), &file).expect("our own folder is writable");
        file
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// One world tells what the proxy logs as well.
fn tell_the_log() {
    let _ = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::INFO)
        .with_writer(std::io::stderr)
        .without_time()
        .with_ansi(false)
        .try_init();
}
