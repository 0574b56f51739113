//! Compares GET /currencies with the known assets, and GET /prices with the currencies of the stores, at the start, daily and
//! after a reload. It changes nothing: quotes come from the prices.

use std::sync::Arc;
use std::time::Duration;

use florin_gateway::{Endpoint, RawRequest};
use florin_money::Currency;

use crate::config::Problem;
use crate::payments::currencies::Currencies;
use crate::payments::error::log_rejection;
use crate::payments::payable::{Unpayable, unpriced_stores};
use crate::state::AppState;

const DAY: Duration = Duration::from_hours(24);
const AGAIN: Duration = Duration::from_hours(1);

pub(crate) async fn run(app: Arc<AppState>) {
    let mut reloaded = app.reloaded.subscribe();
    while !app.shutdown.is_cancelled() {
        let pause = match compare(&app).await {
            Currencies::Compared { .. } => DAY,
            Currencies::NotAsked | Currencies::NotKnown => AGAIN,
        };
        let mut pause = app.deps.clock.sleep(pause);
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

async fn compare(app: &AppState) -> Currencies {
    let ask = RawRequest::new(Endpoint::Currencies, "", None).expect("it takes nothing");
    let asked = tokio::select! {
        () = app.shutdown.cancelled() => return Currencies::NotAsked,
        asked = app.deps.gateway.forward(&ask) => asked,
    };
    let found = match asked {
        Ok(response) => Currencies::compare(&response, app.now()).unwrap_or_else(|| {
            tracing::warn!("the gateway's list of currencies cannot be read");
            Currencies::NotKnown
        }),
        // A wrong key is reported at the start, not at the first customer.
        Err(error) => {
            log_rejection(&error, "the gateway's list of currencies could not be had");
            Currencies::NotKnown
        }
    };
    if let Currencies::Compared {
        unknown,
        not_offered,
        ..
    } = &found
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
    app.set_currencies(found.clone());
    found
}
