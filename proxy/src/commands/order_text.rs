//! Orders of the operator's API as text for a terminal. Their members are those of `admin/api/records.rs`.

use std::fmt::{self, Display, Formatter};

use serde::Deserialize;
use serde_json::Value;

use crate::operator_client::visible;

#[derive(Deserialize)]
pub(crate) struct Page {
    orders: Vec<Value>,
    pub(crate) next: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Decided {
    order: Value,
}

#[derive(Deserialize)]
pub(crate) struct History {
    order: Value,
    attempts: Vec<Value>,
    observations: Vec<Value>,
    events: Vec<Value>,
    audit: Vec<Value>,
}

/// A member as text; empty if it is absent or null.
pub(crate) fn text(record: &Value, name: &str) -> String {
    match &record[name] {
        Value::Null => String::new(),
        Value::String(text) => visible(text),
        other => other.to_string(),
    }
}

pub(crate) fn delivery_line(delivery: &Value) -> String {
    let [id, tried_at, kind, status, took_ms, note] =
        ["id", "tried_at", "type", "http_status", "took_ms", "note"]
            .map(|name| text(delivery, name));
    let status = if status.is_empty() { "-" } else { &status };
    format!("{id}  {tried_at}  {kind:<20}  {status:>3}  {took_ms:>5} ms  {note}")
}

fn elements<'a>(record: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    record[name].as_array().into_iter().flatten()
}

impl Display for Page {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.orders.is_empty() {
            return f.write_str("No order.");
        }
        for order in &self.orders {
            let [id, status, amount, currency, created_at, store, reference] = [
                "id",
                "status",
                "amount",
                "currency",
                "created_at",
                "store",
                "reference",
            ]
            .map(|name| text(order, name));
            writeln!(
                f,
                "{id}  {status:<16}  {amount:>12} {currency}  {created_at}  {store}  {reference}"
            )?;
            // A cause without a time has been decided about.
            if !order["attention_since"].is_null() {
                let titles = elements(order, "attention").map(|cause| text(cause, "title"));
                let titles = titles.collect::<Vec<_>>().join(", ");
                let since = text(order, "attention_since");
                writeln!(f, "    needs a person since {since}: {titles}")?;
            }
        }
        Ok(())
    }
}

impl Display for Decided {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [id, status, version] = ["id", "status", "version"].map(|name| text(&self.order, name));
        write!(f, "{id} is {status}, version {version}.")
    }
}

impl Display for History {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        type Write = fn(&mut Formatter<'_>, &Value) -> fmt::Result;
        write_order(f, &self.order)?;
        let parts: [(&str, &[Value], Write); 4] = [
            ("Attempts", &self.attempts, write_attempt),
            (
                "Responses of the gateway, the latest first",
                &self.observations,
                write_observation,
            ),
            ("Events, the latest first", &self.events, write_event),
            (
                "Decisions and actions, the latest first",
                &self.audit,
                write_audit_entry,
            ),
        ];
        for (heading, records, write) in parts {
            if !records.is_empty() {
                writeln!(f, "\n{heading}")?;
            }
            for record in records {
                write(f, record)?;
            }
        }
        Ok(())
    }
}

fn write_order(f: &mut Formatter<'_>, order: &Value) -> fmt::Result {
    let price = format!("{} {}", text(order, "amount"), text(order, "currency"));
    for (name, value) in [
        ("Order", text(order, "id")),
        ("Store", text(order, "store")),
        ("Reference", text(order, "reference")),
        ("Title", text(order, "title")),
        ("Status", text(order, "status")),
        ("Price", price),
        ("Opened", text(order, "created_at")),
        ("Expires", text(order, "expires_at")),
        ("Credited", text(order, "settled_at")),
        ("Version", text(order, "version")),
    ] {
        if name != "Credited" || !value.is_empty() {
            writeln!(f, "{name:<12} {value}")?;
        }
    }
    if order["attention_since"].is_null() {
        return Ok(());
    }
    writeln!(
        f,
        "\nNeeds a person since {}",
        text(order, "attention_since")
    )?;
    for cause in elements(order, "attention") {
        writeln!(f, "  {}. {}", text(cause, "title"), text(cause, "sentence"))?;
    }
    let (id, version) = (text(order, "id"), text(order, "version"));
    for decision in elements(order, "decisions").filter_map(Value::as_str) {
        let decision = visible(decision);
        writeln!(
            f,
            "  florin-proxy orders resolve {id} --decision {decision} --seen {version} --reason …"
        )?;
    }
    Ok(())
}

fn write_attempt(f: &mut Formatter<'_>, attempt: &Value) -> fmt::Result {
    let [id, begun_at, asset, state] =
        ["id", "begun_at", "crypto_code", "state"].map(|name| text(attempt, name));
    let asset = if asset.is_empty() { "no asset" } else { &asset };
    writeln!(f, "  {id}  {begun_at}  {asset}  {state}")?;
    let first = |amounts: &Value| amounts[0].as_str().map(visible).unwrap_or_default();
    let invoice = &attempt["invoice"];
    let mut details = vec![("requested", first(&attempt["requested"]))];
    if !invoice.is_null() {
        let (state, since) = (text(invoice, "payment_state"), text(invoice, "state_since"));
        let confirmations = match &invoice["confirmations"] {
            Value::Null => String::new(),
            count => format!("{} of {}", count[0], count[1]),
        };
        details.extend([
            ("received", first(&invoice["received"])),
            ("payment", format!("{state} since {since}")),
            ("confirmations", confirmations),
            ("invoice", text(invoice, "id")),
            ("address", text(invoice, "address")),
            ("page", text(invoice, "page_url")),
            ("transaction", text(invoice, "transaction_hash")),
        ]);
    }
    for (name, value) in details {
        if !value.is_empty() {
            writeln!(f, "    {name:<14} {value}")?;
        }
    }
    Ok(())
}

fn write_observation(f: &mut Formatter<'_>, observation: &Value) -> fmt::Result {
    let [last, assessment, times, first, raw] =
        ["last_at", "assessment", "times", "first_at", "raw"].map(|name| text(observation, name));
    write!(f, "  {last}  {assessment}")?;
    if times != "1" {
        write!(f, ", {times} times since {first}")?;
    }
    writeln!(f, "\n    {raw}")
}

fn write_event(f: &mut Formatter<'_>, event: &Value) -> fmt::Result {
    let [id, created_at, kind, state, next] =
        ["id", "created_at", "type", "state", "next_at"].map(|name| text(event, name));
    write!(f, "  {id}  {created_at}  {kind}  {state}")?;
    if next.is_empty() {
        writeln!(f)?;
    } else {
        writeln!(f, ", next at {next}")?;
    }
    for delivery in elements(event, "deliveries") {
        writeln!(f, "    {}", delivery_line(delivery))?;
    }
    Ok(())
}

fn write_audit_entry(f: &mut Formatter<'_>, entry: &Value) -> fmt::Result {
    let [at, operator, store, action, before, after, reason] = [
        "at",
        "operator",
        "staff_of",
        "action",
        "status_before",
        "status_after",
        "reason",
    ]
    .map(|name| text(entry, name));
    write!(f, "  {at}  {operator}")?;
    if !store.is_empty() {
        write!(f, " (staff of {store})")?;
    }
    write!(f, "  {action}")?;
    if !before.is_empty() && !after.is_empty() {
        write!(f, "  {before} → {after}")?;
    }
    if !reason.is_empty() {
        write!(f, ": {reason}")?;
    }
    writeln!(f)
}
