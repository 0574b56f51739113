//! `florin-proxy orders`, `deliveries` and `webhooks`: what an operator sees and does from a terminal.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use florin_orders::{DecisionKind, OrderStatus};
use serde_json::{Value, json};

use crate::commands::record_text::{deliveries_of, history, orders_of, text};
use crate::operator_client::{
    AdminResponse, CommandError, Connection, OperatorClient, print, visible,
};

/// The orders.
#[derive(Args)]
pub(crate) struct Orders {
    #[command(flatten)]
    pub(crate) connection: Connection,
    #[command(subcommand)]
    action: OrdersAction,
}

#[derive(Subcommand)]
enum OrdersAction {
    /// Lists orders, the latest first.
    List(Filter),
    /// Shows one order: attempts, responses of the gateway, events, deliveries and decisions.
    Show {
        /// The order
        id: String,
    },
    /// Decides about an order that needs a person. The audit log keeps operator, decision and reason.
    ///
    /// Nothing is done if the order has changed since it was seen: then show it again.
    Resolve(Resolution),
}

/// Which orders to list.
#[derive(Args)]
struct Filter {
    /// An id, reference, email address, amount, invoice, blockchain address or transaction, in full
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Only those of this status
    #[arg(long, value_parser = words::<OrderStatus>())]
    status: Option<String>,
    /// Only those of this store
    #[arg(long, value_name = "ID")]
    store: Option<String>,
    /// Only those that need a person, the longest waiting first
    #[arg(long, conflicts_with_all = ["search", "status", "store", "after"])]
    attention: bool,
    /// Continues behind this order
    #[arg(long, value_name = "ID", conflicts_with = "search")]
    after: Option<String>,
    /// How many, 1 to 100
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
}

/// A decision.
#[derive(Args)]
struct Resolution {
    /// The order
    id: String,
    /// What to do
    #[arg(long, value_parser = words::<DecisionKind>())]
    decision: String,
    /// Why, in 1 to 500 characters
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// The order's version, as `orders show` printed it
    #[arg(long, value_name = "VERSION")]
    seen: u64,
}

fn words<T>() -> PossibleValuesParser
where
    T: strum::VariantArray + Copy,
    &'static str: From<T>,
{
    PossibleValuesParser::new(T::VARIANTS.iter().map(|word| <&'static str>::from(*word)))
}

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

/// Prints a response: as it came, or in words. A page names the argument that continues it.
fn show(
    response: &AdminResponse,
    json: bool,
    words: impl FnOnce(&Value) -> String,
) -> Result<(), CommandError> {
    if json {
        return print(&response.text);
    }
    print(&words(&response.value))?;
    if let Some(next) = response.value["next"].as_str() {
        eprintln!("More: --after {}", visible(next));
    }
    Ok(())
}

/// Runs an action on orders.
pub(crate) fn orders(
    command: &Orders,
    client: &OperatorClient,
    json: bool,
) -> Result<(), CommandError> {
    match &command.action {
        OrdersAction::List(filter) => {
            let limit = filter.limit.to_string();
            let query = [
                ("q", filter.search.as_deref()),
                ("status", filter.status.as_deref()),
                ("store", filter.store.as_deref()),
                ("attention", filter.attention.then_some("true")),
                ("after", filter.after.as_deref()),
                ("limit", Some(&*limit)),
            ];
            show(&client.get(&["orders"], &query)?, json, orders_of)
        }
        OrdersAction::Show { id } => show(&client.get(&["orders", id], &[])?, json, history),
        OrdersAction::Resolve(Resolution {
            id,
            decision,
            reason,
            seen,
        }) => {
            let body = json!({ "decision": decision, "reason": reason, "version": seen });
            let response = client.post(&["orders", id, "decision"], Some(&body))?;
            show(&response, json, |decided| {
                let [id, status, version] =
                    ["id", "status", "version"].map(|it| text(&decided["order"], it));
                format!("{id} is {status}, version {version}.")
            })
        }
    }
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
            let query = [
                ("store", store.as_deref()),
                ("event", event.as_deref()),
                ("after", after.as_deref()),
                ("limit", Some(&*limit)),
            ];
            show(&client.get(&["deliveries"], &query)?, json, deliveries_of)
        }
        DeliveriesAction::Redeliver { id } => {
            let response = client.post(&["deliveries", id, "redeliver"], None)?;
            show(&response, json, |sent| {
                let [event, kind] = ["event", "type"].map(|name| text(sent, name));
                format!("{event} ({kind}) is sent again.")
            })
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
    let message = text(&response.value, "message");
    let is_accepted = response.value["accepted"] == true;
    if json || is_accepted {
        show(&response, json, |_| {
            format!("The endpoint accepts the test event: {message}")
        })?;
    }
    if is_accepted {
        return Ok(());
    }
    Err(CommandError::Failed(format!(
        "the endpoint does not accept the test event: {message}"
    )))
}
