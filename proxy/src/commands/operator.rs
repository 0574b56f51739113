//! `florin-proxy orders`, `deliveries`, `webhooks` and `settlements`: what an operator sees and does from a terminal.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::bail;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use florin_orders::{DecisionKind, OrderStatus};
use serde::Serialize;
use serde_json::{Value, json};

use crate::operator_client::{AdminResponse, Connection, OperatorClient, print, visible};
use crate::variables;

/// A command for a running proxy.
#[derive(Args)]
pub(crate) struct Operate<A: Subcommand> {
    #[command(flatten)]
    connection: Connection,
    #[command(subcommand)]
    action: A,
}

pub(crate) trait Action {
    /// Sends the request, and prints the response as it came or in words.
    fn run(&self, client: &OperatorClient, json: bool) -> anyhow::Result<()>;
}

impl<A: Action + Subcommand> Operate<A> {
    pub(crate) fn run(&self, config: Option<&Path>, json: bool) -> anyhow::Result<()> {
        let client = OperatorClient::new(&self.connection, config, &variables())?;
        self.action.run(&client, json)
    }
}

#[derive(Subcommand)]
pub(crate) enum Orders {
    /// Lists orders, the latest first.
    List(OrderFilter),
    /// Shows one order: attempts, responses of the gateway, events, deliveries and decisions.
    Show {
        /// The order
        id: String,
    },
    /// Decides about an order that needs a person. The audit log keeps operator, decision and reason.
    ///
    /// Nothing is done if the order has changed since it was seen: then show it again.
    Resolve(Resolution),
    /// Records what was sent back to the customer. Nothing is sent: send the money first. The audit log names the operator.
    Refund(Refund),
}

/// Which orders to list.
#[derive(Args, Serialize)]
pub(crate) struct OrderFilter {
    /// An id, reference, email address, amount, invoice, blockchain address or transaction, in full
    #[arg(long, value_name = "TEXT")]
    #[serde(rename = "q")]
    search: Option<String>,
    /// Only those of this status
    #[arg(long, value_parser = words::<OrderStatus>())]
    status: Option<String>,
    /// Only those of this store
    #[arg(long, value_name = "ID")]
    store: Option<String>,
    /// Only those that need a person, the longest waiting first
    #[arg(long, conflicts_with_all = ["search", "status", "store", "after"])]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    attention: bool,
    /// Continues behind this order
    #[arg(long, value_name = "ID", conflicts_with = "search")]
    after: Option<String>,
    /// How many, 1 to 100
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
}

/// A decision.
#[derive(Args, Serialize)]
pub(crate) struct Resolution {
    /// The order
    #[serde(skip)]
    id: String,
    /// What to do
    #[arg(long, value_parser = words::<DecisionKind>())]
    decision: String,
    /// Why, in 1 to 500 characters
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// The order's version, as `orders show` printed it
    #[arg(long, value_name = "VERSION")]
    #[serde(rename = "version")]
    seen: u64,
}

/// Money that was sent back.
#[derive(Args, Serialize)]
pub(crate) struct Refund {
    /// The order
    #[serde(skip)]
    id: String,
    /// How much was sent back, in the asset
    #[arg(long, value_name = "AMOUNT")]
    #[serde(rename = "amount_in_crypto")]
    amount: String,
    /// The asset, as the gateway names it; may be left out unless the order was paid in several
    #[arg(long, value_name = "CODE")]
    #[serde(rename = "crypto_code")]
    asset: Option<String>,
    /// The transaction that sent it
    #[arg(long, value_name = "HASH")]
    transaction: Option<String>,
}

