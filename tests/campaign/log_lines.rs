//! Changes to the lines of a log.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// A log's lines.
pub(crate) type Lines = Vec<Value>;

/// Changes a log. Returns `false` if there was nothing to change.
pub(crate) fn change(log: &Path, change: fn(&mut Lines) -> bool) -> bool {
    let text = fs::read_to_string(log).expect("a copy of a good log");
    let lines = text.lines().map(serde_json::from_str);
    let mut lines: Lines = lines.collect::<Result<_, _>>().expect("lines of JSON");
    let changed = change(&mut lines);
    let text: String = lines
        .iter()
        .flat_map(|line| [line.to_string(), "\n".to_owned()])
        .collect();
    fs::write(log, text).expect("the copy can be written");
    changed
}

fn body(line: &Value) -> Value {
    serde_json::from_str(line["body"].as_str().unwrap_or_default()).unwrap_or_default()
}

fn is_taken(line: &Value) -> bool {
    line["response"] == 204
}

pub(crate) fn remove_an_event(lines: &mut Lines) -> bool {
    let Some(id) = lines
        .iter()
        .find(|line| is_taken(line))
        .map(|line| line["id"].clone())
    else {
        return false;
    };
    lines.retain(|line| line["id"] != id);
    true
}

pub(crate) fn remove_paid_events(lines: &mut Lines) -> bool {
    let all = lines.len();
    lines.retain(|line| body(line)["type"] != "order.paid");
    lines.len() < all
}

pub(crate) fn replace_an_id(lines: &mut Lines) -> bool {
    lines[0]["id"] = json!("evt_00000000000000000000000000000000_1");
    true
}

pub(crate) fn add_a_byte_to_a_body(lines: &mut Lines) -> bool {
    let Some(line) = lines.last_mut() else {
        return false;
    };
    line["body"] = json!(format!("{} ", line["body"].as_str().unwrap_or_default()));
    true
}

pub(crate) fn replace_a_signature(lines: &mut Lines) -> bool {
    let other = lines[0]["signature"].clone();
    let last = lines.last_mut().expect("there is a first line");
    last["signature"] = other;
    true
}

pub(crate) fn delay_a_delivery(lines: &mut Lines) -> bool {
    let at: jiff::Timestamp = lines[0]["at"]
        .as_str()
        .unwrap_or_default()
        .parse()
        .expect("a time");
    lines[0]["at"] = json!((at + jiff::SignedDuration::from_hours(1)).to_string());
    true
}

pub(crate) fn move_second_event_first(lines: &mut Lines) -> bool {
    let is_second = |line: &Value| is_taken(line) && body(line)["data"]["sequence"] == 2;
    let Some(place) = lines.iter().position(is_second) else {
        return false;
    };
    let line = lines.remove(place);
    lines.insert(0, line);
    true
}

pub(crate) fn repeat_an_invoice(lines: &mut Lines) -> bool {
    repeat(lines, "created_invoice", "invoice_id")
}

pub(crate) fn repeat_a_session(lines: &mut Lines) -> bool {
    repeat(lines, "opened_checkout", "session_id")
}

fn repeat(lines: &mut Lines, what: &str, id: &str) -> bool {
    let Some(mut again) = lines.iter().find(|line| line["did"] == what).cloned() else {
        return false;
    };
    again["response"][id] = json!("another");
    lines.push(again);
    true
}

pub(crate) fn add_retry_after(lines: &mut Lines) -> bool {
    let request = lines.iter_mut().find(|line| line["kind"] == "request");
    let Some(request) = request else {
        return false;
    };
    request["retry_after"] = json!(30);
    true
}

pub(crate) fn remove_all(lines: &mut Lines) -> bool {
    let all = lines.len();
    lines.clear();
    all > 0
}

/// Writes of each backup that it was made when it took the place of the database.
pub(crate) fn make_backups_late(lines: &mut Lines) -> bool {
    for line in lines.iter_mut() {
        line["made_at"] = line["at"].clone();
    }
    !lines.is_empty()
}
