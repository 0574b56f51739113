//! A restored backup: the proxy makes it while customers buy, is killed later, and starts again on the backup.
//!
//! What a restore has lost is known exactly: the replaced database has it, and the backup has not. Customers accept a
//! refusal of that alone, and the auditor excuses that alone.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use florin_proxy::clock::{Clock as _, SystemClock};
use serde_json::{Value, json};

use super::customer::Purchase;
use super::lost::Rows;
use super::proxy_process::ProxyProcess;
use super::shard::{RESTORE_LOG, Shard};
use super::supervisor::Supervisor;
use crate::program;
use crate::wait::pause;
use crate::world::secrets;

/// How long the proxy runs on after the backup.
const RUN: Duration = Duration::from_secs(3);
/// A request that was on its way to the shop when the proxy was killed is logged by then.
const ARRIVED: Duration = Duration::from_millis(500);
/// Times of [`Customers::wait_until_paid`](super::customer::Customers::wait_until_paid), some seconds each.
const ROUNDS: usize = 2;
const RETRY_EVERY: Duration = Duration::from_millis(100);
/// Orders of each kind that the store's server looks for.
const LOOKED_FOR: usize = 8;
/// The gateway may fail by an injected fault, each time by another one.
const MAX_TRIES: usize = 40;

impl Shard {
    /// Makes a backup, lets the proxy run on, kills it, and starts it on the backup. One customer has an invoice in the
    /// backup and pays it later; another one opens an order later.
    pub(super) async fn run_restore(&mut self, process: &mut ProxyProcess) {
        let customers = self.customers();
        let order = loop {
            // `None`: too many orders were opened from this address.
            if let Some(order) = customers.open(&mut self.random).await {
                break order;
            }
            pause(RETRY_EVERY).await;
        };
        let invoice = customers.open_invoice(&order, "LTC").await;
        self.restores += 1;
        let names = ["backup", "replaced"].map(|name| format!("{name}-{}.db", self.restores));
        let [backup, replaced] = names.clone().map(|name| self.folder.file(&name));
        let made_at = SystemClock.now();
        let to = backup.display().to_string();
        let made = self.supervisor.run(&["store", "backup", "--to", &to]).await;
        assert_eq!(made.0, Some(0), "{}", made.1);
        customers.open(&mut self.random).await;
        if let Some(invoice) = &invoice {
            self.sandbox.pay_invoice(invoice, "exact").await;
            self.wait_until_paid(&order).await;
        }
        pause(self.random.up_to(RUN)).await;
        self.kill_running(process);
        pause(ARRIVED).await;
        replace(&self.supervisor.database, &backup, &replaced);
        let [kept, before] = [Rows::read(&backup).await, Rows::read(&replaced).await];
        let kept = kept.expect("a backup of the proxy");
        let lost = before.expect("the proxy's database").without(&kept);
        {
            let mut all = self.lost.rows();
            all.orders.extend(lost.orders.iter().cloned());
            all.tokens.extend(lost.tokens.iter().cloned());
        }
        self.log_restore(&json!({
            "made_at": made_at.to_string(),
            "at": SystemClock.now().to_string(),
            "backup": names[0],
            "replaced": names[1],
        }));
        *process = self.supervisor.start();
        self.supervisor.wait_until_ready(process, &self.http).await;
        self.find_what_was_lost(&kept, &lost).await;
        if self.wait_until_paid(&order).await {
            self.counters
                .count("orders paid before a restore and after it");
        }
    }

    /// Returns `true` if the order is paid within some seconds. Its customer watches it.
    async fn wait_until_paid(&self, order: &Purchase) -> bool {
        let customers = self.customers();
        for _ in 0..ROUNDS {
            customers.wait_until_paid(order).await;
            let (_, view) = self.order(&order.id).await;
            if view["status"] == "paid" {
                return true;
            }
        }
        false
    }

    fn log_restore(&self, line: &Value) {
        let log = File::options()
            .append(true)
            .open(self.folder.file(RESTORE_LOG));
        let mut log = log.expect("the folder is writable");
        writeln!(log, "{line}").expect("the folder is writable");
    }

    /// As docs/operations/backups.md says: the store compares its orders with those of the proxy, and the gateway still
    /// has the invoices.
    async fn find_what_was_lost(&self, kept: &Rows, lost: &Rows) {
        for (orders, expected) in [(&lost.orders, 404), (&kept.orders, 200)] {
            for order in orders.iter().take(LOOKED_FOR) {
                let (status, _) = self.order(order).await;
                assert_eq!(status, expected, "{order} after a restore");
            }
        }
        if let Some(invoice) = lost.invoices.first() {
            self.find_invoice(invoice).await;
            self.counters.count("lost invoices found by the command");
        }
        for (rows, what) in [
            (lost.orders.len(), "orders lost by a restore"),
            (lost.invoices.len(), "invoices lost by a restore"),
        ] {
            self.counters.add(what, rows as u64);
        }
    }

    /// Status and body of a response to the store's server.
    async fn order(&self, order: &str) -> (u16, Value) {
        let url = format!("{}/v1/orders/{order}", self.addresses.proxy_url());
        for _ in 0..MAX_TRIES {
            let request = self.http.get(&url).bearer_auth(secrets::STORE_KEY);
            if let Ok(response) = request.send().await
                && response.status().as_u16() < 500
            {
                let status = response.status().as_u16();
                return (status, response.json().await.unwrap_or_default());
            }
            pause(RETRY_EVERY).await;
        }
        panic!("no response:\n{}", self.supervisor.log_tail())
    }

    async fn find_invoice(&self, invoice: &str) {
        let mut printed = String::new();
        for _ in 0..MAX_TRIES {
            let (code, output) = self.supervisor.run(&["gateway", "invoice", invoice]).await;
            if code == Some(0) && output.contains("transaction_status") {
                return;
            }
            printed = output;
            pause(RETRY_EVERY).await;
        }
        panic!("{invoice} is not found by the command: {printed}")
    }
}

impl Supervisor {
    /// Runs the program with these words to its end; returns its exit code and what it printed.
    async fn run(&self, words: &[&str]) -> (Option<i32>, String) {
        let variables = self.variables();
        let variables: Vec<(&str, &str)> = variables
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let mut command = program::command(&self.program, &variables);
        command.arg("--config").arg(&self.config).args(words);
        let output = tokio::task::spawn_blocking(move || command.output()).await;
        let output = output.expect("it does not panic");
        let output = output.expect("the program can be started");
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8_lossy(&printed).into_owned();
        (output.status.code(), printed)
    }
}

/// Puts a backup in the place of the database, as docs/operations/backups.md says. The database is kept as `replaced`.
fn replace(database: &Path, backup: &Path, replaced: &Path) {
    let with = |file: &Path, ending| PathBuf::from(format!("{}{ending}", file.display()));
    fs::rename(database, replaced).expect("the proxy's database");
    // Both are missing if the proxy was killed between its start and its first write.
    let _ = fs::rename(with(database, "-wal"), with(replaced, "-wal"));
    let _ = fs::remove_file(with(database, "-shm"));
    fs::copy(backup, database).expect("the folder is writable");
}
