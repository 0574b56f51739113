//! The teller: delivers events to the stores, in order per order, again and again for three days.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use ledger::{Delivery, DeliveryOutcome, DueDelivery, StoreId};
use tokio::task::JoinSet;

use crate::app::App;
use crate::webhook::Sent;

/// Pauses before the tries after the first: ten tries over 75 h 35 min.
///
/// Source: Standard Webhooks 1.0.0, "Deliverability and reliability".
const PAUSES: [SignedDuration; 9] = [
    SignedDuration::from_secs(5),
    SignedDuration::from_mins(5),
    SignedDuration::from_mins(30),
    SignedDuration::from_hours(2),
    SignedDuration::from_hours(5),
    SignedDuration::from_hours(10),
    SignedDuration::from_hours(14),
    SignedDuration::from_hours(20),
    SignedDuration::from_hours(24),
];
/// Up to a fifth longer: stores that were away together are not all told at once when they come back.
const JITTER_PERCENT: u64 = 20;
/// Deliveries to one store at once.
const CONCURRENT_DELIVERIES: usize = 4;
/// Longer than a delivery takes. One that was under way when the process died is made again: the store knows it by id.
const LEASE: SignedDuration = SignedDuration::from_secs(30);
/// The longest sleep between looks into the outbox.
const MAX_SLEEP: Duration = Duration::from_secs(1);

/// Tells every store until the process ends. Each has a teller of its own: a store that does not answer keeps no other
/// one waiting.
pub(crate) async fn tell(app: Arc<App>) {
    let stores = app.config.stores.iter().map(|store| store.id.clone());
    let mut tellers: JoinSet<()> = stores.map(|store| tell_store(app.clone(), store)).collect();
    while let Some(ended) = tellers.join_next().await {
        ended.expect("a teller does not panic");
    }
}

/// Tells one store until the process ends; then lets the deliveries under way finish.
async fn tell_store(app: Arc<App>, store: StoreId) {
    let mut rung = app.deliveries_due.subscribe();
    let mut deliveries = JoinSet::new();
    while !app.shutdown.is_cancelled() {
        begin_deliveries(&app, &store, &mut deliveries).await;
        let has_room = deliveries.len() < CONCURRENT_DELIVERIES;
        tokio::select! {
            () = app.shutdown.cancelled() => {}
            _ = rung.changed(), if has_room => {}
            () = app.parts.clock.sleep(MAX_SLEEP), if has_room => {}
            Some(ended) = deliveries.join_next() => ended.expect("a delivery does not panic"),
        }
    }
    while deliveries.join_next().await.is_some() {}
}

/// Tells every store once what is due, as far as there is room for it.
pub(crate) async fn tell_all(app: &Arc<App>) {
    let mut deliveries = JoinSet::new();
    for store in &app.config.stores {
        let mut of_store = JoinSet::new();
        begin_deliveries(app, &store.id, &mut of_store).await;
        deliveries.spawn(of_store.join_all());
    }
    deliveries.join_all().await;
}

async fn begin_deliveries(app: &Arc<App>, store: &StoreId, deliveries: &mut JoinSet<()>) {
    let free = CONCURRENT_DELIVERIES - deliveries.len();
    for due in due_now(app, store, free).await {
        deliveries.spawn(deliver(app.clone(), due));
    }
}

async fn due_now(app: &App, store: &StoreId, free: usize) -> Vec<DueDelivery> {
    let limit = u32::try_from(free).unwrap_or(u32::MAX);
    if limit == 0 {
        return Vec::new();
    }
    let now = app.now();
    let ledger = &app.parts.ledger;
    let due = ledger.due_deliveries(store, now, now + LEASE, limit).await;
    due.unwrap_or_else(|error| {
        tracing::error!(%error, "the ledger does not say which events wait");
        Vec::new()
    })
}

