//! What the demo prints on the terminal, and the keys that it reads there.

use std::io::{IsTerminal as _, Read as _, stdin, stdout};
use std::path::Path;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
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

/// Kills and starts proxies by their number, until the shutdown.
pub(crate) async fn kill_by_key(replicas: &Replicas, ports: Ports, shutdown: &CancellationToken) {
    println!(
        "  {}",
        bold("Several proxies, one PostgreSQL, one address:")
    );
    for number in replicas.numbers() {
        let log = replicas.log(number);
        println!(
            "     Proxy {number}  http://127.0.0.1:{}   its log: {}",
            ports.replica(number),
            log.display()
        );
    }
    println!(
        "  Press {} to kill that proxy (SIGKILL), and again to start it. Do it while a customer pays:",
        replicas
            .numbers()
            .map(|number| number.to_string())
            .collect::<Vec<_>>()
            .join(", ")
    );
    println!("  the open page continues with another proxy, and no order is lost.\n");
    let mut keys = Keys::begin();
    let watching = replicas.watch(shutdown.clone(), |report| println!("  {report}"));
    let toggling = async {
        loop {
            let key = keys.next().await;
            let number = char::from(key)
                .to_digit(10)
                .and_then(|digit| u8::try_from(digit).ok());
            if let Some(report) = number.and_then(|number| replicas.toggle(number)) {
                println!("  {report}");
            }
        }
    };
    tokio::select! {
        () = shutdown.cancelled() => {}
        () = watching => {}
        () = toggling => {}
    }
}

/// Reads single keys, without Enter; of another standard input, its bytes. The terminal is as before once this is dropped.
struct Keys {
    before: Option<Termios>,
    pressed: mpsc::UnboundedReceiver<u8>,
}

impl Keys {
    /// Begins to read.
    fn begin() -> Self {
        let before = tcgetattr(stdin()).ok();
        if let Some(before) = &before {
            let mut single = before.clone();
            single
                .local_modes
                .remove(LocalModes::ICANON | LocalModes::ECHO);
            // Without it, a key needs Enter.
            let _ = tcsetattr(stdin(), OptionalActions::Now, &single);
        }
        let (sender, pressed) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            for byte in stdin().lock().bytes().map_while(Result::ok) {
                if sender.send(byte).is_err() {
                    return;
                }
            }
        });
        Self { before, pressed }
    }

    /// Waits for the next key.
    async fn next(&mut self) -> u8 {
        match self.pressed.recv().await {
            Some(key) => key,
            // Standard input has ended.
            None => std::future::pending().await,
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(stdin(), OptionalActions::Now, before);
        }
    }
}
