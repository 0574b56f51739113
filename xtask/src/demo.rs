//! `cargo xtask demo`: a sandbox, a proxy and a shop on this machine, until Ctrl-C.

mod folder;
mod ports;
mod probe;
mod programs;
mod secrets;
mod settings;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
pub(crate) use folder::Folder;
pub(crate) use ports::Ports;
pub(crate) use probe::answers;
use programs::Ended;
pub(crate) use programs::Programs;
pub(crate) use secrets::Secrets;
pub(crate) use settings::florin_toml;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::arguments::DemoWishes;
use crate::bundle::Variant;
use crate::screen::{self, bold, dim};
use crate::stopwatch::Stopwatch;
use crate::workspace::Workspace;
use crate::{bundle, tools};

/// Between two looks at the programs.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long the three may take until they answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sets up, builds, starts, and stays until it is told to stop.
///
/// # Errors
/// A sentence that says what to do.
pub(crate) fn run(workspace: &Workspace, wishes: &DemoWishes) -> anyhow::Result<ExitCode> {
    let ports = Ports::from_base(wishes.port_base);
    // First, so that nobody waits for a build to hear of it.
    ports.check()?;
    tools::set_up(workspace)?;
    bundle::make(workspace, Variant::Demo)?;
    build(workspace, Variant::Demo)?;

    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .context("this program cannot listen for Ctrl-C")?;
    }
    let folder = Folder::create()?;
    let secrets = Secrets::draw()?;
    let toml = florin_toml(ports, &secrets, &folder, wishes, &workspace.products()?);
    folder.write("florin.toml", &toml)?;

    let mut programs = Programs::start(workspace, &folder, ports, &secrets)?;
    match serve(&mut programs, &folder, ports, wishes, &stop)? {
        None => {
            println!("\nStopping…");
            programs.stop();
            folder.remove();
            screen::good("Everything is stopped, and the demo's folder is removed.");
            Ok(ExitCode::SUCCESS)
        }
        Some(ended) => {
            programs.stop();
            for line in &ended.last_lines {
                println!("  {}", dim(line));
            }
            bail!(
                "the {} ended by itself ({}); its last lines are above, all of them in {}",
                ended.name,
                ended.status,
                ended.log.display()
            );
        }
    }
}

/// Waits until the three answer, says so, and watches them: `None` when told to stop.
fn serve(
    programs: &mut Programs,
    folder: &Folder,
    ports: Ports,
    wishes: &DemoWishes,
    stop: &AtomicBool,
) -> anyhow::Result<Option<Ended>> {
    let watch = Stopwatch::start();
    let mut waiting = ports.health();
    let mut told = false;
    while !stop.load(Ordering::Relaxed) {
        if let Some(ended) = programs.ended()? {
            return Ok(Some(ended));
        }
        waiting.retain(|(_, port, path)| !answers(*port, path));
        if waiting.is_empty() && !told {
            welcome(ports, folder, wishes);
            told = true;
        }
        if let Some((name, port, path)) = waiting.first()
            && watch.elapsed() > PATIENCE
        {
            programs.stop();
            bail!(
                "the {name} does not answer at http://127.0.0.1:{port}{path}; its log is in {}",
                folder.path().display()
            );
        }
        thread::sleep(LOOK_EVERY);
    }
    Ok(None)
}

/// Builds the three programs, the proxy with a variant of the widget inside.
pub(crate) fn build(workspace: &Workspace, variant: Variant) -> anyhow::Result<()> {
    if !workspace.debug_program("florin-proxy").exists() {
        screen::step("Building the proxy, the sandbox and the shop (about 3 minutes once)…");
    }
    bundle::cargo_with(workspace, variant)
        .args(["build", "--locked", "--quiet"])
        .args([
            "--package",
            "proxy",
            "--package",
            "sandbox",
            "--package",
            "demo-shop",
        ])
        .run()
}

/// A checkout as a page of its own, without a shop around it.
const CHECKOUT: &str = "/pay?store=demo#store=demo&product=ebook";

fn welcome(ports: Ports, folder: &Folder, wishes: &DemoWishes) {
    let at = |port: u16, path: &str| bold(&format!("http://127.0.0.1:{port}{path}"));
    let database = match &wishes.database_url {
        Some(_) => "Logs in",
        None => "Logs and database in",
    };
    println!("\n{}\n", bold("Florin is open."));
    println!("  Shop     {}", at(ports.shop, "/"));
    println!("  Sandbox  {}", at(ports.sandbox, "/sandbox"));
    println!("  Checkout {}", at(ports.proxy, CHECKOUT));
    println!(
        "           {}\n",
        dim("the proxy's own page, for one e-book")
    );
    println!("  Donation {}", at(ports.shop, "/donate"));
    println!("  Members  {}", at(ports.shop, "/members"));
    println!(
        "           {}",
        dim("a price that the shop's backend signs into an order token")
    );
    println!("  Themes   {}", at(ports.shop, "/theme-builder"));
    println!(
        "           {}",
        dim("the checkout's looks, and what to copy for your own")
    );
    println!("  Hosted   {}", at(ports.shop, "/hosted"));
    println!(
        "           {}\n",
        dim("paid on the payment service's own page")
    );
    println!("  1  In the shop, press “Pay with crypto” and choose an asset.");
    println!("  2  In the sandbox, press Paid “Exactly”. That is the customer's wallet.");
    println!(
        "  3  The checkout says Paid, and so do the shop's own orders: a signed webhook came.\n"
    );
    println!(
        "  {}",
        dim(&format!("{database} {}", folder.path().display()))
    );
    println!("  {}\n", dim("Ctrl-C stops everything."));
}
