//! GET /sandbox/world?after=0&limit=50: all that the page shows, in one answer.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{invoices, prices, sessions, time};
use crate::state::Sandbox;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// The journal's entries after this number.
    #[serde(default)]
    after: u64,
    /// Invoices, and hosted checkouts that are none yet, at most; newest first.
    #[serde(default = "fifty")]
    limit: usize,
}

fn fifty() -> usize {
    50
}

pub(super) async fn show(
    State(sandbox): State<Arc<Sandbox>>,
    Query(Asked { after, limit }): Query<Asked>,
) -> Json<Value> {
    let clock = sandbox.clock().now();
    // What nobody asked for is due first, so that the journal has it.
    sandbox.act(|_, _| {});
    Json(sandbox.act(|state, now| {
        let listed = state.invoices.newest_first().take(limit);
        let listed: Vec<_> = listed.map(|invoice| invoices::view(invoice, now)).collect();
        let choosing = state.sessions.newest_first();
        let choosing = choosing.filter(|session| state.invoices.find(&session.id).is_none());
        let choosing = choosing.take(limit);
        let choosing: Vec<_> = choosing
            .map(|session| sessions::view(state, session, now))
            .collect();
        json!({
            "seed": state.seed,
            "last_entry": state.journal.last_number(),
            "journal": state.journal.after(after),
            "invoices": listed,
            "invoice_count": state.invoices.count(),
            "sessions": choosing,
            "faults": state.faults.plans(),
            "time": time::view(state, clock),
            "rules": state.rules,
            "chains": state.chains.views(),
            "prices": prices::views(state),
            "walk": state.prices.walks(),
            "callback_url": sandbox.settings.callback_url,
        })
    }))
}
