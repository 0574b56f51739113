//! The commands that prepare a database.

use anyhow::bail;
use clap::Subcommand;
use florin_proxy::config::Config;
use florin_storage::{copy, is_postgres, migrate_postgres};
use tokio::runtime::{Builder, Runtime};

/// What happens to the database.
#[derive(Subcommand)]
pub(crate) enum Action {
    /// Copies a file of SQLite into an empty PostgreSQL database, and checks the copy.
    ///
    /// Stop the proxy first, and run `florin-proxy migrate` on the target. Afterwards no proxy opens the file again. If
    /// the copy fails, the target is empty as before and the file can still be used.
    Copy {
        /// The file, as `sqlite://path/to/florin.db`
        #[arg(long, value_name = "URL")]
        from: String,
        /// The PostgreSQL database; the configured one if it is missing.
        #[arg(long, value_name = "URL")]
        to: Option<String>,
    },
}

/// Runs an action.
///
/// # Errors
/// A sentence that says what to do.
pub(crate) fn run(config: &Config, action: Action) -> anyhow::Result<()> {
    let Action::Copy { from, to } = action;
    let to = to.as_deref().unwrap_or(&config.database_url);
    if is_postgres(&from) || !from.starts_with("sqlite://") {
        bail!("--from: write sqlite://path/to/florin.db");
    }
    if !is_postgres(to) {
        bail!("--to: write postgres://user:password@host/database");
    }
    let copied = runtime()?.block_on(copy(&from, to, config.environment.as_str()));
    for table in copied.map_err(|error| anyhow::anyhow!("nothing was copied: {error}"))? {
        println!("{:>10}  {}  {}", table.rows, table.sha256, table.table);
    }
    println!(
        "Copied, with the same number of rows and the same checksums on both sides. The file is not opened again: set \
         database_url to the PostgreSQL database and start the proxy."
    );
    Ok(())
}

/// Brings the schema of the configured database up to date.
///
/// # Errors
/// A sentence: the database is a file, cannot be reached, or was written by a newer version.
pub(crate) fn migrate(config: &Config) -> anyhow::Result<()> {
    if !is_postgres(&config.database_url) {
        bail!("database_url: a file of SQLite is migrated by the proxy itself when it starts");
    }
    let environment = config.environment.as_str();
    let migrated = runtime()?.block_on(migrate_postgres(&config.database_url, environment));
    match migrated.map_err(|error| anyhow::anyhow!("database_url: {error}"))? {
        0 => println!("The schema is up to date."),
        count => println!("The schema is up to date: {count} migration(s) applied."),
    }
    Ok(())
}

fn runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}
