//! `first-view`: how long a customer waits for the checkout, and for its peers. `cargo xtask bench` builds all that it
//! needs and runs it.

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

const SKELETON_MS: u64 = 600;
const CHOICE_MS: u64 = 1200;
/// The page that peers are compared with: a shop page with the element of the quick start.
const OURS: Page = Page::Frame;
/// Longest run on a loaded machine.
const MAX_RUN: Duration = Duration::from_mins(1);

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let site = StoreSite::open().await;
    let mut world = World::start_for(&site).await;
    // The release build replaces the proxy of the tests.
    world.stop_proxy().await;
    let log = world.file("release.log");
    let release = Program::start_at(&arguments.proxy, &world.config_file(), &log);
    world.wait_for_proxy().await;
    // The first order initialises this process, which takes a second of processor time.
    world.customer().open("ebook").await;
    world.wait_for_deliveries().await;

    let mut pages: Vec<(Page, Vec<Timings>)> = Page::ALL.map(|page| (page, Vec::new())).into();
    let mut peers = Vec::new();
    if let Some(bundle) = &arguments.peers {
        for product in PRODUCTS {
            let peer = Peer::open(&bundle.join(product.folder)).await;
            peers.push((product, peer, Vec::new()));
        }
    }
    // In rounds, so that a temporary load affects all pages equally.
    for _ in 0..arguments.runs {
        for (page, timings) in &mut pages {
            timings.push(bounded(measure(*page, &world, &site)).await);
        }
        for (_, peer, timings) in &mut peers {
            timings.push(bounded(measure_peer(peer)).await);
        }
    }
    drop(release);
    world.end().await;

    println!(
        "150 ms, 1.6 Mbit/s, a 4 times slower processor, nothing in the cache; median of {} (least–most){}\n",
        arguments.runs,
        load()
    );
    let mut is_kept = print_pages(&pages, arguments.requests);
    let ours = pages.iter().find(|(page, _)| *page == OURS);
    let ours = ours.into_iter().flat_map(|(_, timings)| timings);
    let ours = median(ours.map(|one| one.whole).collect());
    let peers = peers.into_iter();
    let peers: Vec<_> = peers
        .map(|(product, _, timings)| (product, median(timings)))
        .collect();
    is_kept &= peers.is_empty() || print_peers(ours, &peers);
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
fn print_pages(pages: &[(Page, Vec<Timings>)], with_requests: bool) -> bool {
    let header = ["skeleton", "choice", "the shop's page before"];
    print_line("", &header.map(str::to_owned));
    let mut is_kept = true;
    for (page, timings) in pages {
        let of = |member: fn(&Timings) -> u64| median(timings.iter().map(member).collect());
        let all = [
            of(|one| one.skeleton),
            of(|one| one.choice),
            of(|one| one.before),
        ];
        print_line(name(*page), &all.map(range));
        let [[skeleton, ..], [choice, ..], _] = all;
        is_kept &= skeleton <= SKELETON_MS && choice <= CHOICE_MS;
        if with_requests {
            let last = timings.last().map(|one| one.requests.as_slice());
            println!("{}", last.unwrap_or_default().join("\n"));
        }
    }
    let promised = [
        format!("≤ {SKELETON_MS} ms"),
        format!("≤ {CHOICE_MS} ms"),
        String::new(),
    ];
    print_line("promised", &promised);
    is_kept
}

/// Prints our time and the peers', each from the navigation to the shop's page to the choice; returns `true` if the
/// promise is kept.
fn print_peers(ours: [u64; 3], peers: &[(Product, [u64; 3])]) -> bool {
    println!();
    let header = ["to the choice", "over ours", "promised"];
    print_line("from the shop's URL on", &header.map(str::to_owned));
    print_line(
        "ours, in a frame",
        &[range(ours), String::new(), String::new()],
    );
    let mut is_kept = true;
    for (product, theirs) in peers {
        let (ratio, is_enough) = product.ratio(theirs[0], ours[0]);
        let promised = format!("≥ {}", times(product.promised));
        print_line(
            &format!("{} {}", product.package, product.version()),
            &[range(*theirs), times(ratio), promised],
        );
        is_kept &= is_enough;
    }
    is_kept
}

fn print_line(name: &str, [first, second, third]: &[String; 3]) {
    println!("{name:<44}{first:>24}{second:>24}{third:>24}");
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
        Page::Checkout => "the checkout page",
        Page::Frame => "in a frame, from the loader on",
        Page::Inline => "inline, from the loader on",
    }
}
