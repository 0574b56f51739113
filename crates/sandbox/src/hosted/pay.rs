//! POST /checkout/pay: a wallet that needs no wallet.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use serde::Deserialize;

use super::view::View;
use super::{Refusal, read};
use crate::invoice::Standing;
use crate::state::Sandbox;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pay {
    id: String,
}

/// Pays what is missing.
pub(super) async fn pay(
    State(sandbox): State<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<View>, Refusal> {
    let Pay { id } = read(&body)?;
    sandbox.act(|state, now| {
        let invoice = state.invoices.find(&id).ok_or_else(Refusal::no_session)?;
        let amount = invoice.remaining();
        let paid = state.pay(&id, amount, Standing::Waiting, now);
        let paid = paid.ok_or_else(Refusal::no_session)?;
        paid.map_err(|_| Refusal::conflict("Nothing can be paid here any more."))?;
        View::of(state, &id, now)
            .map(Json)
            .ok_or_else(Refusal::no_session)
    })
}
