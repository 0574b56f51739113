//! Compares GET /currencies with the known assets, at the start and daily. It changes nothing: quotes come from the prices.

use std::sync::Arc;
use std::time::Duration;

use florin_gateway::{Endpoint, RawRequest};

use crate::payments::currencies::Currencies;
use crate::payments::error::log_rejection;
use crate::state::AppState;

const DAY: Duration = Duration::from_hours(24);
/// After a check that failed.
const AGAIN: Duration = Duration::from_hours(1);

/// Runs until the process ends.
pub(crate) async fn run(app: Arc<AppState>) {
    while !app.shutdown.is_cancelled() {
        let pause = match compare(&app).await {
            Currencies::Compared { .. } => DAY,
            Currencies::NotAsked | Currencies::NotKnown => AGAIN,
        };
        tokio::select! {
            () = app.shutdown.cancelled() => {}
            () = app.deps.clock.sleep(pause) => {}
        }
    }
}

async fn compare(app: &AppState) -> Currencies {
    let ask = RawRequest::new(Endpoint::Currencies, "", None).expect("it takes nothing");
    let asked = tokio::select! {
        () = app.shutdown.cancelled() => return Currencies::NotAsked,
        asked = app.deps.gateway.forward(&ask) => asked,
    };
    let found = match &asked {
        Ok(response) => Currencies::compare(response, app.now()),
        Err(_) => None,
    };
    let found = found.unwrap_or(Currencies::NotKnown);
    match (&found, asked) {
        // A wrong key is reported at the start, not at the first customer.
        (_, Err(error)) => {
            log_rejection(&error, "the gateway's list of currencies could not be had");
        }
        (
            Currencies::Compared {
                unknown,
                not_offered,
                ..
            },
            Ok(_),
        ) => {
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
        (_, Ok(_)) => tracing::warn!("the gateway's list of currencies cannot be read"),
    }
    app.set_currencies(found.clone());
    found
}
