//! The time after the last kill, in which the proxy finishes what it has begun; and the gateway's invoices, read from the
//! sandbox's log as it grows.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::time::Duration;

use florin_invariants::{Attempt, Millis, SandboxLog};
use florin_proxy::clock::{Clock as _, SystemClock};
use parking_lot::{Mutex, MutexGuard};
use serde_json::json;

use super::customer::Customers;
use crate::wait::pause;
use crate::world::secrets;

/// A delivery of a killed proxy stays leased for half a minute. Everything else is quicker.
const BOUND: i64 = 180;
/// `Retry-After` of the injected 429.
const PAUSE_SECONDS: u64 = 4;
const POLL_EVERY: Duration = Duration::from_millis(500);

/// Requests a pause, mines blocks, and waits until no work remains, up to [`BOUND`]. The auditor names what remains then.
/// The database is the path of a file, or the address of one on a server.
pub(super) async fn drain(customers: &Customers, database: &str) {
    let sandbox = &customers.sandbox;
    // Earlier a killed proxy could have forgotten it.
    let too_many_requests =
        json!({"endpoint": "any", "kind": "status", "status": 429, "retry_after": PAUSE_SECONDS});
    sandbox.inject_fault(too_many_requests).await;
    sandbox.mine(6).await;
    let started = SystemClock.now();
    while SystemClock.now().duration_since(started).as_secs() < BOUND {
        let rows = florin_invariants::read_tables(database).await;
        let rows = rows.expect("the proxy's database");
        let completed = customers.invoices.completed();
        let is_creating = rows.attempts.iter().any(|it| it.state == "creating");
        let mut open = rows.attempts;
        open.retain(|attempt| {
            let completed_at = attempt.invoice_id.as_ref().and_then(|id| completed.get(id));
            let is_open = attempt.is_open() && attempt.payment != "settled";
            let completed_at = completed_at.filter(|_| is_open);
            completed_at.is_some_and(|at| is_unobserved(attempt, *at))
        });
        let mut events = rows.events;
        events.retain(|event| event.outbox.as_deref() == Some("pending"));
        if events.is_empty() && open.is_empty() && !is_creating {
            return;
        }
        for invoice in open.iter().flat_map(|attempt| &attempt.invoice_id) {
            customers.send_callback(invoice).await;
        }
        for event in &events {
            customers.redeliver(&event.id).await;
        }
        pause(POLL_EVERY).await;
    }
}

impl Customers {
    async fn send_callback(&self, invoice: &str) {
        let url = format!("{}/callbacks/{}", self.proxy, secrets::CALLBACK_TOKEN);
        let callback = json!({"invoice_id": invoice, "status": "COMPLETED"});
        // A lost one is repeated in the next round.
        let _ = self.http.post(url).json(&callback).send().await;
    }

    async fn redeliver(&self, event: &str) {
        let url = format!("{}/v1/events/{event}/redeliver", self.proxy);
        let request = self.http.post(url).bearer_auth(secrets::STORE_KEY);
        let _ = request.send().await;
    }
}

/// Returns `true` if no poll can have seen what happened at `happened_at`: the last poll was sent before it, or its
/// response is outstanding. A response that arrives later may still describe an earlier state.
fn is_unobserved(attempt: &Attempt, happened_at: Millis) -> bool {
    let polled_at = attempt.polled_at.unwrap_or_default();
    let observed_at = attempt.observed_at.unwrap_or_default();
    polled_at <= happened_at || observed_at < polled_at
}

#[derive(Debug)]
pub(super) struct Invoices(Mutex<State>);

#[derive(Debug)]
struct State {
    lines: BufReader<File>,
    /// The beginning of a line that was incomplete at the last read.
    partial_line: String,
    log: SandboxLog,
}

impl Invoices {
    /// Those of a log to which the sandbox will append.
    pub(super) fn of(log: &Path) -> Self {
        let file = File::options()
            .create(true)
            .append(true)
            .read(true)
            .open(log);
        Self(Mutex::new(State {
            lines: BufReader::new(file.expect("the folder is writable")),
            partial_line: String::new(),
            log: SandboxLog::default(),
        }))
    }

    pub(super) fn id_of_address(&self, address: &str) -> String {
        let state = self.read();
        let mut invoices = state.log.gateway.invoices.iter();
        let found = invoices.find(|(_, invoice)| invoice.shown.address.as_deref() == Some(address));
        let found = found.map(|(id, _)| id.clone());
        found.unwrap_or_else(|| panic!("{address} belongs to no invoice of the gateway"))
    }

    /// Returns every completed invoice with the time of its completion.
    fn completed(&self) -> BTreeMap<String, Millis> {
        let state = self.read();
        let invoices = state.log.gateway.invoices.iter();
        let last = invoices.filter_map(|(id, invoice)| Some((id, invoice.reports.last()?)));
        let completed = last.filter(|(_, last)| last.status == "COMPLETED");
        completed.map(|(id, last)| (id.clone(), last.at)).collect()
    }

    fn read(&self) -> MutexGuard<'_, State> {
        let mut state = self.0.lock();
        let State {
            lines,
            partial_line,
            log,
        } = &mut *state;
        while lines.read_line(partial_line).expect("the log is text") > 0
            && partial_line.ends_with('\n')
        {
            let line = std::mem::take(partial_line);
            let line = serde_json::from_str(&line).expect("a line of the log is JSON");
            log.add(&line).expect("a line of the sandbox's log");
        }
        state
    }
}
