//! The time after the last kill, in which the proxy finishes what it has begun.

use std::time::Duration;

use florin_invariants::{Attempt, Millis};
use florin_proxy::clock::{Clock as _, SystemClock};
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
