//! The webhook dispatcher: delivers events to the stores, in order per order, and retries for three days. Tries ahead of that
//! schedule show that an endpoint is back; they never count towards giving up.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use florin_orders::{EndpointHash, Event, WebhookId};
use florin_storage::{
    Delivery, DeliveryOutcome, DueDelivery, Endpoint, MAX_DELIVERIES_PER_WEBHOOK, PROBE_INTERVAL,
    Retry,
};
use jiff::{SignedDuration, Timestamp};
use tokio::task::JoinSet;

use crate::config::{Config, Store, Webhook};
use crate::spans::Recording;
use crate::state::{AppState, error_unless_outage};
use crate::trace;
use crate::webhooks::send::{SendOutcome, StoreResponse};
use crate::webhooks::{JITTER_PERCENT, LONGEST_DELIVERY, early_pause, pause};

/// Deliveries to one webhook at once. The storage leases one fewer of events that carry no money.
const CONCURRENT_DELIVERIES: usize = MAX_DELIVERIES_PER_WEBHOOK as usize;
/// Longer than a delivery takes. A delivery in flight when the process died is repeated with the same id.
const LEASE: SignedDuration = SignedDuration::from_secs(30);
const MAX_SLEEP: Duration = Duration::from_secs(1);

/// Runs until the process ends. Each webhook has its own dispatcher, so that a slow one delays no other. A reload of the
/// configuration starts those of new webhooks. That of a removed one records that its events are for nothing, and ends.
pub(crate) async fn run(app: Arc<AppState>) {
    let mut reloaded = app.reloaded.subscribe();
    let mut running = BTreeSet::new();
    let mut dispatchers: JoinSet<Endpoint> = JoinSet::new();
    loop {
        let mut has_failed = false;
        if !app.shutdown.is_cancelled() {
            let (endpoints, is_complete) = set_webhooks(&app).await;
            has_failed = !is_complete;
            for endpoint in endpoints {
                if running.insert(endpoint.clone()) {
                    dispatchers.spawn(dispatch_to(app.clone(), endpoint));
                }
            }
        }
        tokio::select! {
            Some(ended) = dispatchers.join_next() => {
                running.remove(&ended.expect("a dispatcher does not panic"));
            }
            Ok(()) = reloaded.changed(), if !app.shutdown.is_cancelled() => {}
            () = app.clock.sleep(MAX_SLEEP), if has_failed => {}
            else => return,
        }
    }
}

/// Records the webhooks of all stores, for the events that happen from now on. Returns them, and those for which events may still
/// wait; `false` if those of a store are missing.
pub(crate) async fn set_webhooks(app: &AppState) -> (Vec<Endpoint>, bool) {
    let (config, mut endpoints, mut is_complete) = (app.config(), Vec::new(), true);
    for store in &config.stores {
        let webhooks = store.webhooks.iter();
        let webhooks = webhooks.map(|it| (it.key.webhook.clone(), it.events.clone()));
        let before = app
            .storage
            .set_webhooks(&store.id, webhooks.collect())
            .await;
        is_complete &= before.is_ok();
        endpoints.extend(before.unwrap_or_else(|error| {
            error_unless_outage!(error, "failed to record the webhooks of a store");
            Vec::new()
        }));
        endpoints.extend(configured(store));
    }
    (endpoints, is_complete)
}

/// The webhooks of a store; the events of one without any are for the default.
fn configured(store: &Store) -> Vec<Endpoint> {
    let keys: Vec<_> = store.webhooks.iter().map(|it| it.key.clone()).collect();
    if keys.is_empty() {
        return vec![store.id.clone().into()];
    }
    keys
}

/// Returns `true` if the store is gone from the configuration, or the webhook is and nothing waits for it.
async fn is_over(app: &AppState, endpoint: &Endpoint) -> bool {
    let config = app.config();
    let store = config.store(&endpoint.store);
    if store.is_none_or(|store| configured(store).contains(endpoint)) {
        return store.is_none();
    }
    let status = app.storage.endpoint_status(endpoint).await;
    status.is_ok_and(|status| status.waiting == 0 && status.gone.is_none())
}