fn words<T>() -> PossibleValuesParser
where
    T: strum::VariantArray + Copy,
    &'static str: From<T>,
{
    PossibleValuesParser::new(T::VARIANTS.iter().map(|word| <&'static str>::from(*word)))
}

#[derive(Subcommand)]
pub(crate) enum Deliveries {
    /// Lists the deliveries of a store, the latest first.
    List(DeliveryFilter),
    /// Sends an event again. The audit log names the operator.
    Redeliver {
        /// The event, or one of its deliveries
        id: String,
    },
}

#[derive(Args, Serialize)]
pub(crate) struct DeliveryFilter {
    /// The store; may be left out if there is one, or with --event
    #[arg(long, value_name = "ID")]
    store: Option<String>,
    /// Only those of this event
    #[arg(long, value_name = "ID")]
    event: Option<String>,
    /// Continues behind this delivery
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    /// How many, 1 to 100
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
}

#[derive(Subcommand)]
pub(crate) enum Webhooks {
    /// Sends a store's endpoint one signed test event. Exits with 1 if it does not accept it.
    Test {
        /// The store
        store: String,
        /// Its webhook
        #[arg(default_value = "default")]
        webhook: String,
    },
}

/// Prints a response: as it came, or in words. A page names the argument that continues it.
fn show(response: &AdminResponse, json: bool, words: impl FnOnce(&Value) -> String) {
    if json {
        return print(&response.text);
    }
    print(&words(&response.value));
    if let Some(next) = response.value["next"].as_str() {
        eprintln!("More: --after {}", visible(next));
    }
}

impl Action for Orders {
    fn run(&self, client: &OperatorClient, json: bool) -> anyhow::Result<()> {
        match self {
            Self::List(filter) => show(&client.get(&["orders"], filter)?, json, |page| {
                listed(page, "orders", LISTED_ORDER, "No order.")
            }),
            Self::Show { id } => show(&client.get(&["orders", id], &())?, json, history),
            Self::Resolve(resolution) => {
                let path = ["orders", &resolution.id, "decision"];
                let response = client.post(&path, Some(&json!(resolution)))?;
                show(&response, json, |decided| {
                    let [id, status, version] =
                        ["id", "status", "version"].map(|it| text(&decided["order"], it));
                    format!("{id} is {status}, version {version}.")
                });
            }
            Self::Refund(refund) => {
                let response =
                    client.post(&["orders", &refund.id, "refunds"], Some(&json!(refund)))?;
                show(&response, json, |refunded| {
                    let id = text(&refunded["order"], "id");
                    let refunds = table("  ", &elements(&refunded["order"], "refunds"), REFUND);
                    format!("{id} has these refunds:\n{refunds}")
                });
            }
        }
        Ok(())
    }
}

impl Action for Deliveries {
    fn run(&self, client: &OperatorClient, json: bool) -> anyhow::Result<()> {
        match self {
            Self::List(filter) => show(&client.get(&["deliveries"], filter)?, json, |page| {
                listed(page, "deliveries", DELIVERY, "No delivery.")
            }),
            Self::Redeliver { id } => {
                let response = client.post(&["deliveries", id, "redeliver"], None)?;
                show(&response, json, |sent| {
                    let [event, kind] = ["event", "type"].map(|name| text(sent, name));
                    format!("{event} ({kind}) is sent again.")
                });
            }
        }
        Ok(())
    }
}

impl Action for Webhooks {
    fn run(&self, client: &OperatorClient, json: bool) -> anyhow::Result<()> {
        let Self::Test { store, webhook } = self;
        let response = client.post(&["webhooks", store, webhook, "test"], None)?;
        let message = text(&response.value, "message");
        let is_accepted = response.value["accepted"] == true;
        if json || is_accepted {
            show(&response, json, |_| {
                format!("The endpoint accepts the test event: {message}")
            });
        }
        if !is_accepted {
            bail!("the endpoint does not accept the test event: {message}");
        }
        Ok(())
    }
}

const DELIVERY: &str = "id tried_at webhook type http_status took_ms note";
const REFUND: &str = "at amount_in_crypto crypto_code amount transaction_hash";
const ORDER: &str = "id store reference title status amount currency created_at expires_at settled_at version \
                     attention_since";
const LISTED_ORDER: &str =
    "id status amount currency created_at store reference attention_since attention";
const ATTEMPT: &str = "id begun_at crypto_code state requested/0 invoice/id invoice/address invoice/page_url \
                       invoice/payment_state invoice/state_since invoice/received/0 invoice/confirmations \
                       invoice/transaction_hash";

/// A member as text, by its JSON pointer; empty if it is absent or null. A list is its elements, and a cause is its title.
fn text(record: &Value, member: &str) -> String {
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

fn listed(page: &Value, name: &str, members: &str, none: &str) -> String {
    match table("", &elements(page, name), members) {
        empty if empty.is_empty() => none.to_owned(),
        table => table,
    }
}

fn history(history: &Value) -> String {
    let order = &history["order"];
    let mut page = facts(order, ORDER);
    let mut section = |heading: &str, text: String| {
        if !text.is_empty() {
            let _ = write!(page, "\n{heading}\n{text}");
        }
    };
    if !order["attention_since"].is_null() {
        let causes = table("  ", &elements(order, "attention"), "title sentence");
        section("Needs attention", causes + &decisions(order));
    }
    let owed = table(
        "  ",
        &elements(order, "owed"),
        "amount_in_crypto crypto_code",
    );
    section("Owed to the customer", owed);
    section("Refunds", table("  ", &elements(order, "refunds"), REFUND));
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
            "id created_at webhook state type next_at",
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

/// A report of a running proxy.
#[derive(Args)]
pub(crate) struct Settlements {
    #[command(flatten)]
    connection: Connection,
    #[command(flatten)]
    query: SettlementQuery,
    /// Prints all lines as CSV
    #[arg(long)]
    csv: bool,
}

#[derive(Args, Serialize)]
struct SettlementQuery {
    /// The store; may be left out if there is one
    #[arg(long, value_name = "ID")]
    store: Option<String>,
    /// A day in the store's time zone, like 2026-11-23; today if no days are named
    #[arg(long, value_name = "DAY", conflicts_with_all = ["month", "from", "to"])]
    day: Option<String>,
    /// A month, like 2026-11
    #[arg(long, value_name = "MONTH", conflicts_with_all = ["from", "to"])]
    month: Option<String>,
    /// The first day
    #[arg(long, value_name = "DAY", requires = "to")]
    from: Option<String>,
    /// The last day
    #[arg(long, value_name = "DAY", requires = "from")]
    to: Option<String>,
    #[arg(skip)]
    format: Option<&'static str>,
}

impl Settlements {
    pub(crate) fn run(mut self, config: Option<&Path>, json: bool) -> anyhow::Result<()> {
        let client = OperatorClient::new(&self.connection, config, &variables())?;
        self.query.format = self.csv.then_some("csv");
        let report = client.get(&["settlements"], &self.query)?;
        if self.csv {
            print!("{}", report.text);
            return Ok(());
        }
        if json {
            print(&report.text);
            return Ok(());
        }
        let report = report.value;
        let [from, to, zone] = ["from", "to", "time_zone"].map(|name| text(&report, name));
        let mut printed = format!("{from} to {to}, {zone}\n");
        for (name, members) in [
            ("totals", "name network payments received refunded net"),
            ("currencies", "name payments received refunded net"),
            (
                "lines",
                "at kind reference amount currency amount_in_crypto asset network order",
            ),
        ] {
            printed.push('\n');
            printed.push_str(&table("  ", &elements(&report, name), members));
        }
        print(&printed);
        if !report["next"].is_null() {
            eprintln!("These are the first lines: --csv prints all.");
        }
        Ok(())
    }
}
