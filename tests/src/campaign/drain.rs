//! The time after the last kill, in which the proxy finishes what it has begun.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use florin_invariants::{Attempt, Millis};
use florin_proxy::clock::{Clock as _, SystemClock};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::customer::Customers;
use super::real_gateway::RealGateway;
use crate::http_response::text_at;
use crate::sandbox_control::SandboxControl;
use crate::wait::pause;
use crate::world::secrets;

/// A delivery of a killed proxy stays leased for half a minute. Everything else is quicker.
const BOUND: i64 = 180;
/// `Retry-After` of the injected 429.
const PAUSE_SECONDS: u64 = 4;
const POLL_EVERY: Duration = Duration::from_millis(500);

/// Requests a pause, mines blocks, and waits until no work remains, up to [`BOUND`]. The auditor names what remains then.
/// The database is the path of a file, or the address of one on a server.
pub(super) async fn drain(
    customers: &Customers,
    database: &str,
    sandbox_log: &Path,
    real: Option<&RealGateway>,
) {
    if real.is_none() {
        request_pause(&customers.sandbox).await;
    }
    let started = SystemClock.now();
    while SystemClock.now().duration_since(started).as_secs() < BOUND {
        let rows = florin_invariants::read_tables(database).await;
        let rows = rows.expect("the proxy's database");
        let mut is_settled = true;
        if let Some(real) = real {
            is_settled = real.mine_for_unfinished().await;
            real.write_log(sandbox_log, &rows.attempts).await;
        }
        let completed = completed(sandbox_log);
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
        if events.is_empty() && open.is_empty() && !is_creating && is_settled {
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

async fn request_pause(sandbox: &SandboxControl) {
    // Earlier a killed proxy could have forgotten it.
    let too_many_requests =
        json!({"endpoint": "any", "kind": "status", "status": 429, "retry_after": PAUSE_SECONDS});
    sandbox.inject_fault(too_many_requests).await;
    sandbox.mine(6).await;
}

/// Returns every invoice of the gateway that is completed, with the time of its completion.
fn completed(sandbox_log: &Path) -> BTreeMap<String, Millis> {
    let log = std::fs::read_to_string(sandbox_log).expect("the sandbox has a log");
    let mut completed = BTreeMap::new();
    // The last line may be incomplete.
    for line in log
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
    {
        let line: Value = line;
        if line["kind"] == "status" {
            let invoice = text_at(&line, "/invoice_id");
            completed.remove(&invoice);
            if line["to"] == "COMPLETED" {
                let at: Timestamp = text_at(&line, "/at").parse().expect("a time");
                completed.insert(invoice, at.as_millisecond());
            }
        }
    }
    completed
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
