//! What the demo prints on the terminal, and what it reads there.

use std::io::{IsTerminal as _, stdin, stdout};
use std::path::Path;
use std::process::{Command, Stdio};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::proxies::Replicas;
use crate::settings::{OPERATOR, Ports, Secrets};
use crate::tour::Tour;

/// Prints what to try, in the order in which to try it.
pub(crate) fn print_welcome(ports: Ports) {
    let Ports {
        proxy,
        shop,
        sandbox,
        ..
    } = ports;
    println!(
        "
{running}

  Start here: watch one sale, from the customer's wallet to the shop's parcel.
       Tour      {tour}

  By hand:
  1  Buy something: in the shop, press “Pay with crypto”. The checkout opens over the
     shop's page, in a dialog. Choose an asset.
       Shop      {shop_page}
  2  Pay: in the sandbox, press “Paid exactly”. The sandbox imitates the payment gateway
     and the customer's wallet. The checkout shows the payment; the shop's own list of
     orders shows it too, because the shop received a signed webhook.
       Sandbox   {sandbox_page}
  3  See every state of the checkout, in any width, theme and language:
       Gallery   {gallery}

  More to try:
     The checkout on a separate page      http://127.0.0.1:{proxy}/pay?store=demo&product=ebook
     A donation                           http://127.0.0.1:{shop}/donate
     A price signed by the shop's server  http://127.0.0.1:{shop}/members
     The payment gateway's own page       http://127.0.0.1:{shop}/hosted
     Themes                               http://127.0.0.1:{shop}/theme-builder",
        running = bold("Florin is running. No real money moves."),
        tour = bold(&Tour::address(ports)),
        shop_page = bold(&format!("http://127.0.0.1:{shop}/")),
        sandbox_page = bold(&format!("http://127.0.0.1:{sandbox}/sandbox")),
        gallery = bold(&format!("http://127.0.0.1:{proxy}/pay#gallery")),
    );
}

/// Prints what to try on nodes of this machine.
pub(crate) fn print_chains(ports: Ports, has_litecoin: bool) {
    let Ports { shop, wallet, .. } = ports;
    let litecoin = if has_litecoin {
        "Or choose Litecoin, and let the form below the checkout pay the address."
    } else {
        "With litecoind on the PATH, Litecoin can be chosen too."
    };
    println!(
        "
{running}

  1  Buy and pay with a wallet: choose ETH, or USDT on Ethereum, and press “Pay with Demo
     Wallet”. A block comes every three seconds, and three confirm a payment.
     {litecoin}
       Wallet    {page}
  2  See the paid order: the shop received a signed webhook.
       Shop      http://127.0.0.1:{shop}/

     The gateway's health                 http://127.0.0.1:{gateway}/health
       It issues addresses of a test key. Its prices are fixed, and asked for at the page
       with the wallet.",
        running = bold(
            "Florin is running with its gateway, on nodes of this machine. No real money moves."
        ),
        page = bold(&format!("http://127.0.0.1:{wallet}/")),
        gateway = ports.gateway_admin(),
    );
}

/// Prints where the operator signs in, and where everything is kept.
pub(crate) fn print_places(
    ports: Ports,
    secrets: &Secrets,
    folder: &Path,
    has_database_elsewhere: bool,
) {
    let database = if has_database_elsewhere {
        ""
    } else {
        ", database"
    };
    println!(
        "     The operator's page                  http://127.0.0.1:{admin}/
       name {OPERATOR}, password {password}

  To sell on your own page: docs/guide/quick-start.md
  Configuration{database} and log: {folder}
  To stop: Ctrl-C
",
        admin = ports.admin,
        password = secrets.operator_password,
        folder = folder.display(),
    );
}

/// Opens a page in the browser of the person at this machine's screen, if there are both.
pub(crate) fn open_browser(url: &str) {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let Some(program) = opener(stdout().is_terminal(), cfg!(target_os = "macos"), is_set) else {
        return;
    };
    let quiet = || Stdio::null();
    let mut command = Command::new(program);
    command
        .arg(url)
        .stdin(quiet())
        .stdout(quiet())
        .stderr(quiet());
    if let Ok(mut opening) = command.spawn() {
        // Else the program would stay in the list of processes after its end.
        std::thread::spawn(move || opening.wait());
    }
}

/// The program that opens a page. `None` without a terminal, over SSH, and without a screen.
fn opener(is_terminal: bool, is_mac: bool, is_set: impl Fn(&str) -> bool) -> Option<&'static str> {
    let is_remote = is_set("SSH_CONNECTION") || is_set("SSH_TTY");
    let has_screen = is_mac || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
    let program = if is_mac { "open" } else { "xdg-open" };
    (is_terminal && has_screen && !is_remote).then_some(program)
}

/// Emphasised, on a terminal.
fn bold(text: &str) -> String {
    if stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        format!("\x1b[1m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_opened_only_for_a_person_at_the_screen() {
        for (is_terminal, is_mac, set, program) in [
            (true, false, &["DISPLAY"][..], Some("xdg-open")),
            (true, false, &["WAYLAND_DISPLAY"], Some("xdg-open")),
            (true, true, &[], Some("open")),
            (true, false, &[], None),
            (false, false, &["DISPLAY"], None),
            (true, false, &["DISPLAY", "SSH_CONNECTION"], None),
            (true, true, &["SSH_TTY"], None),
        ] {
            let found = opener(is_terminal, is_mac, |name| set.contains(&name));
            assert_eq!(found, program, "{is_terminal} {is_mac} {set:?}");
        }
    }
}
