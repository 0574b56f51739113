//! Orders of the operator's API as text for a terminal.

use std::fmt::{self, Display, Formatter};

use serde::Deserialize;

use crate::commands::deliveries::Delivery;
use crate::operator_client::visible;

/// A page of orders.
#[derive(Deserialize)]
pub(crate) struct Page {
    orders: Vec<Order>,
    pub(crate) next: Option<String>,
}

/// The order after a decision.
#[derive(Deserialize)]
pub(crate) struct Decided {
    order: Order,
}

/// An order with all that happened.
#[derive(Deserialize)]
pub(crate) struct History {
    order: Order,
    attempts: Vec<Attempt>,
    observations: Vec<Observation>,
    events: Vec<Event>,
    audit: Vec<AuditEntry>,
}

#[derive(Deserialize)]
struct Order {
    id: String,
    store: String,
    version: u64,
    status: String,
    amount: String,
    currency: String,
    reference: String,
    title: String,
    created_at: String,
    expires_at: String,
    settled_at: Option<String>,
    attention_since: Option<String>,
    attention: Vec<Cause>,
    decisions: Vec<String>,
}

#[derive(Deserialize)]
struct Cause {
    title: String,
    sentence: String,
}

#[derive(Deserialize)]
struct Attempt {
    id: String,
    state: String,
    begun_at: String,
    crypto_code: Option<String>,
    requested: Option<[String; 3]>,
    invoice: Option<Invoice>,
}

#[derive(Deserialize)]
struct Invoice {
    id: String,
    address: Option<String>,
    page_url: Option<String>,
    payment_state: String,
    state_since: String,
    received: [String; 3],
    confirmations: Option<[u32; 2]>,
    transaction_hash: Option<String>,
}

#[derive(Deserialize)]
struct Observation {
    first_at: String,
    last_at: String,
    times: u64,
    assessment: String,
    raw: String,
}

#[derive(Deserialize)]
struct Event {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    created_at: String,
    state: String,
    next_at: Option<String>,
    deliveries: Vec<Delivery>,
}

#[derive(Deserialize)]
struct AuditEntry {
    at: String,
    operator: String,
    staff_of: Option<String>,
    action: String,
    reason: String,
    status_before: Option<String>,
    status_after: Option<String>,
}

impl Display for Page {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.orders.is_empty() {
            return f.write_str("No order.");
        }
        for order in &self.orders {
            writeln!(
                f,
                "{}  {:<16}  {:>12} {}  {}  {}  {}",
                visible(&order.id),
                visible(&order.status),
                visible(&order.amount),
                visible(&order.currency),
                visible(&order.created_at),
                visible(&order.store),
                visible(&order.reference)
            )?;
            // A cause without a time has been decided about.
            if let Some(since) = &order.attention_since {
                let titles = order.attention.iter().map(|cause| visible(&cause.title));
                let titles = titles.collect::<Vec<_>>().join(", ");
                writeln!(f, "    needs a person since {}: {titles}", visible(since))?;
            }
        }
        Ok(())
    }
}

impl Display for Decided {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let order = &self.order;
        let (id, status) = (visible(&order.id), visible(&order.status));
        write!(f, "{id} is {status}, version {}.", order.version)
    }
}

impl Display for History {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.order.fmt(f)?;
        if !self.attempts.is_empty() {
            writeln!(f, "\nAttempts")?;
        }
        for attempt in &self.attempts {
            attempt.fmt(f)?;
        }
        if !self.observations.is_empty() {
            writeln!(f, "\nResponses of the gateway, the latest first")?;
        }
        for observation in &self.observations {
            observation.fmt(f)?;
        }
        if !self.events.is_empty() {
            writeln!(f, "\nEvents, the latest first")?;
        }
        for event in &self.events {
            event.fmt(f)?;
        }
        if !self.audit.is_empty() {
            writeln!(f, "\nDecisions and actions, the latest first")?;
        }
        for entry in &self.audit {
            entry.fmt(f)?;
        }
        Ok(())
    }
}

/// A line with a name, if there is a value.
fn line(f: &mut Formatter<'_>, name: &str, value: Option<&str>) -> fmt::Result {
    match value {
        Some(value) => writeln!(f, "{name:<12} {}", visible(value)),
        None => Ok(()),
    }
}

