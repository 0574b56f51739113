//! What the machine gives: cores and the disk. They say why a number is no higher.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long the disk is measured.
const SYNCED: Duration = Duration::from_millis(500);
/// A page of a database's log.
const PAGE: [u8; 8192] = [0; 8192];
/// Source: proc(5): times are in ticks of 10 ms on every Linux that Rust runs on.
const TICK: Duration = Duration::from_millis(10);

/// Synchronised writes of a page in a second, one after the other.
#[expect(clippy::disallowed_methods, reason = "a stopwatch")]
pub(crate) fn synced_writes(folder: &Path) -> u128 {
    let path = folder.join("synced");
    let mut file = File::create(&path).expect("the folder is writable");
    let (began, mut writes) = (Instant::now(), 0);
    while began.elapsed() < SYNCED {
        file.write_all(&PAGE).expect("the disk has room");
        file.sync_data().expect("the disk writes");
        writes += 1;
    }
    let rate = writes * 1_000_000_000 / began.elapsed().as_nanos();
    fs::remove_file(path).expect("the folder is writable");
    rate
}

/// Times since the machine's start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Of this process and all that it started, on a core.
    ours: Duration,
    /// Of all cores together.
    all: u64,
    /// Of these, without work and without a disk to wait for.
    idle: u64,
    waiting: u64,
}

/// What was used in between.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Used {
    /// Time on a core of this process and all that it started.
    pub(crate) ours: Duration,
    /// Thousandths of the cores' time without work.
    pub(crate) idle: u64,
    /// Thousandths of the cores' time in which the disk alone worked.
    pub(crate) waiting: u64,
}

impl Usage {
    /// Reads them. Source: proc(5), the first line of `/proc/stat`.
    pub(crate) fn now() -> Self {
        let stat = fs::read_to_string("/proc/stat").expect("this number needs Linux");
        let line = stat.lines().next().unwrap_or_default();
        let times: Vec<u64> = line
            .split(' ')
            .filter_map(|time| time.parse().ok())
            .collect();
        Self {
            ours: processor_time(std::process::id()),
            all: times.iter().take(8).sum(),
            idle: times[3],
            waiting: times[4],
        }
    }

    pub(crate) fn since(self, before: Self) -> Used {
        let all = (self.all - before.all).max(1);
        Used {
            ours: self.ours.saturating_sub(before.ours),
            idle: 1000 * (self.idle - before.idle) / all,
            waiting: 1000 * self.waiting.saturating_sub(before.waiting) / all,
        }
    }
}

/// Time on a core of a process, of those that it started, and of those that they have awaited. Source: proc(5), `ppid`,
/// `utime`, `stime`, `cutime` and `cstime` of `/proc/pid/stat`.
fn processor_time(root: u32) -> Duration {
    let mut processes = BTreeMap::new();
    for entry in fs::read_dir("/proc")
        .expect("this number needs Linux")
        .flatten()
    {
        let id = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok());
        // A process may end meanwhile.
        if let Some(id) = id
            && let Ok(stat) = fs::read_to_string(entry.path().join("stat"))
            && let Some((_, fields)) = stat.rsplit_once(')')
        {
            let fields: Vec<&str> = fields.split_whitespace().collect();
            let parent: u32 = fields[1].parse().unwrap_or(0);
            let ticks = fields[11..15]
                .iter()
                .filter_map(|field| field.parse::<u32>().ok());
            processes.insert(id, (parent, ticks.sum::<u32>()));
        }
    }
    let is_ours = |id: u32| {
        let parent = |id: &u32| processes.get(id).map(|(parent, _)| *parent);
        std::iter::successors(Some(id), parent).any(|ancestor| ancestor == root)
    };
    let ours = processes.iter().filter(|(id, _)| is_ours(**id));
    TICK * ours.map(|(_, (_, ticks))| ticks).sum::<u32>()
}
