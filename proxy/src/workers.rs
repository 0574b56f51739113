//! Background workers.

pub(crate) mod change_exchange;
pub(crate) mod payment_poller;
pub(crate) mod replanning;
pub(crate) mod storage_monitor;
pub(crate) mod webhook_dispatcher;

use std::sync::Arc;
use std::time::Duration;

use florin_gateway_client::{Endpoint, RawRequest};
use florin_money::Currency;
use florin_orders::EventType;
use florin_storage::StorageError;
use jiff::SignedDuration;

use crate::config::Problem;
use crate::payments::currencies::Currencies;
use crate::payments::error::log_rejection;
use crate::payments::payable::{Unpayable, unpriced_stores};
use crate::state::{AppState, error_unless_outage};

// Cleanup: abandons attempts whose invoice was never made, so that their order can still be paid; expires orders; deletes
// expired tokens, links of staff and idempotency records.

/// Longer than POST /invoice can take: the process that began such an attempt is gone.
const ATTEMPT_TIMEOUT: SignedDuration = SignedDuration::from_secs(20);
const PAUSE: Duration = Duration::from_secs(5);

pub(crate) async fn run_cleanup(app: Arc<AppState>) {
    while !app.shutdown.is_cancelled() {
        clean_up_once(&app).await;
        app.pause(PAUSE).await;
    }
}

pub(crate) async fn clean_up_once(app: &AppState) {
    if let Err(error) = clean_up(app).await {
        error_unless_outage!(error, "cleanup failed");
    }
}

async fn clean_up(app: &AppState) -> Result<(), StorageError> {
    let (storage, now) = (&app.storage, app.now());
    let mut abandoned = 0;
    loop {
        // In batches, so that no customer waits for all of them.
        let stale = storage.abandon_stale_attempts(now - ATTEMPT_TIMEOUT, now);
        match stale.await? {
            0 => break,
            some => abandoned += some,
        }
    }
    if abandoned > 0 {
        tracing::warn!(
            attempts = abandoned,
            "abandoned attempts without an invoice"
        );
    }
    while storage.delete_expired_tokens(now).await? > 0 {}
    while storage.delete_expired_staff_access(now).await? > 0 {}
    while storage.delete_expired_requests(now).await? > 0 {}
    while storage.delete_unused_counts(now).await? > 0 {}
    while storage
        .delete_expired_prices(now - app.prices.lifetime())
        .await?
        > 0
    {}
    while !app.shutdown.is_cancelled() {
        let expired = storage.expire_orders(now).await?;
        if expired.is_empty() {
            break;
        }
        app.metrics
            .order_events(&vec![EventType::Expired; expired.len()]);
        app.wake_dispatcher();
    }
    Ok(())
}

// Compares GET /currencies with the known assets, and GET /prices with the currencies of the stores, at the start, daily and
// after a reload. It changes nothing: quotes come from the prices.

const DAY: Duration = Duration::from_hours(24);
const AGAIN: Duration = Duration::from_hours(1);

pub(crate) async fn run_currency_check(app: Arc<AppState>) {
    let mut reloaded = app.reloaded.subscribe();
    while !app.shutdown.is_cancelled() {
        let pause = if compare(&app).await { DAY } else { AGAIN };
        let mut pause = app.clock.sleep(pause);
        loop {
            check_stores(&app).await;
            tokio::select! {
                () = app.shutdown.cancelled() => break,
                () = &mut pause => break,
                Ok(()) = reloaded.changed() => {}
            }
        }
    }
}

/// Logs each store whose orders the gateway does not price. Dollars are always priced.
async fn check_stores(app: &AppState) {
    let config = app.config();
    if config
        .stores
        .iter()
        .all(|store| store.currency == Currency::USD)
    {
        return;
    }
    let priced = tokio::select! {
        () = app.shutdown.cancelled() => return,
        priced = app.fresh_prices() => priced,
    };
    // The comparison of the assets logs a gateway that does not answer.
    let Ok(priced) = priced else { return };
    for Unpayable {
        problem: Problem { key, message },
        remedy,
        is_fatal,
    } in unpriced_stores(&config, &priced.prices)
    {
        if is_fatal {
            tracing::error!(key, remedy, "no order of the store can be paid: {message}");
        } else {
            tracing::warn!(
                key,
                remedy,
                "only hosted orders of the store can be paid: {message}"
            );
        }
    }
}

/// Returns `true` if the gateway's currencies could be compared.
async fn compare(app: &AppState) -> bool {
    let ask = RawRequest::new(Endpoint::Currencies, "", None).expect("it takes nothing");
    let asked = tokio::select! {
        () = app.shutdown.cancelled() => return false,
        asked = app.gateway.forward(&ask) => asked,
    };
    let found = match asked {
        Ok(response) => Currencies::compare(&response, app.now()).or_else(|| {
            tracing::warn!("the gateway's list of currencies cannot be read");
            None
        }),
        // A wrong key is reported at the start, not at the first customer.
        Err(error) => {
            log_rejection(&error, "the gateway's list of currencies could not be had");
            None
        }
    };
    if let Some(Currencies {
        unknown,
        not_offered,
        ..
    }) = &found
    {
        if !unknown.is_empty() {
            tracing::info!(
                ?unknown,
                "the gateway offers currencies that cannot be paid with here"
            );
        }
        if !not_offered.is_empty() {
            tracing::warn!(
                ?not_offered,
                "the gateway does not offer assets that are known here"
            );
        }
    }
    let is_compared = found.is_some();
    *app.currencies.lock() = found;
    is_compared
}
