//! The time after the last kill, in which the proxy finishes what it has begun.

use std::path::Path;
use std::time::Duration;

use florin_proxy::clock::{Clock as _, SystemClock};
use serde_json::json;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

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
        let rows = if database.contains("://") {
            rows_of_server(database).await
        } else {
            rows_of_file(Path::new(database)).await
        };
        let Rows {
            events,
            mut open,
            creating,
        } = rows.expect("the proxy's database");
        let completed = customers.invoices.completed();
        open.retain(|(invoice, polled_at, observed_at)| {
            let since = completed.get(invoice);
            since.is_some_and(|at| is_unobserved(at.as_millisecond(), *polled_at, *observed_at))
        });
        if events.is_empty() && open.is_empty() && creating == 0 {
            return;
        }
        for (invoice, ..) in &open {
            customers.send_callback(invoice).await;
        }
        for event in &events {
            customers.redeliver(event).await;
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

    /// Requests an event that the store rejected before.
    async fn redeliver(&self, event: &str) {
        let url = format!("{}/v1/events/{event}/redeliver", self.proxy);
        let request = self.http.post(url).bearer_auth(secrets::STORE_KEY);
        let _ = request.send().await;
    }
}

struct Rows {
    /// Events that are not delivered.
    events: Vec<String>,
    /// Each open attempt: its invoice, its last poll and the response to that.
    open: Vec<(String, i64, i64)>,
    /// Number of attempts in the state `creating`.
    creating: i64,
}

const CREATING: &str = "SELECT count(*) FROM attempts WHERE state = 'creating'";

async fn rows_of_file(file: &Path) -> sqlx::Result<Rows> {
    let options = SqliteConnectOptions::new().filename(file).read_only(true);
    let mut db = options.connect().await?;
    let events = "SELECT events.id FROM events JOIN outbox USING (order_id, sequence) WHERE state = 'pending'";
    let open = "SELECT attempts.invoice_id, coalesce(polled_at, 0), coalesce(observed_at, 0)
         FROM attempts JOIN polls ON attempt_id = attempts.id
         WHERE state = 'open' AND attempts.payment_state <> 'settled'";
    let rows = Rows {
        events: sqlx::query_scalar(events).fetch_all(&mut db).await?,
        open: sqlx::query_as(open).fetch_all(&mut db).await?,
        creating: sqlx::query_scalar(CREATING).fetch_one(&mut db).await?,
    };
    // An open reader would block the checkpoint of the journal.
    let _ = db.close().await;
    Ok(rows)
}

async fn rows_of_server(url: &str) -> sqlx::Result<Rows> {
    let mut db = PgConnection::connect(url).await?;
    let events = "SELECT events.id FROM events JOIN outbox USING (order_id, sequence) WHERE state = 'pending'";
    let open =
        "SELECT attempts.invoice_id, coalesce((extract(epoch FROM polled_at) * 1000)::bigint, 0),
             coalesce((extract(epoch FROM observed_at) * 1000)::bigint, 0)
         FROM attempts JOIN polls ON attempt_id = attempts.id
         WHERE state = 'open' AND attempts.payment_state <> 'settled'";
    let rows = Rows {
        events: sqlx::query_scalar(events).fetch_all(&mut db).await?,
        open: sqlx::query_as(open).fetch_all(&mut db).await?,
        creating: sqlx::query_scalar(CREATING).fetch_one(&mut db).await?,
    };
    let _ = db.close().await;
    Ok(rows)
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
