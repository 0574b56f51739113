//! POST and DELETE /sandbox/faults: plans what goes wrong, and forgets it.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ControlError, read};
use crate::faults::{Fault, Target};
use crate::state::Sandbox;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFault {
    endpoint: Target,
    kind: Kind,
    status: Option<u16>,
    retry_after: Option<u32>,
    delay_ms: Option<u64>,
    #[serde(default = "once")]
    times: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Status,
    Garbled,
    Slow,
    Drop,
}

fn once() -> u32 {
    1
}

pub(super) async fn plan(
    State(sandbox): State<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<Value>, ControlError> {
    let plan: PlanFault = read(&body)?;
    let fault = plan
        .fault()
        .map_err(|text| ControlError::BadRequest(text.to_owned()))?;
    let answer = json!({"fault": fault.to_string(), "times": plan.times});
    sandbox.act(|state, _| state.faults.plan(plan.endpoint, fault, plan.times));
    Ok(Json(answer))
}

pub(super) async fn clear(State(sandbox): State<Arc<Sandbox>>) -> Json<Value> {
    sandbox.act(|state, _| state.faults.clear());
    Json(json!({}))
}

impl PlanFault {
    /// The fault, when exactly the members of its kind are there.
    fn fault(&self) -> Result<Fault, &'static str> {
        if self.kind != Kind::Status && (self.status.is_some() || self.retry_after.is_some()) {
            return Err("The members status and retry_after belong to the kind \"status\".");
        }
        if self.kind != Kind::Slow && self.delay_ms.is_some() {
            return Err("The member delay_ms belongs to the kind \"slow\".");
        }
        match self.kind {
            Kind::Status => match self.status {
                Some(status @ 400..=599) => Ok(Fault::Status {
                    status,
                    retry_after_seconds: self.retry_after,
                }),
                _ => Err("The kind \"status\" needs a status from 400 to 599."),
            },
            Kind::Slow => match self.delay_ms {
                Some(delay) => Ok(Fault::Slow(Duration::from_millis(delay))),
                None => Err("The kind \"slow\" needs delay_ms."),
            },
            Kind::Garbled => Ok(Fault::Garbled),
            Kind::Drop => Ok(Fault::Drop),
        }
    }
}
