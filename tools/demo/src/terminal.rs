//! What the demo prints on the terminal, and what it reads there.

use std::io::{IsTerminal as _, stdin, stdout};
use std::path::Path;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::replicas::Replicas;
use crate::settings::Ports;

/// Prints the addresses, the ones to try first first.
pub(crate) fn print_welcome(ports: Ports, folder: &Path, has_database_elsewhere: bool) {
    let Ports {
        proxy,
        shop,
        sandbox,
        ..
    } = ports;
    let url = |port: u16, path: &str| bold(&format!("http://127.0.0.1:{port}{path}"));
    println!("\n{}\n", bold("Florin is running. No real money moves."));
    println!(
        "  1  Buy something: in the shop, press “Pay with crypto”. The checkout opens over the"
    );
    println!("     shop's page, in a dialog. Choose an asset.");
    println!("       Shop      {}", url(shop, "/"));
    println!(
        "  2  Pay: in the sandbox, press “Paid exactly”. The sandbox imitates the payment gateway"
    );
    println!(
        "     and the customer's wallet. The checkout shows the payment; the shop's own list of"
    );
    println!("     orders shows it too, because the shop received a signed webhook.");
    println!("       Sandbox   {}", url(sandbox, "/sandbox"));
    println!("  3  See every state of the checkout, in any width, theme and language:");
    println!("       Gallery   {}\n", url(proxy, "/pay#gallery"));
    println!("  More to try:");
    for (name, port, path) in [
        (
            "The checkout on a separate page",
            proxy,
            "/pay?store=demo#store=demo&product=ebook",
        ),
        ("A donation", shop, "/donate"),
        ("A price signed by the shop's server", shop, "/members"),
        ("The payment gateway's own page", shop, "/hosted"),
        ("Themes", shop, "/theme-builder"),
    ] {
        println!("     {name:<37}http://127.0.0.1:{port}{path}");
    }
    println!("\n  To sell on your own page: docs/guide/quick-start.md");
    let database = if has_database_elsewhere {
        ""
    } else {
        ", database"
    };
    println!("  Configuration{database} and log: {}", folder.display());
    println!("  To stop: Ctrl-C\n");
}

/// Emphasised, on a terminal.
pub(crate) fn bold(text: &str) -> String {
    if stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        format!("\x1b[1m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

/// Kills and starts proxies by the numbers that are typed, until the shutdown.
pub(crate) async fn kill_by_number(
    replicas: &Replicas,
    ports: Ports,
    shutdown: &CancellationToken,
) {
    println!(
        "  {}",
        bold("Several proxies, one PostgreSQL, one address:")
    );
    for number in replicas.numbers() {
        println!(
            "     Proxy {number}  http://127.0.0.1:{}   its log: {}",
            ports.replica(number),
            replicas.log(number).display()
        );
    }
    println!(
        "  Type a proxy's number and Enter to kill it (SIGKILL), and again to start it. Do it while a customer pays:"
    );
    println!("  the open page continues with another proxy, and no order is lost.\n");
    let (sender, mut lines) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in stdin().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    loop {
        let line = tokio::select! {
            () = shutdown.cancelled() => return,
            Some(line) = lines.recv() => line,
        };
        if let Ok(number) = line.trim().parse() {
            match replicas.toggle(number) {
                Ok(done) => println!("  {done}"),
                Err(error) => println!("  {error:#}"),
            }
        }
    }
}
