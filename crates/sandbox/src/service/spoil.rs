//! Answers that are spoiled on order: the work is done, and what comes back is wrong.

use core::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde_json::{Map, Value, json};

use super::{Answer, Code, Refusal, http_date};
use crate::connection::Cut;
use crate::faults::Fault;
use crate::state::Sandbox;

/// The answer, spoiled by its fault.
pub(super) async fn respond(
    sandbox: &Arc<Sandbox>,
    connection: &Cut,
    mut answer: Answer,
    fault: Option<Fault>,
) -> Response {
    match fault {
        // The first two have made the answer what it is; the others spoil callbacks.
        None
        | Some(
            Fault::Status { .. }
            | Fault::Shapeless { .. }
            | Fault::Lost {}
            | Fault::Duplicated {}
            | Fault::Delayed { .. }
            | Fault::Reordered {}
            | Fault::Early {}
            | Fault::Lying {},
        ) => plain(&answer),
        Some(Fault::Garbled {}) => {
            let text = answer.body.to_string();
            let middle = text.floor_char_boundary(text.len() / 2);
            with_text(&answer, text[..middle].to_owned())
        }
        Some(Fault::Slow { delay_ms }) => {
            sandbox.clock().sleep(Duration::from_millis(delay_ms)).await;
            plain(&answer)
        }
        Some(Fault::Drop {}) => {
            connection.cut();
            plain(&answer)
        }
        Some(Fault::Cut {}) => cut_in_the_middle(connection, &answer),
        Some(Fault::SlowHeaders { bytes_per_second }) => {
            connection.drip(bytes_per_second);
            plain(&answer)
        }
        Some(Fault::SlowBody { bytes_per_second }) => {
            drop_by_drop(sandbox.clone(), &answer, bytes_per_second)
        }
        Some(Fault::WrongTypes {}) => {
            answer.body = with_wrong_types(answer.body);
            plain(&answer)
        }
        Some(Fault::DuplicateKeys {}) => {
            let text = with_duplicates(&answer.body);
            with_text(&answer, text)
        }
        Some(Fault::Huge { bytes }) => {
            let padding = " ".repeat(bytes);
            let text = answer.body.to_string();
            with_text(&answer, format!("{text}{padding}"))
        }
        Some(Fault::ContentType { value }) => {
            with_header(plain(&answer), header::CONTENT_TYPE, &value)
        }
        Some(Fault::Html {}) => {
            let page = "<!doctype html><title>Maintenance</title><p>We will be back soon.";
            let response = with_text(&answer, page.to_owned());
            with_header(response, header::CONTENT_TYPE, "text/html; charset=utf-8")
        }
        Some(Fault::Empty {}) => with_text(&answer, String::new()),
        Some(Fault::Redirect { location }) => {
            answer.status = StatusCode::FOUND;
            with_header(plain(&answer), header::LOCATION, &location)
        }
        Some(Fault::ErrorInside {}) => {
            answer.body = Refusal::new(Code::InvalidRequest, "something went wrong").body(None);
            answer.status = StatusCode::OK;
            plain(&answer)
        }
        Some(Fault::OtherInvoice {}) => {
            answer.body = of_another_invoice(sandbox, answer.body);
            plain(&answer)
        }
        Some(Fault::ChangedAddress {}) => {
            answer.body = with_another_address(sandbox, answer.body);
            plain(&answer)
        }
        Some(Fault::StatusWord { word }) => {
            if let Some(status) = answer.body.pointer_mut("/data/transaction_status") {
                *status = Value::String(word);
            }
            plain(&answer)
        }
    }
}

fn plain(answer: &Answer) -> Response {
    with_text(answer, answer.body.to_string())
}

fn with_text(answer: &Answer, text: String) -> Response {
    with_body(answer, Body::from(text))
}

fn with_body(answer: &Answer, body: Body) -> Response {
    let response = (answer.status, body).into_response();
    let response = with_header(response, header::CONTENT_TYPE, "application/json");
    let response = with_header(response, header::DATE, &http_date(answer.date));
    match &answer.retry_after {
        Some(moment) => with_header(response, header::RETRY_AFTER, moment),
        None => response,
    }
}

/// A header whose value HTTP does not take is left out.
fn with_header(mut response: Response, name: header::HeaderName, value: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
    response
}