/// Delivers to one webhook until the process ends or [it is over](is_over); then finishes the deliveries in flight.
async fn dispatch_to(app: Arc<AppState>, endpoint: Endpoint) -> Endpoint {
    let mut reloaded = app.reloaded.subscribe();
    enable_if_url_changed(&app, &endpoint).await;
    let mut wakeup = app.dispatcher_wakeup.subscribe();
    let mut deliveries = JoinSet::new();
    while !app.shutdown.is_cancelled() && !is_over(&app, &endpoint).await {
        start_deliveries(&app, &endpoint, &mut deliveries).await;
        let has_room = deliveries.len() < CONCURRENT_DELIVERIES;
        tokio::select! {
            () = app.shutdown.cancelled() => {}
            Ok(()) = reloaded.changed() => enable_if_url_changed(&app, &endpoint).await,
            _ = wakeup.changed(), if has_room => {}
            () = app.clock.sleep(MAX_SLEEP), if has_room => {}
            Some(ended) = deliveries.join_next() => ended.expect("a delivery does not panic"),
        }
    }
    while deliveries.join_next().await.is_some() {}
    endpoint
}

/// Delivers once what is due, to every webhook, within the limits.
pub(crate) async fn dispatch_once(app: &Arc<AppState>) {
    let mut deliveries = JoinSet::new();
    let config = app.config();
    for endpoint in config.stores.iter().flat_map(configured) {
        let mut of_endpoint = JoinSet::new();
        start_deliveries(app, &endpoint, &mut of_endpoint).await;
        deliveries.spawn(of_endpoint.join_all());
    }
    deliveries.join_all().await;
}

async fn start_deliveries(app: &Arc<AppState>, endpoint: &Endpoint, deliveries: &mut JoinSet<()>) {
    let free = CONCURRENT_DELIVERIES - deliveries.len();
    for due in fetch_due(app, endpoint, free).await {
        // Read after the lease: of a store that a reload has removed nothing is recorded, and the lease ends by itself.
        let config = app.config();
        if config.store(&endpoint.store).is_some() {
            let trace = due.traceparent;
            let delivering = deliver(app.clone(), config, endpoint.clone(), due);
            deliveries.spawn(trace::within(trace, delivering));
        }
    }
}

/// Re-enables a webhook if its URL has changed since it answered 410, or it was removed: then nothing waits for it.
async fn enable_if_url_changed(app: &AppState, endpoint: &Endpoint) {
    let config = app.config();
    let here = config.webhook(endpoint).map(Webhook::endpoint);
    let (storage, now) = (&app.storage, app.now());
    let restored = async {
        match storage.endpoint_status(endpoint).await?.gone {
            Some(it) if Some(it.endpoint) != here => storage.enable_endpoint(endpoint, now).await,
            _ => Ok(false),
        }
    };
    let Endpoint { store, webhook } = endpoint;
    match restored.await {
        Ok(true) => {
            tracing::info!(%store, %webhook, "the webhook that answered 410 has a new URL or was removed");
        }
        Ok(false) => {}
        Err(error) => {
            error_unless_outage!(error, %store, "failed to read the state of a webhook");
        }
    }
}

async fn fetch_due(app: &AppState, endpoint: &Endpoint, free: usize) -> Vec<DueDelivery> {
    let limit = u32::try_from(free).unwrap_or(u32::MAX);
    if limit == 0 {
        return Vec::new();
    }
    let now = app.now();
    let storage = &app.storage;
    let due = storage.due_deliveries(endpoint, now, now + LEASE, limit);
    due.await.unwrap_or_else(|error| {
        error_unless_outage!(error, "failed to read due events");
        Vec::new()
    })
}

