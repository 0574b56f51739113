//! Records of the operator's API as text for a terminal.

use std::fmt::Write as _;

use serde_json::Value;

use crate::operator_client::visible;

/// Members of a delivery that are shown.
const DELIVERY: &str = "id tried_at type http_status took_ms note";
const ORDER: &str = "id store reference title status amount currency created_at expires_at settled_at version \
                     attention_since";
const LISTED_ORDER: &str =
    "id status amount currency created_at store reference attention_since attention";
const ATTEMPT: &str = "id begun_at crypto_code state requested/0 invoice/id invoice/address invoice/page_url \
                       invoice/payment_state invoice/state_since invoice/received/0 invoice/confirmations \
                       invoice/transaction_hash";

/// A member as text, by its JSON pointer; empty if it is absent or null. A list is its elements, and a cause is its title.
pub(crate) fn text(record: &Value, member: &str) -> String {
    fn of(value: &Value) -> String {
        match value {
            Value::Null => String::new(),
            Value::String(text) => visible(text),
            Value::Array(list) => list.iter().map(of).collect::<Vec<_>>().join(", "),
            Value::Object(_) => text(value, "title"),
            other => other.to_string(),
        }
    }
    record
        .pointer(&format!("/{member}"))
        .map(of)
        .unwrap_or_default()
}

/// A line for each record, with its members in columns. A column that is empty everywhere is left out.
fn table(indent: &str, records: &[&Value], members: &str) -> String {
    let mut columns = Vec::new();
    for member in members.split_whitespace() {
        let column: Vec<String> = records.iter().map(|it| text(it, member)).collect();
        let width = column.iter().map(|text| text.chars().count()).max();
        let width = width.unwrap_or(0);
        if width > 0 {
            columns.push((width, column));
        }
    }
    let lines = (0..records.len()).map(|n| {
        let cells = columns
            .iter()
            .map(|(width, column)| format!("{:<width$}", column[n]));
        let line = cells.collect::<Vec<_>>().join("  ");
        format!("{indent}{}\n", line.trim_end())
    });
    lines.collect()
}

/// A line for each member that a record has, with its name.
fn facts(record: &Value, members: &str) -> String {
    let mut facts = String::new();
    for member in members.split_whitespace() {
        let (name, value) = (member.replace("/0", ""), text(record, member));
        if !value.is_empty() {
            let name = name.replace(['/', '_'], " ");
            let _ = writeln!(facts, "  {name:<24} {value}");
        }
    }
    facts
}

fn elements<'a>(record: &'a Value, name: &str) -> Vec<&'a Value> {
    record[name].as_array().into_iter().flatten().collect()
}

pub(crate) fn orders_of(page: &Value) -> String {
    let orders = table("", &elements(page, "orders"), LISTED_ORDER);
    Some(orders)
        .filter(|it| !it.is_empty())
        .unwrap_or_else(|| "No order.".to_owned())
}

pub(crate) fn deliveries_of(page: &Value) -> String {
    let deliveries = table("", &elements(page, "deliveries"), DELIVERY);
    Some(deliveries)
        .filter(|it| !it.is_empty())
        .unwrap_or_else(|| "No delivery.".to_owned())
}

pub(crate) fn history(history: &Value) -> String {
    let order = &history["order"];
    let mut page = facts(order, ORDER);
    let mut section = |heading: &str, text: String| {
        if !text.is_empty() {
            let _ = write!(page, "\n{heading}\n{text}");
        }
    };
    if !order["attention_since"].is_null() {
        let causes = table("  ", &elements(order, "attention"), "title sentence");
        section("Needs a person", causes + &decisions(order));
    }
    let attempts = elements(history, "attempts").into_iter();
    let attempts: Vec<String> = attempts.map(|attempt| facts(attempt, ATTEMPT)).collect();
    section("Attempts", attempts.join("\n"));
    let events = elements(history, "events");
    let deliveries = events
        .iter()
        .flat_map(|event| elements(event, "deliveries"));
    let deliveries: Vec<&Value> = deliveries.collect();
    for (heading, records, members) in [
        (
            "Responses of the gateway, the latest first",
            &elements(history, "observations"),
            "last_at assessment times first_at raw",
        ),
        (
            "Events, the latest first",
            &events,
            "id created_at state type next_at",
        ),
        ("Deliveries, by event", &deliveries, DELIVERY),
        (
            "Decisions and actions, the latest first",
            &elements(history, "audit"),
            "at operator staff_of action status_before status_after reason",
        ),
    ] {
        section(heading, table("  ", records, members));
    }
    page
}

/// The commands of the decisions that are possible.
fn decisions(order: &Value) -> String {
    let (id, version) = (text(order, "id"), text(order, "version"));
    let decisions = elements(order, "decisions").into_iter();
    let decisions = decisions.filter_map(Value::as_str).map(|decision| {
        let decision = visible(decision);
        format!(
            "  florin-proxy orders resolve {id} --decision {decision} --seen {version} --reason …\n"
        )
    });
    decisions.collect()
}
