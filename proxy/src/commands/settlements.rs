//! `florin-proxy settlements`: what came and went back, from a terminal.

use std::path::Path;

use clap::Args;
use serde::Serialize;

use crate::commands::operator::{elements, table, text};
use crate::operator_client::{Connection, OperatorClient, print};
use crate::variables;

/// A report of a running proxy.
#[derive(Args)]
pub(crate) struct Settlements {
    #[command(flatten)]
    connection: Connection,
    #[command(flatten)]
    query: Query,
    /// Prints all lines as CSV
    #[arg(long)]
    csv: bool,
}

#[derive(Args, Serialize)]
struct Query {
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

pub(crate) fn run(
    mut settlements: Settlements,
    config: Option<&Path>,
    json: bool,
) -> anyhow::Result<()> {
    let client = OperatorClient::new(&settlements.connection, config, &variables())?;
    settlements.query.format = settlements.csv.then_some("csv");
    let report = client.get(&["settlements"], &settlements.query)?;
    if settlements.csv {
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
