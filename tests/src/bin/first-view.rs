//! `first-view`: how long a customer waits for the checkout. `cargo xtask bench` builds all that it needs and runs it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use tests::first_view::{Page, Waited, look, median};
use tests::{Program, Site, Wishes, World};

/// Looks at the checkout with an empty cache, on a slow line and a slow phone.
#[derive(Parser)]
#[command(name = "first-view")]
struct Arguments {
    /// Looks at each page; the middle one counts.
    #[arg(long, default_value_t = 7)]
    looks: usize,
    /// `florin-proxy`, a release.
    #[arg(long, value_name = "FILE")]
    proxy: PathBuf,
    /// Lists what was asked for, and when, at the last look at each page.
    #[arg(long)]
    requests: bool,
}

/// Milliseconds until the skeleton is on the screen.
const SKELETON_MS: u64 = 600;
/// Milliseconds until the choice of assets is.
const CHOICE_MS: u64 = 1200;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let site = Site::open().await;
    let wishes = Wishes {
        origins: vec![site.url().to_owned()],
        ..Wishes::default()
    };
    let mut world = World::start_with(wishes).await;
    // The release takes the place of the one that was compiled for tests.
    world.stop_proxy().await;
    let log = world.file("release.log");
    let release = Program::start_at(&arguments.proxy, &world.config_file(), &log);
    world.proxy_listens().await;
    // What this process makes ready when it first hears of an order takes a second of the processor.
    world.shopper().opens("ebook").await;
    world.everything_is_told().await;

    let looks = arguments.looks;
    println!(
        "150 ms, 1.6 Mbit/s, a 4 times slower processor, nothing in the cache; median of {looks} (least–most){}\n",
        load()
    );
    print_line(
        "",
        &["skeleton", "choice", "the shop's page before"].map(str::to_owned),
    );
    let mut kept = true;
    for page in Page::ALL {
        let mut waited = Vec::new();
        for _ in 0..looks {
            waited.push(look(page, &world, &site).await);
        }
        let of = |member: fn(&Waited) -> u64| median(waited.iter().map(member).collect());
        let all = [
            of(|one| one.skeleton),
            of(|one| one.choice),
            of(|one| one.before),
        ];
        print_line(
            name(page),
            &all.map(|[middle, least, most]| format!("{middle} ms ({least}–{most})")),
        );
        let [[skeleton, ..], [choice, ..], _] = all;
        kept &= page == Page::Baseline || (skeleton <= SKELETON_MS && choice <= CHOICE_MS);
        if arguments.requests {
            let last = waited.last().map(|one| one.requests.as_slice());
            println!("{}", last.unwrap_or_default().join("\n"));
        }
    }
    print_line(
        "promised",
        &[
            format!("≤ {SKELETON_MS} ms"),
            format!("≤ {CHOICE_MS} ms"),
            String::new(),
        ],
    );
    drop(release);
    world.end().await;
    if kept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn print_line(name: &str, [skeleton, choice, before]: &[String; 3]) {
    println!("{name:<44}{skeleton:>24}{choice:>24}{before:>24}");
}

/// How busy this machine is with other things, where it says so: what is measured then is measured too long.
fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().filter(|load| !load.is_empty());
    load.map(|load| format!("; load {load}"))
        .unwrap_or_default()
}

fn name(page: Page) -> &'static str {
    match page {
        Page::Baseline => "an empty page: the loader, the program",
        Page::Checkout => "the checkout's own page",
        Page::Frame => "in a frame, from the loader on",
        Page::Inline => "inline, from the loader on",
    }
}
