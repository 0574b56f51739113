//! `florin-proxy orders`: search, one order's history, and decisions.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use florin_orders::{DecisionKind, OrderStatus};
use serde_json::json;

use crate::commands::order_text::{Decided, History, Page};
use crate::operator_client::{CommandError, Connection, OperatorClient, print, visible};

/// The orders.
#[derive(Args)]
pub(crate) struct Orders {
    #[command(flatten)]
    pub(crate) connection: Connection,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
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

/// Runs an action.
pub(crate) fn run(
    command: &Orders,
    client: &OperatorClient,
    json: bool,
) -> Result<(), CommandError> {
    match &command.action {
        Action::List(filter) => list(filter, client, json),
        Action::Show { id } => {
            let response = client.get(&["orders", id], &[])?;
            if json {
                return print(&response.text);
            }
            print(&response.read::<History>()?.to_string())
        }
        Action::Resolve(resolution) => resolve(resolution, client, json),
    }
}

fn list(filter: &Filter, client: &OperatorClient, json: bool) -> Result<(), CommandError> {
    let limit = filter.limit.to_string();
    let response = client.get(
        &["orders"],
        &[
            ("q", filter.search.as_deref()),
            ("status", filter.status.as_deref()),
            ("store", filter.store.as_deref()),
            ("attention", filter.attention.then_some("true")),
            ("after", filter.after.as_deref()),
            ("limit", Some(&limit)),
        ],
    )?;
    if json {
        return print(&response.text);
    }
    let page: Page = response.read()?;
    print(&page.to_string())?;
    if let Some(next) = page.next {
        eprintln!("More: --after {}", visible(&next));
    }
    Ok(())
}

fn resolve(
    resolution: &Resolution,
    client: &OperatorClient,
    json: bool,
) -> Result<(), CommandError> {
    let Resolution {
        id,
        decision,
        reason,
        seen,
    } = resolution;
    let body = json!({ "decision": decision, "reason": reason, "version": seen });
    let response = client.post(&["orders", id, "decision"], Some(&body))?;
    if json {
        return print(&response.text);
    }
    print(&response.read::<Decided>()?.to_string())
}
