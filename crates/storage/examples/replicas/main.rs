//! `replicas`: what processes on one PostgreSQL store in a second, beside one with a file of SQLite, in one run.
//!
//! `cargo run --release --package florin-storage --example replicas -- FOLDER`: the disk of the folder counts; the server's
//! files are in the folder of temporary files. The exit code is 1 when a limit is not kept.

mod leases;
mod machine;
mod payments;
mod worker;

use std::path::Path;
use std::process::ExitCode;

use florin_postgres::{Durability, PostgresServer};

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next().unwrap_or_else(|| ".".into());
    if first == worker::COMMAND {
        return worker::serve(&arguments.collect::<Vec<_>>()).await;
    }
    let server = PostgresServer::start(Durability::Full).expect("PostgreSQL is installed");
    let are_paid = payments::compare(&server, Path::new(&first)).await;
    let are_leased = leases::measure(&server).await;
    ExitCode::from(u8::from(!(are_paid && are_leased)))
}
