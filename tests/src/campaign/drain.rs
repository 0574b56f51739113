//! The time after the last kill, in which the proxy finishes what it has begun.

use std::time::Duration;

use florin_proxy::clock::{Clock as _, SystemClock};
use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

use super::shard::{DATABASE, Shard};
use crate::wait::pause;
use crate::world::secrets;

/// A delivery of a killed proxy stays leased for half a minute. Everything else is quicker.
const BOUND: i64 = 180;
/// `Retry-After` of the injected 429.
const PAUSE_SECONDS: u64 = 4;
const POLL_EVERY: Duration = Duration::from_millis(500);

/// Unfinished work, read from the database.
#[derive(Debug)]
struct Remaining {
    /// Events that are not delivered.
    events: Vec<String>,
    /// Invoices that were completed after their last poll.
    invoices: Vec<String>,
    /// Attempts in the state `creating`.
    creating: i64,
}

/// Waits until no work remains, up to [`BOUND`]. The auditor names what remains then.
pub(super) async fn wait_until_drained(shard: &Shard) {
    // The process that receives it must keep it: a killed proxy has forgotten every Retry-After.
    let too_many_requests =
        json!({"endpoint": "any", "kind": "status", "status": 429, "retry_after": PAUSE_SECONDS});
    shard.sandbox.inject_fault(too_many_requests).await;
    for _ in 0..6 {
        shard.sandbox.mine(1).await;
    }
    let started = SystemClock.now();
    while SystemClock.now().duration_since(started).as_secs() < BOUND {
        let remaining = remaining(shard).await;
        if remaining.events.is_empty() && remaining.invoices.is_empty() && remaining.creating == 0 {
            return;
        }
        for invoice in &remaining.invoices {
            send_callback(shard, invoice).await;
        }
        for event in &remaining.events {
            redeliver(shard, event).await;
        }
        pause(POLL_EVERY).await;
    }
}

/// Sends the callback of a completed invoice.
async fn send_callback(shard: &Shard, invoice: &str) {
    let url = format!(
        "{}/callbacks/{}",
        shard.addresses.proxy_url(),
        secrets::CALLBACK_TOKEN
    );
    let callback = json!({"invoice_id": invoice, "status": "COMPLETED"});
    // A lost one is repeated in the next round.
    let _ = shard.http.post(url).json(&callback).send().await;
}

/// Requests an event that the store rejected before.
async fn redeliver(shard: &Shard, event: &str) {
    let url = format!(
        "{}/v1/events/{event}/redeliver",
        shard.addresses.proxy_url()
    );
    let request = shard.http.post(url).bearer_auth(secrets::STORE_KEY);
    let _ = request.send().await;
}

async fn remaining(shard: &Shard) -> Remaining {
    let file = shard.folder.file(DATABASE);
    let options = SqliteConnectOptions::new().filename(file).read_only(true);
    let mut db = options.connect().await.expect("the proxy has created it");
    let events =
        "SELECT events.id FROM events JOIN outbox USING (position) WHERE state = 'pending'";
    let events = sqlx::query_scalar(events).fetch_all(&mut db).await;
    let open = "SELECT invoice_id, coalesce(looked_at, 0), coalesce(observed_at, 0) FROM attempts
         WHERE state = 'open' AND standing <> 'settled'";
    let open: Vec<(String, i64, i64)> = sqlx::query_as(open)
        .fetch_all(&mut db)
        .await
        .expect("the proxy's database");
    let completed = shard.invoices.completed();
    let is_unobserved = |(id, polled_at, observed_at): &(String, i64, i64)| {
        let since = completed.get(id);
        since.is_some_and(|since| is_unobserved(since.as_millisecond(), *polled_at, *observed_at))
    };
    let creating = "SELECT count(*) FROM attempts WHERE state = 'creating'";
    let creating = sqlx::query_scalar(creating).fetch_one(&mut db).await;
    let remaining = Remaining {
        events: events.expect("the proxy's database"),
        invoices: open
            .into_iter()
            .filter(is_unobserved)
            .map(|(id, ..)| id)
            .collect(),
        creating: creating.expect("the proxy's database"),
    };
    // An open reader would block the checkpoint of the journal.
    let _ = db.close().await;
    remaining
}

/// Returns `true` if no poll can have seen what happened at `happened_at`: the last poll was sent before it, or its
/// response is outstanding. A response that arrives later may still describe an earlier state.
fn is_unobserved(happened_at: i64, polled_at: i64, observed_at: i64) -> bool {
    polled_at <= happened_at || observed_at < polled_at
}

#[cfg(test)]
mod tests {
    use super::is_unobserved;

    #[test]
    fn a_response_shows_no_change_after_its_request() {
        assert!(!is_unobserved(5, 6, 7));
        assert!(is_unobserved(5, 4, 7), "the response was slow");
        assert!(is_unobserved(5, 6, 3), "the response is outstanding");
    }
}
