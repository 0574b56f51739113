//! GET /sandbox/scenarios: what can be played; POST /sandbox/scenario: plays one, all of its steps in one call.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::State as Extract;
use axum::http::{Request, StatusCode};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tower::ServiceExt as _;

use super::invoices::{unknown, view};
use super::open_invoice::{Open, open_in};
use super::sessions::{OpenSession, open_session};
use super::{ControlError, read};
use crate::scenario::{Known, MAX_STEPS, Method, Step, known, named};
use crate::state::{Sandbox, State};

pub(super) async fn list() -> Json<Vec<Known>> {
    Json(known())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// One of GET /sandbox/scenarios; or `steps`.
    name: Option<String>,
    #[serde(default)]
    steps: Vec<Step>,
    /// For people; the page shows it.
    #[serde(default, rename = "title")]
    _title: String,
    /// Begins a new world from this seed first.
    seed: Option<u64>,
    /// What `{invoice}` means; without it one is opened.
    invoice: Option<String>,
    /// What `{session}` means; without it one is opened.
    session: Option<String>,
    /// The invoice that is opened.
    #[serde(default)]
    open: Open,
    /// Between two steps, so that somebody can watch.
    #[serde(default)]
    pause_ms: u64,
}

/// Ten seconds; who waits longer has left.
const MAX_PAUSE_MS: u64 = 10_000;

/// Plays the steps one after the other. The first that is refused ends it, and its refusal is the answer.
pub(super) async fn play(
    Extract(sandbox): Extract<Arc<Sandbox>>,
    body: Bytes,
) -> Result<Json<Value>, ControlError> {
    let wanted: Wanted = read(&body)?;
    let steps = wanted.steps()?;
    let verbs = super::verbs().with_state(sandbox.clone());
    if let Some(seed) = wanted.seed {
        let reset = Step {
            method: Method::Post,
            path: "reset".to_owned(),
            body: json!({ "seed": seed }),
        };
        take(&verbs, &reset)
            .await
            .map_err(|(_, sentence)| ControlError::BadRequest(sentence))?;
    }
    let meanings = sandbox.act(|state, now| wanted.meanings(&sandbox, state, &steps, now))?;
    let mut answers = Vec::new();
    for (place, step) in steps.iter().enumerate() {
        if place > 0 && wanted.pause_ms > 0 {
            let pause = Duration::from_millis(wanted.pause_ms);
            sandbox.clock().sleep(pause).await;
        }
        let step = step.filled(&meanings);
        let (method, path) = (step.method.as_str(), &step.path);
        match take(&verbs, &step).await {
            Ok(answer) => answers.push(json!({"method": method, "path": path, "answer": answer})),
            Err((status, sentence)) => {
                let sentence = format!(
                    "Step {} of {}, {method} {path}: {sentence} What came before it is done.",
                    place + 1,
                    steps.len()
                );
                return Err(ControlError::of(status, sentence));
            }
        }
    }
    let id = meanings.get("invoice").and_then(Value::as_str);
    let invoice = sandbox.act(|state, now| {
        let invoice = id.and_then(|id| state.invoices.find(id));
        invoice.map(|invoice| view(invoice, now))
    });
    Ok(Json(json!({
        "invoice": invoice,
        "session": meanings.get("session"),
        "steps": answers,
    })))
}

/// Calls a verb of the control API.
async fn take(verbs: &Router, step: &Step) -> Result<Value, (StatusCode, String)> {
    let body = if step.body.is_null() {
        Body::empty()
    } else {
        Body::from(step.body.to_string())
    };
    let request = Request::builder()
        .method(step.method.as_str())
        .uri(format!("/sandbox/{}", step.path))
        .body(body);
    let request = request.map_err(|_| {
        let sentence = format!("{:?} is no path.", step.path);
        (StatusCode::BAD_REQUEST, sentence)
    })?;
    let answer = verbs.clone().oneshot(request).await;
    let answer = answer.unwrap_or_else(|never| match never {});
    let status = answer.status();
    let body = to_bytes(answer.into_body(), usize::MAX).await;
    let body: Value = body
        .ok()
        .and_then(|body| serde_json::from_slice(&body).ok())
        .unwrap_or(Value::Null);
    if status.is_success() {
        return Ok(body);
    }
    let sentence = body["error"].as_str().unwrap_or("there is no such verb.");
    Err((status, sentence.to_owned()))
}

impl Wanted {
    fn steps(&self) -> Result<Vec<Step>, ControlError> {
        let refused = |sentence: String| Err(ControlError::BadRequest(sentence));
        let steps = match &self.name {
            Some(_) if !self.steps.is_empty() => {
                return refused("Name a scenario or its steps, not both.".to_owned());
            }
            Some(name) => match named(name) {
                Some(known) => known.steps,
                None => {
                    return Err(ControlError::NotFound(format!(
                        "There is no scenario {name:?}: see GET /sandbox/scenarios."
                    )));
                }
            },
            None => self.steps.clone(),
        };
        if steps.is_empty() || steps.len() > MAX_STEPS {
            return refused(format!(
                "A scenario has a name of GET /sandbox/scenarios, or 1 to {MAX_STEPS} steps."
            ));
        }
        if self.pause_ms > MAX_PAUSE_MS {
            return refused(format!("The member pause_ms is at most {MAX_PAUSE_MS}."));
        }
        Ok(steps)
    }

    /// What the names in the steps stand for. What none of them names is not opened.
    fn meanings(
        &self,
        sandbox: &Sandbox,
        state: &mut State,
        steps: &[Step],
        now: Timestamp,
    ) -> Result<Map<String, Value>, ControlError> {
        let speaks_of = |name| steps.iter().any(|step| step.names(name));
        let mut meanings = Map::new();
        if [
            "invoice",
            "chain",
            "other_asset",
            "other_address",
            "seconds_left",
        ]
        .into_iter()
        .any(speaks_of)
        {
            let id = match &self.invoice {
                Some(id) => id.clone(),
                None => open_in(sandbox, state, &self.open, now)?,
            };
            let invoice = state.invoices.find(&id);
            let invoice = invoice.ok_or_else(|| unknown(&id))?;
            let mut others = state.prices.coins();
            let other = others.find(|coin| coin.chain != invoice.coin.chain);
            let left = invoice.expires_at().duration_since(now).as_secs().max(0);
            meanings.insert("chain".to_owned(), json!(invoice.coin.chain.as_str()));
            let other = other.map(|coin| coin.code.to_string());
            meanings.insert("other_asset".to_owned(), json!(other));
            let address = state.invoices.other_address(&id);
            meanings.insert("other_address".to_owned(), json!(address));
            meanings.insert("seconds_left".to_owned(), json!(left + 1));
            meanings.insert("invoice".to_owned(), json!(id));
        }
        if speaks_of("session") {
            let id = match &self.session {
                Some(id) => id.clone(),
                None => open_session(sandbox, state, OpenSession::default(), now)?,
            };
            meanings.insert("session".to_owned(), json!(id));
        }
        Ok(meanings)
    }
}
