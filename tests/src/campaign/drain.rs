//! The quiet after the last blow: the proxy may finish what it has begun.

use std::time::Duration;

use proxy::clock::{Clock as _, SystemClock};
use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

use super::shard::{DATABASE, Lane};
use crate::wait::pause;
use crate::world::secrets;

/// What a killed proxy was about to tell is leased to it for half a minute. Everything else is quicker.
const BOUND: i64 = 180;
/// What a service that wants to be left alone asks for.
const PAUSE_SECONDS: u64 = 4;
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What is still to be done, as the ledger's file says.
#[derive(Debug)]
struct Left {
    /// Events that wait to be told.
    events: Vec<String>,
    /// Invoices that were completed after they were last asked about.
    invoices: Vec<String>,
    /// Attempts whose invoice has not come.
    half_made: i64,
}

/// Waits until nothing is left to do, as long as that may take. What is left then is for the auditor to name.
pub(super) async fn settles(lane: &Lane) {
    // A pause that is asked for is kept by whoever was asked; a killed proxy has forgotten it.
    let pause_wanted =
        json!({"endpoint": "any", "kind": "status", "status": 429, "retry_after": PAUSE_SECONDS});
    lane.chain.inject_fault(pause_wanted).await;
    for _ in 0..6 {
        lane.chain.mine(1).await;
    }
    let began = SystemClock.now();
    while SystemClock.now().duration_since(began).as_secs() < BOUND {
        let left = left(lane).await;
        if left.events.is_empty() && left.invoices.is_empty() && left.half_made == 0 {
            return;
        }
        for invoice in &left.invoices {
            hints(lane, invoice).await;
        }
        for event in &left.events {
            asks_again(lane, event).await;
        }
        pause(LOOK_EVERY).await;
    }
}

/// The service repeats its callback.
async fn hints(lane: &Lane, invoice: &str) {
    let url = format!(
        "{}/callbacks/{}",
        lane.places.proxy_url(),
        secrets::CALLBACK_TOKEN
    );
    let callback = json!({"invoice_id": invoice, "status": "COMPLETED"});
    // One that is lost is repeated at the next look.
    let _ = lane.http.post(url).json(&callback).send().await;
}

/// The store asks for an event that it refused before.
async fn asks_again(lane: &Lane, event: &str) {
    let url = format!("{}/v1/events/{event}/redeliver", lane.places.proxy_url());
    let request = lane.http.post(url).bearer_auth(secrets::STORE_KEY);
    let _ = request.send().await;
}

async fn left(lane: &Lane) -> Left {
    let file = lane.folder.file(DATABASE);
    let options = SqliteConnectOptions::new().filename(file).read_only(true);
    let mut db = options.connect().await.expect("the proxy has made it");
    let events =
        "SELECT events.id FROM events JOIN outbox USING (position) WHERE state = 'pending'";
    let events = sqlx::query_scalar(events).fetch_all(&mut db).await;
    let open = "SELECT invoice_id, coalesce(looked_at, 0), coalesce(observed_at, 0) FROM attempts
         WHERE state = 'open' AND standing <> 'settled'";
    let open: Vec<(String, i64, i64)> = sqlx::query_as(open)
        .fetch_all(&mut db)
        .await
        .expect("a ledger");
    let completed = lane.register.completed();
    let is_news = |(id, asked_at, heard_at): &(String, i64, i64)| {
        let since = completed.get(id);
        since.is_some_and(|since| is_news(since.as_millisecond(), *asked_at, *heard_at))
    };
    let half_made = "SELECT count(*) FROM attempts WHERE state = 'creating'";
    let half_made = sqlx::query_scalar(half_made).fetch_one(&mut db).await;
    let left = Left {
        events: events.expect("a ledger"),
        invoices: open
            .into_iter()
            .filter(is_news)
            .map(|(id, ..)| id)
            .collect(),
        half_made: half_made.expect("a ledger"),
    };
    // A reader that stays would keep the journal from being folded in.
    let _ = db.close().await;
    left
}

/// Whether what happened at a time is unknown still to somebody who asked last, and heard last, at these times. An answer
/// may be slow: that it came later does not mean that it knows.
fn is_news(happened_at: i64, asked_at: i64, heard_at: i64) -> bool {
    asked_at <= happened_at || heard_at < asked_at
}

#[cfg(test)]
mod tests {
    use super::is_news;

    #[test]
    fn an_answer_knows_nothing_of_what_happened_after_its_question() {
        assert!(!is_news(5, 6, 7));
        assert!(is_news(5, 4, 7), "the answer was slow");
        assert!(is_news(5, 6, 3), "the answer is still to come");
    }
}
