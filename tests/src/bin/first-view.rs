//! `first-view`: how long a customer waits for the checkout, and for its peers. `cargo xtask bench` builds all that it
//! needs and runs it.

use std::fs;
use std::future::Future;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use support::first_view::{Page, Timings, measure, measure_peer, median};
use support::{PRODUCTS, Peer, Product, Program, StoreSite, World};

/// Measures the checkout with an empty cache, on a slow line and a slow phone.
#[derive(Parser)]
#[command(name = "first-view")]
struct Arguments {
    /// Number of runs per page; the median counts.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
    /// `florin-proxy`, a release.
    #[arg(long, value_name = "FILE")]
    proxy: PathBuf,
    /// Measures the peers too: the folder of their bundles, which `cargo xtask bench` creates.
    #[arg(long, value_name = "FOLDER")]
    peers: Option<PathBuf>,
    /// Lists the requests of the last run of each page with their times.
    #[arg(long)]
    requests: bool,
}

/// The pages that peers are compared with, and the least ratio of a peer's time to theirs, in hundredths.
const OURS: [(Page, u64); 2] = [(Page::Tag, 220), (Page::Frame, 190)];
/// Longest run on a loaded machine.
const MAX_RUN: Duration = Duration::from_mins(1);

/// What is promised of skeleton, choice and address, in milliseconds. A list that comes with its page needs no skeleton.
fn promised(page: Page) -> [Option<u64>; 3] {
    match page {
        Page::Tag => [None, Some(700), Some(350)],
        Page::TagOtherSite => [None, Some(850), None],
        Page::Frame | Page::OrderToken => [Some(600), Some(850), None],
        Page::Checkout | Page::Inline => [None, Some(500), None],
        Page::ColdPrices | Page::FrameOtherSite => [None; 3],
    }
}

/// A world whose proxy is a release.
struct Release {
    world: World,
    file: PathBuf,
    running: Option<Program>,
}

impl Release {
    async fn open(file: PathBuf, site: &StoreSite) -> Self {
        let origins = vec![site.url().to_owned(), site.url_of_another_site()];
        let mut world = World::with(|config| config.origins = origins).await;
        world.stop_proxy().await;
        let mut release = Self {
            world,
            file,
            running: None,
        };
        release.restart().await;
        // The first order initialises this process, which takes a second of processor time.
        release.world.customer().open("ebook").await;
        release.world.wait_for_deliveries().await;
        release
    }

    /// With an empty database, so that it has no prices.
    async fn restart(&mut self) {
        drop(self.running.take());
        let file = |name: &str| self.world.file(name);
        for name in ["florin.db", "florin.db-wal", "florin.db-shm"] {
            let _ = fs::remove_file(file(name));
        }
        let (config, log) = (self.world.config_file(), file("release.log"));
        self.running = Some(Program::start_at(&self.file, &config, &log));
        self.world.wait_for_proxy().await;
    }

    async fn end(self) {
        drop(self.running);
        self.world.end().await;
    }
}

struct Row {
    page: Page,
    timings: Vec<Timings>,
}