async fn deliver(app: Arc<AppState>, config: Arc<Config>, endpoint: Endpoint, due: DueDelivery) {
    let event = &due.event;
    let tried_at = app.now();
    let webhook = config.webhook(&endpoint);
    let span = webhook.and_then(|_| {
        app.spans
            .client(|| format!("deliver {}", event.kind).into())
    });
    let (sent, outcome) = match webhook {
        None => (None, DeliveryOutcome::NoWebhook),
        Some(webhook) => {
            let trace = span.as_ref().map(Recording::trace);
            let delivering = app.webhooks.send(webhook, event, tried_at);
            let sent = tokio::select! {
                biased;
                sent = trace::within(trace, delivering) => sent,
                () = app.clock.sleep(LONGEST_DELIVERY) => SendOutcome::Failed("no response in time".into()),
            };
            let draw = app.random.below(2 * JITTER_PERCENT + 1);
            let outcome = outcome(&sent, &due, (tried_at, app.now()), draw, webhook.endpoint());
            (Some(sent), outcome)
        }
    };
    let took = app.now().duration_since(tried_at);
    let outcome_name = app.metrics.delivery(&outcome, took);
    if let Some(mut span) = span {
        span.set("florin.store", event.store_id.to_string());
        span.set("florin.event.id", event.id.to_string());
        span.set("florin.delivery.outcome", outcome_name);
        if let Some(status) = sent.as_ref().and_then(SendOutcome::http_status) {
            span.set_status(status);
        }
        if outcome != DeliveryOutcome::Delivered {
            span.fail();
        }
        span.end();
    }
    let delivery = Delivery {
        event_id: event.id.clone(),
        webhook: endpoint.webhook,
        tried_at,
        took,
        http_status: sent.as_ref().and_then(SendOutcome::http_status),
        note: sent
            .as_ref()
            .map_or_else(|| "the store has no webhook".to_owned(), SendOutcome::note),
    };
    if let Err(error) = app.storage.record_delivery(&delivery, outcome).await {
        error_unless_outage!(error, event = %event.id, "failed to record a delivery");
    }
    report(event, &delivery.webhook, sent.as_ref(), outcome);
}

/// Logs a delivery. The store's response body stays out of the log.
fn report(event: &Event, to: &WebhookId, sent: Option<&SendOutcome>, outcome: DeliveryOutcome) {
    let status = sent.and_then(SendOutcome::http_status);
    let failure = sent.and_then(|sent| match sent {
        SendOutcome::Failed(reason) => Some(reason.as_str()),
        SendOutcome::Response(_) => None,
    });
    let (kind, store, event) = (&event.kind, &event.store_id, &event.id);
    match outcome {
        DeliveryOutcome::GivenUp => tracing::error!(
            %event, %store, webhook = %to, status, failure,
            "an event was given up: the store has to read it by GET /v1/events"
        ),
        DeliveryOutcome::Gone(_) => tracing::error!(
            %event, %store, webhook = %to, status,
            "a store's endpoint says that it is gone: nothing more is sent to it. Events wait until the store calls \
             POST /v1/webhooks/enable or its webhook.url is another one"
        ),
        _ => tracing::info!(%event, %store, webhook = %to, kind, status, failure, "delivery"),
    }
}