/// Promises the whole length, sends half of it and closes.
fn cut_in_the_middle(connection: &Cut, answer: &Answer) -> Response {
    let text = answer.body.to_string();
    let whole = text.len().to_string();
    let half = Bytes::copy_from_slice(&text.as_bytes()[..text.len() / 2]);
    let connection = connection.clone();
    let parts = stream::unfold(Some(half), move |half| {
        let connection = connection.clone();
        async move {
            let Some(half) = half else {
                // The half is on its way when the next part is asked for.
                tokio::task::yield_now().await;
                connection.cut();
                return Some((Err(std::io::Error::other("cut on order")), None));
            };
            Some((Ok(half), None))
        }
    });
    let response = with_body(answer, Body::from_stream(parts));
    with_header(response, header::CONTENT_LENGTH, &whole)
}

/// Sends a second's worth of bytes a second.
fn drop_by_drop(sandbox: Arc<Sandbox>, answer: &Answer, bytes_per_second: u32) -> Response {
    let bytes = Bytes::from(answer.body.to_string());
    let step = usize::try_from(bytes_per_second)
        .unwrap_or(usize::MAX)
        .max(1);
    let whole = bytes.len().to_string();
    let parts = stream::unfold(bytes, move |mut left| {
        let sandbox = sandbox.clone();
        async move {
            if left.is_empty() {
                return None;
            }
            sandbox.clock().sleep(Duration::from_secs(1)).await;
            let now = left.split_to(step.min(left.len()));
            Some((Ok::<_, Infallible>(now), left))
        }
    });
    let response = with_body(answer, Body::from_stream(parts));
    with_header(response, header::CONTENT_LENGTH, &whole)
}

/// Texts that are numbers become numbers, the others lists of one.
fn with_wrong_types(value: Value) -> Value {
    match value {
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(number @ Value::Number(_)) => number,
            _ => json!([text]),
        },
        Value::Array(values) => values.into_iter().map(with_wrong_types).collect(),
        Value::Object(members) => {
            let members = members.into_iter();
            let wrong = members.map(|(name, value)| (name, with_wrong_types(value)));
            Value::Object(wrong.collect::<Map<_, _>>())
        }
        other => other,
    }
}

/// Every text member twice: first as it is, then with a value that would pay for everything.
fn with_duplicates(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let written = members.iter().map(|(name, value)| {
                let key = Value::String(name.clone());
                let first = format!("{key}:{}", with_duplicates(value));
                match (name.as_str(), value) {
                    ("transaction_status", _) => format!("{first},{key}:\"COMPLETED\""),
                    (_, Value::String(_)) => format!("{first},{key}:\"0\""),
                    _ => first,
                }
            });
            format!("{{{}}}", written.collect::<Vec<_>>().join(","))
        }
        Value::Array(values) => {
            let written = values.iter().map(with_duplicates);
            format!("[{}]", written.collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

/// The same record under the id and the address of another invoice, when there is one.
fn of_another_invoice(sandbox: &Sandbox, mut body: Value) -> Value {
    let Some(record) = body.pointer_mut("/data") else {
        return body;
    };
    let own = record["invoice_id"].as_str().unwrap_or_default().to_owned();
    let other = sandbox.act(|state, now| {
        let other = state.invoices.newest_first().find(|other| other.id != own);
        other.map(|other| super::invoice::record(other, now))
    });
    match other {
        Some(other) => *record = other,
        None => record["invoice_id"] = json!("inv_of_somebody_else"),
    }
    body
}

/// Another address of the same chain, wherever one is named.
fn with_another_address(sandbox: &Sandbox, mut body: Value) -> Value {
    for (id, address) in [
        ("/data/invoice_id", "/data/wallet_address"),
        ("/invoice_id", "/deposit_address"),
    ] {
        let id = body
            .pointer(id)
            .and_then(Value::as_str)
            .map(ToOwned::to_owned);
        let (Some(id), Some(named)) = (id, body.pointer_mut(address)) else {
            continue;
        };
        let other = sandbox.act(|state, _| state.invoices.other_address(&id));
        *named = json!(other.unwrap_or_else(|| "another address".to_owned()));
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_types_are_numbers_and_lists() {
        let right = json!({"data": {"amount": "20.00", "word": "BTC", "flag": true}});
        let wrong = json!({"data": {"amount": 20.0, "word": ["BTC"], "flag": true}});
        assert_eq!(with_wrong_types(right), wrong);
    }

    #[test]
    fn duplicates_come_second_and_pay_for_everything() {
        // The names are in their order already: whether a build keeps or sorts them, they are written like this.
        let body =
            json!({"data": {"n": 1, "transaction_status": "CHECKING", "wallet_address": "T"}});
        assert_eq!(
            with_duplicates(&body),
            r#"{"data":{"n":1,"transaction_status":"CHECKING","transaction_status":"COMPLETED","wallet_address":"T","wallet_address":"0"}}"#
        );
    }
}