impl Row {
    fn median(&self, member: fn(&Timings) -> u64) -> [u64; 3] {
        median(self.timings.iter().map(member).collect())
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let site = StoreSite::open().await;
    let mut release = Release::open(arguments.proxy, &site).await;
    let mut rows = Page::ALL.map(|page| Row {
        page,
        timings: Vec::new(),
    });
    let mut peers = Vec::new();
    if let Some(bundle) = &arguments.peers {
        for product in PRODUCTS {
            let peer = Peer::open(&bundle.join(product.folder)).await;
            peers.push((product, peer, Vec::new()));
        }
    }
    // In rounds, so that a temporary load affects all pages equally.
    for _ in 0..arguments.runs {
        for row in &mut rows {
            if row.page == Page::ColdPrices {
                release.restart().await;
            }
            let timings = bounded(measure(row.page, &release.world, &site)).await;
            row.timings.push(timings);
        }
        for (_, peer, timings) in &mut peers {
            timings.push(bounded(measure_peer(peer)).await);
        }
    }
    release.end().await;

    println!(
        "150 ms, 1.6 Mbit/s, a 4 times slower processor, nothing in the cache; median of {} (least–most){}\n",
        arguments.runs,
        load()
    );
    let mut is_kept = print_pages(&rows, arguments.requests);
    let peers = peers.into_iter();
    let peers: Vec<_> = peers
        .map(|(product, _, timings)| (product, median(timings)))
        .collect();
    is_kept &= peers.is_empty() || print_peers(&rows, &peers);
    if is_kept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

async fn bounded<T>(measure: impl Future<Output = T>) -> T {
    let measured = tokio::time::timeout(MAX_RUN, measure).await;
    measured.unwrap_or_else(|_| panic!("a run took more than {} s", MAX_RUN.as_secs()))
}

/// Prints the times of our pages; returns `true` if the promise is kept.
fn print_pages(rows: &[Row], with_requests: bool) -> bool {
    let header = ["skeleton", "choice", "press to address"];
    print_line("", &header.map(str::to_owned));
    let mut is_kept = true;
    for row in rows {
        let most = promised(row.page);
        let times = [
            row.median(|one| one.skeleton),
            row.median(|one| one.choice),
            row.median(|one| one.address),
        ];
        let cells = std::array::from_fn(|at| {
            let is_within = most[at].is_none_or(|most| times[at][0] <= most);
            is_kept &= is_within;
            let promise = most[at].map(|most| judged(is_within, &format!("≤ {most} ms")));
            [range(times[at]), promise.unwrap_or_default()].concat()
        });
        print_line(name(row.page), &cells);
        if with_requests {
            let last = row.timings.last().map(|one| one.requests.as_slice());
            println!("{}", last.unwrap_or_default().join("\n"));
        }
    }
    is_kept
}

/// Prints our times and the peers', each from the shop's address to the choice; returns `true` if the promise is kept.
fn print_peers(rows: &[Row], peers: &[(Product, [u64; 3])]) -> bool {
    println!();
    let ours = OURS.map(|(page, least)| {
        let row = rows.iter().find(|row| row.page == page);
        let row = row.expect("it is measured");
        (name(page), least, row.median(|one| one.choice))
    });
    let [tag, frame] = ours.map(|(name, _, _)| format!("over {name}"));
    print_line("", &["to the choice".to_owned(), tag, frame]);
    for (name, _, times) in ours {
        print_line(name, &[range(times), String::new(), String::new()]);
    }
    let mut is_kept = true;
    for (product, theirs) in peers {
        let [tag, frame] = ours.map(|(_, least, ours)| {
            let ratio = theirs[0] * 100 / ours[0];
            is_kept &= ratio >= least;
            let promise = judged(ratio >= least, &format!("≥ {}", times(least)));
            [times(ratio), promise].concat()
        });
        let name = format!("{} {}", product.package, product.version());
        print_line(&name, &[range(*theirs), tag, frame]);
    }
    is_kept
}

fn print_line(name: &str, [first, second, third]: &[String; 3]) {
    println!("{name:<40}{first:>38}{second:>38}{third:>38}");
}

fn judged(is_kept: bool, promise: &str) -> String {
    let missed = if is_kept { "" } else { ": missed" };
    format!(", {promise}{missed}")
}

fn range([middle, least, most]: [u64; 3]) -> String {
    format!("{middle} ms ({least}–{most})")
}

fn times(hundredths: u64) -> String {
    format!("{}.{:02}×", hundredths / 100, hundredths % 100)
}

/// Returns the load average of this machine, if it is known: times on a loaded machine are too long.
fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().filter(|load| !load.is_empty());
    load.map(|load| format!("; load {load}"))
        .unwrap_or_default()
}

fn name(page: Page) -> &'static str {
    match page {
        Page::ColdPrices => "frame in the tag, cold prices",
        Page::Tag => "frame in the tag",
        Page::Frame => "tag of two lines",
        Page::TagOtherSite => "frame in the tag, another site",
        Page::FrameOtherSite => "tag of two lines, another site",
        Page::OrderToken => "order token",
        Page::Checkout => "the checkout's page",
        Page::Inline => "inline, from the loader on",
    }
}
