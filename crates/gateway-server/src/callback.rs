//! Sends callbacks: COMPLETED and FAILED, until one is accepted.
//!
//! Source: payment-service.md, "Events": unsigned, COMPLETED and FAILED only, answered with 200 and an empty body.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use reqwest::Url;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::clock::{Clock as _, SystemClock};
use crate::database::Callback;
use crate::gateway::{CallbackTry, Event, Gateway};

/// `Assumed:` each pause is twice as long as the one before; the specification says "several times" and no delays.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Callbacks in delivery at once, those between two tries included; others wait.
const MAX_DELIVERIES: usize = 1_000;
/// Of one try.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Between two searches for callbacks whose process ended.
const INTERVAL: Duration = Duration::from_secs(1);

/// Sends callbacks until the shutdown; one without a URL is discarded.
pub async fn send_callbacks(
    gateway: Arc<Gateway>,
    client: reqwest::Client,
    shutdown: CancellationToken,
) {
    let mut deliveries = JoinSet::new();
    let mut interval = tokio::time::interval(INTERVAL);
    let mut is_start = true;
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            Some(_) = deliveries.join_next() => continue,
            () = gateway.callbacks.notified() => {}
            _ = interval.tick() => {}
        }
        let free = MAX_DELIVERIES - deliveries.len();
        let taken = gateway
            .database()
            .take_callbacks(free, is_start, SystemClock.now());
        match taken.await {
            Ok(callbacks) => {
                is_start = false;
                for callback in callbacks {
                    let copies = copies(&gateway, &callback);
                    let (gateway, client) = (gateway.clone(), client.clone());
                    deliveries.spawn(deliver(gateway, client, callback, copies));
                }
            }
            Err(error) => tracing::error!("callbacks cannot be read: {error}"),
        }
    }
}

fn copies(gateway: &Gateway, callback: &Callback) -> u32 {
    if callback.tries > 0 {
        return 1;
    }
    let observer = &gateway.parts.observer;
    observer.copies(&callback.invoice_id, callback.status)
}

async fn deliver(gateway: Arc<Gateway>, client: reqwest::Client, callback: Callback, copies: u32) {
    let own: Option<Url> = callback.url.as_deref().and_then(|url| url.parse().ok());
    if let Some(url) = own.or_else(|| gateway.options.callback_url.clone()) {
        for _ in 0..copies {
            send(&gateway, &client, &callback, &url).await;
        }
    }
    if let Err(error) = gateway.database().end_callback(callback.number).await {
        tracing::error!("a callback is sent again after a restart: {error}");
    }
}

async fn send(gateway: &Gateway, client: &reqwest::Client, callback: &Callback, url: &Url) {
    let (invoice_id, status) = (&callback.invoice_id, callback.status);
    let body = serde_json::json!({"invoice_id": invoice_id, "status": status.as_str()});
    let mut pause = FIRST_PAUSE * 2_u32.saturating_pow(callback.tries.min(20));
    for attempt in callback.tries + 1.. {
        let (response, result) = post(client, url, &body).await;
        let tried = CallbackTry {
            invoice_id: invoice_id.clone(),
            status,
            url: url.clone(),
            attempt,
            response,
            rejection: result.err(),
        };
        gateway.parts.observer.observe(Event::Callback(&tried));
        let status = status.as_str();
        let Some(reason) = tried.rejection else {
            tracing::info!(invoice_id, status, "callback accepted");
            return;
        };
        if attempt >= gateway.options.callback_tries {
            tracing::warn!(invoice_id, status, "callback given up: {reason}");
            return;
        }
        tracing::info!(invoice_id, status, "callback failed: {reason}");
        // Claims are of this machine's clock: that of invoices may jump.
        let now = SystemClock.now();
        let next = SignedDuration::try_from(pause)
            .ok()
            .and_then(|pause| now.saturating_add(pause).ok());
        let next = next.unwrap_or(now);
        if let Err(error) = gateway.database().count_try(callback.number, next).await {
            tracing::error!("a try of a callback is not counted: {error}");
        }
        gateway.parts.clock.sleep(pause).await;
        pause *= 2;
    }
}

/// One try: the status of the response, and why it is not accepted. Only 200 with an empty body is.
async fn post(
    client: &reqwest::Client,
    url: &Url,
    body: &serde_json::Value,
) -> (Option<u16>, Result<(), String>) {
    let network = |error: reqwest::Error| error.without_url().to_string();
    let request = client.post(url.clone()).timeout(TIMEOUT);
    let mut response = match request.json(body).send().await {
        Ok(response) => response,
        Err(error) => return (None, Err(network(error))),
    };
    let status = response.status().as_u16();
    let result = if status == 200 {
        match response.chunk().await {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err("the response's body is not empty".to_owned()),
            Err(error) => Err(network(error)),
        }
    } else {
        Err(format!("the response's status is {status}, not 200"))
    };
    (Some(status), result)
}