impl Display for Order {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        line(f, "Order", Some(&self.id))?;
        line(f, "Store", Some(&self.store))?;
        line(f, "Reference", Some(&self.reference))?;
        line(f, "Title", Some(&self.title))?;
        line(f, "Status", Some(&self.status))?;
        line(
            f,
            "Price",
            Some(&format!("{} {}", self.amount, self.currency)),
        )?;
        line(f, "Opened", Some(&self.created_at))?;
        line(f, "Expires", Some(&self.expires_at))?;
        line(f, "Credited", self.settled_at.as_deref())?;
        line(f, "Version", Some(&self.version.to_string()))?;
        let Some(since) = &self.attention_since else {
            return Ok(());
        };
        writeln!(f, "\nNeeds a person since {}", visible(since))?;
        for Cause { title, sentence } in &self.attention {
            writeln!(f, "  {}. {}", visible(title), visible(sentence))?;
        }
        let (id, version) = (visible(&self.id), self.version);
        for decision in &self.decisions {
            let decision = visible(decision);
            writeln!(
                f,
                "  florin-proxy orders resolve {id} --decision {decision} --seen {version} --reason …"
            )?;
        }
        Ok(())
    }
}

/// A line of an attempt, if there is a value.
fn detail(f: &mut Formatter<'_>, name: &str, value: Option<&str>) -> fmt::Result {
    match value {
        Some(value) => writeln!(f, "    {name:<14} {}", visible(value)),
        None => Ok(()),
    }
}

impl Display for Attempt {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let asset = self.crypto_code.as_deref().unwrap_or("no asset");
        writeln!(
            f,
            "  {}  {}  {}  {}",
            visible(&self.id),
            visible(&self.begun_at),
            visible(asset),
            visible(&self.state)
        )?;
        let requested = self.requested.as_ref().map(|[crypto, ..]| crypto.as_str());
        detail(f, "requested", requested)?;
        let Some(invoice) = &self.invoice else {
            return Ok(());
        };
        detail(f, "received", Some(&invoice.received[0]))?;
        let (state, since) = (&invoice.payment_state, &invoice.state_since);
        detail(f, "payment", Some(&format!("{state} since {since}")))?;
        let confirmations = invoice.confirmations;
        let confirmations = confirmations.map(|[count, required]| format!("{count} of {required}"));
        detail(f, "confirmations", confirmations.as_deref())?;
        detail(f, "invoice", Some(&invoice.id))?;
        detail(f, "address", invoice.address.as_deref())?;
        detail(f, "page", invoice.page_url.as_deref())?;
        detail(f, "transaction", invoice.transaction_hash.as_deref())
    }
}

impl Display for Observation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (last, assessment) = (visible(&self.last_at), visible(&self.assessment));
        write!(f, "  {last}  {assessment}")?;
        if self.times > 1 {
            write!(
                f,
                ", {} times since {}",
                self.times,
                visible(&self.first_at)
            )?;
        }
        writeln!(f, "\n    {}", visible(&self.raw))
    }
}

impl Display for Event {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "  {}  {}  {}  {}",
            visible(&self.id),
            visible(&self.created_at),
            visible(&self.kind),
            visible(&self.state)
        )?;
        match &self.next_at {
            Some(next) => writeln!(f, ", next at {}", visible(next))?,
            None => writeln!(f)?,
        }
        for delivery in &self.deliveries {
            writeln!(f, "    {}", delivery.line())?;
        }
        Ok(())
    }
}

impl Display for AuditEntry {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (at, operator) = (visible(&self.at), visible(&self.operator));
        write!(f, "  {at}  {operator}")?;
        if let Some(store) = &self.staff_of {
            write!(f, " (staff of {})", visible(store))?;
        }
        write!(f, "  {}", visible(&self.action))?;
        if let Some((before, after)) = self.status_before.as_ref().zip(self.status_after.as_ref()) {
            write!(f, "  {} → {}", visible(before), visible(after))?;
        }
        if !self.reason.is_empty() {
            write!(f, ": {}", visible(&self.reason))?;
        }
        writeln!(f)
    }
}
