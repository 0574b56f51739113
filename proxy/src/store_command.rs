//! The commands that prepare a database.

use anyhow::bail;
use florin_proxy::config::Config;
use florin_storage::{is_postgres, migrate_postgres};

/// Brings the schema of the configured database up to date.
///
/// # Errors
/// A sentence: the database is a file, cannot be reached, or was written by a newer version.
pub(crate) fn migrate(config: &Config) -> anyhow::Result<()> {
    if !is_postgres(&config.database_url) {
        bail!("database_url: a file of SQLite is migrated by the proxy itself when it starts");
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let environment = config.environment.as_str();
    let migrated = runtime.block_on(migrate_postgres(&config.database_url, environment));
    match migrated.map_err(|error| anyhow::anyhow!("database_url: {error}"))? {
        0 => println!("The schema is up to date."),
        count => println!("The schema is up to date: {count} migration(s) applied."),
    }
    Ok(())
}