/// What follows from a try, which began and ended at these times. Source: Standard Webhooks 1.0.0: 2xx is success, 410 means that
/// the endpoint wants nothing more, everything else, redirects included, is tried again.
fn outcome(
    sent: &SendOutcome,
    due: &DueDelivery,
    (began, now): (Timestamp, Timestamp),
    draw: u64,
    endpoint: EndpointHash,
) -> DeliveryOutcome {
    let retry_after = match sent {
        SendOutcome::Response(StoreResponse {
            status: 200..=299, ..
        }) => return DeliveryOutcome::Delivered,
        SendOutcome::Response(StoreResponse { status: 410, .. }) => {
            return DeliveryOutcome::Gone(endpoint);
        }
        SendOutcome::Response(response) => response.retry_after,
        SendOutcome::Failed(_) => None,
    };
    let planned = pause(due.tries, draw, retry_after).map(|pause| now + pause);
    let Some(at) = due.ahead_of.or(planned) else {
        return DeliveryOutcome::GivenUp;
    };
    // As in the schedule, a mistake in the header delays by no more than the pause of the schedule.
    let asked = retry_after.map_or(now, |pause| (now + pause).min(at));
    DeliveryOutcome::Retry(Retry {
        at,
        early_from: asked.max(now + early_pause(due.wakes)),
        probe_at: asked.max(began + PROBE_INTERVAL),
        is_counted: due.ahead_of.is_none(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhooks::send::tests::event;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;
    const HERE: EndpointHash = EndpointHash([1; 32]);

    fn answered(status: u16, retry_after: Option<i64>) -> SendOutcome {
        SendOutcome::Response(StoreResponse {
            status,
            retry_after: retry_after.map(SignedDuration::from_secs),
            excerpt: String::new(),
        })
    }

    fn due(tries: u32) -> DueDelivery {
        DueDelivery {
            event: event(),
            tries,
            wakes: 0,
            ahead_of: None,
            traceparent: None,
        }
    }

    /// After a try that took a second, with the jitter in its middle.
    fn after(sent: &SendOutcome, due: &DueDelivery) -> DeliveryOutcome {
        outcome(sent, due, (NOW - second(1), NOW), JITTER_PERCENT, HERE)
    }

    fn second(number: i64) -> SignedDuration {
        SignedDuration::from_secs(number)
    }

    /// In seconds from the end of the try: the retry, from when an acceptance brings it forward, and from when others of the
    /// store are tried ahead of their retry.
    fn retry(at: i64, early_from: i64, probe_at: i64) -> Retry {
        Retry {
            at: NOW + second(at),
            early_from: NOW + second(early_from),
            probe_at: NOW + second(probe_at),
            is_counted: true,
        }
    }

    #[test]
    fn success_is_any_2xx_and_nothing_else() {
        for status in [200, 204, 299] {
            let after = after(&answered(status, None), &due(0));
            assert_eq!(after, DeliveryOutcome::Delivered);
        }
        let gone = DeliveryOutcome::Gone(HERE);
        assert_eq!(after(&answered(410, None), &due(0)), gone);
        let later = DeliveryOutcome::Retry(retry(5, 0, 7));
        for status in [301, 302, 400, 404, 429, 500] {
            let after = after(&answered(status, None), &due(0));
            assert_eq!(after, later, "{status}");
        }
        let refused = SendOutcome::Failed("refused".into());
        assert_eq!(after(&refused, &due(0)), later);
    }

    #[test]
    fn a_store_that_asks_for_time_gets_it() {
        for (tries, asked, later) in [
            (0, 8, retry(8, 8, 8)),
            (0, 60, retry(10, 10, 10)),
            (1, 2, retry(300, 2, 7)),
            (1, 301, retry(301, 301, 301)),
            (1, 60, retry(300, 60, 60)),
            (1, 86_400, retry(600, 600, 600)),
        ] {
            let after = after(&answered(429, Some(asked)), &due(tries));
            assert_eq!(after, DeliveryOutcome::Retry(later), "{tries}, {asked}");
        }
    }

    #[test]
    fn a_try_ahead_of_the_schedule_leaves_it_as_it_is_and_is_never_the_last() {
        for (tries, wakes, asked, early_from, probe_at) in [
            (1, 0, None, 0, 7),
            (1, 2, None, 16, 7),
            (1, 2, Some(20), 20, 20),
            (1, 0, Some(400), 200, 200),
            (9, 0, None, 0, 7),
        ] {
            let due = DueDelivery {
                wakes,
                ahead_of: Some(NOW + second(200)),
                ..due(tries)
            };
            let later = Retry {
                is_counted: false,
                ..retry(200, early_from, probe_at)
            };
            let after = after(&answered(500, asked), &due);
            assert_eq!(after, DeliveryOutcome::Retry(later), "{tries}, {wakes}");
        }
    }

    #[test]
    fn the_tenth_try_is_the_last() {
        for asked in [None, Some(1)] {
            let refused = answered(500, asked);
            assert_eq!(after(&refused, &due(9)), DeliveryOutcome::GivenUp);
        }
    }
}