async fn deliver(app: Arc<App>, due: DueDelivery) {
    let event = &due.event;
    let tried_at = app.now();
    let webhook = app
        .config
        .store(&event.store_id)
        .and_then(|store| store.webhook.as_ref());
    let (sent, outcome) = match webhook {
        None => (None, DeliveryOutcome::NotWanted),
        Some(webhook) => {
            let sent = app.parts.webhooks.send(webhook, event, tried_at).await;
            let jitter = app.parts.random.below(JITTER_PERCENT + 1);
            let outcome = outcome(&sent, due.tries, app.now(), jitter);
            (Some(sent), outcome)
        }
    };
    let (http_status, note) = match &sent {
        None => (None, "the store has no webhook".to_owned()),
        Some(Sent::Answered(status)) => (Some(*status), format!("answered {status}")),
        Some(Sent::Failed(reason)) => (None, reason.clone()),
    };
    if outcome == DeliveryOutcome::GivenUp {
        tracing::error!(
            event = %event.id, store = %event.store_id, note,
            "an event was given up: the store has to read it by GET /v1/events"
        );
    } else {
        tracing::info!(event = %event.id, kind = event.event_type.as_str(), note, "a delivery");
    }
    let delivery = Delivery {
        event_id: event.id.clone(),
        tried_at,
        http_status,
        note,
    };
    if let Err(error) = app.parts.ledger.record_delivery(&delivery, outcome).await {
        tracing::error!(event = %event.id, %error, "a delivery could not be recorded");
    }
}

/// What follows from a try, after `tries` earlier ones. Source: Standard Webhooks 1.0.0: 2xx is success, 410 means "never
/// again" for this event, everything else, redirects included, is tried again.
fn outcome(sent: &Sent, tries: u32, now: Timestamp, jitter_percent: u64) -> DeliveryOutcome {
    match sent {
        Sent::Answered(200..=299) => return DeliveryOutcome::Delivered,
        Sent::Answered(410) => return DeliveryOutcome::GivenUp,
        Sent::Answered(_) | Sent::Failed(_) => {}
    }
    let pause = usize::try_from(tries)
        .ok()
        .and_then(|tries| PAUSES.get(tries));
    pause.map_or(DeliveryOutcome::GivenUp, |pause| {
        let percent = i64::try_from(100 + jitter_percent).unwrap_or(100);
        DeliveryOutcome::Retry(now + SignedDuration::from_millis(pause.as_secs() * 10 * percent))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    #[test]
    fn ten_tries_reach_over_seventy_five_hours_and_thirty_five_minutes() {
        let mut at = NOW;
        for tries in 0..9 {
            let DeliveryOutcome::Retry(next) = outcome(&Sent::Answered(500), tries, at, 0) else {
                panic!("try {tries} must be followed by another");
            };
            at = next;
        }
        let total = SignedDuration::from_mins(75 * 60 + 35) + SignedDuration::from_secs(5);
        assert_eq!(at.duration_since(NOW), total);
        assert_eq!(
            outcome(&Sent::Answered(500), 9, at, 0),
            DeliveryOutcome::GivenUp
        );
    }

    #[test]
    fn success_is_any_2xx_and_nothing_else() {
        for status in [200, 204, 299] {
            assert_eq!(
                outcome(&Sent::Answered(status), 0, NOW, 0),
                DeliveryOutcome::Delivered
            );
        }
        assert_eq!(
            outcome(&Sent::Answered(410), 0, NOW, 0),
            DeliveryOutcome::GivenUp
        );
        let later = DeliveryOutcome::Retry(NOW + SignedDuration::from_secs(5));
        for status in [301, 302, 400, 404, 429, 500] {
            assert_eq!(
                outcome(&Sent::Answered(status), 0, NOW, 0),
                later,
                "{status}"
            );
        }
        assert_eq!(outcome(&Sent::Failed("refused".into()), 0, NOW, 0), later);
    }

    #[test]
    fn jitter_makes_a_pause_at_most_a_fifth_longer() {
        let latest = DeliveryOutcome::Retry(NOW + SignedDuration::from_secs(6));
        assert_eq!(
            outcome(&Sent::Answered(500), 0, NOW, JITTER_PERCENT),
            latest
        );
    }
}
