//! `florin-proxy deliveries` and `florin-proxy webhooks`: what was sent to the stores, redelivery, and a test of an endpoint.

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::Value;

use crate::commands::order_text::delivery_line;
use crate::operator_client::{CommandError, Connection, OperatorClient, print, visible};

/// The deliveries of events.
#[derive(Args)]
pub(crate) struct Deliveries {
    #[command(flatten)]
    pub(crate) connection: Connection,
    #[command(subcommand)]
    action: DeliveriesAction,
}

#[derive(Subcommand)]
enum DeliveriesAction {
    /// Lists the deliveries of a store, the latest first.
    List {
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
    },
    /// Sends an event again. The audit log names the operator.
    Redeliver {
        /// The event, or one of its deliveries
        id: String,
    },
}

/// The stores' endpoints.
#[derive(Args)]
pub(crate) struct Webhooks {
    #[command(flatten)]
    pub(crate) connection: Connection,
    #[command(subcommand)]
    action: WebhooksAction,
}

#[derive(Subcommand)]
enum WebhooksAction {
    /// Sends a store's endpoint one signed test event. Exits with 1 if it does not accept it.
    Test {
        /// The store
        store: String,
    },
}

#[derive(Deserialize)]
struct Page {
    deliveries: Vec<Value>,
    next: Option<String>,
}

#[derive(Deserialize)]
struct Redelivered {
    event: String,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Tested {
    accepted: bool,
    message: String,
}

/// Runs an action on deliveries.
pub(crate) fn deliveries(
    command: &Deliveries,
    client: &OperatorClient,
    json: bool,
) -> Result<(), CommandError> {
    match &command.action {
        DeliveriesAction::List {
            store,
            event,
            after,
            limit,
        } => {
            let limit = limit.to_string();
            let response = client.get(
                &["deliveries"],
                &[
                    ("store", store.as_deref()),
                    ("event", event.as_deref()),
                    ("after", after.as_deref()),
                    ("limit", Some(&limit)),
                ],
            )?;
            if json {
                return print(&response.text);
            }
            let page: Page = response.read()?;
            let mut lines = String::new();
            for delivery in &page.deliveries {
                let _ = writeln!(lines, "{}", delivery_line(delivery));
            }
            print(if lines.is_empty() {
                "No delivery."
            } else {
                &lines
            })?;
            if let Some(next) = page.next {
                eprintln!("More: --after {}", visible(&next));
            }
            Ok(())
        }
        DeliveriesAction::Redeliver { id } => {
            let response = client.post(&["deliveries", id, "redeliver"], None)?;
            if json {
                return print(&response.text);
            }
            let Redelivered { event, kind } = response.read()?;
            print(&format!(
                "{} ({}) is sent again.",
                visible(&event),
                visible(&kind)
            ))
        }
    }
}

/// Runs an action on endpoints.
pub(crate) fn webhooks(
    command: &Webhooks,
    client: &OperatorClient,
    json: bool,
) -> Result<(), CommandError> {
    let WebhooksAction::Test { store } = &command.action;
    let response = client.post(&["webhooks", store, "test"], None)?;
    if json {
        print(&response.text)?;
    }
    let Tested { accepted, message } = response.read()?;
    let message = visible(&message);
    if !accepted {
        return Err(CommandError::Failed(format!(
            "the endpoint does not accept the test event: {message}"
        )));
    }
    if json {
        return Ok(());
    }
    print(&format!("The endpoint accepts the test event: {message}"))
}
