//! The configured database: opening it, and the commands that prepare, copy and check it.

use std::io::{IsTerminal as _, stderr};
use std::path::PathBuf;

use anyhow::bail;
use clap::Subcommand;
use florin_proxy::config::Config;
use florin_storage::{
    CopyError, CopyStep, Database, Verified, copy, is_postgres, migrate_postgres,
};
use serde_json::{Map, json};

use crate::commands::runtime;

/// What happens to the database.
#[derive(Subcommand)]
pub(crate) enum Action {
    /// Copies a file of SQLite into an empty PostgreSQL database, and checks the copy.
    ///
    /// Stop the proxy first, and run `florin-proxy migrate` on the target. Afterwards no proxy opens the file again. If
    /// the copy fails, the target is empty as before and the file can still be used. One that was interrupted is completed
    /// by the same command.
    Copy {
        /// The file, as `sqlite://path/to/florin.db`
        #[arg(long, value_name = "URL")]
        from: String,
        /// The PostgreSQL database; the configured one if it is missing.
        #[arg(long, value_name = "URL")]
        to: Option<String>,
    },
    /// Copies the configured SQLite file into a new file and checks the copy. The proxy may run meanwhile.
    ///
    /// A PostgreSQL database is copied by the server's programs: `pg_basebackup` or `pg_dump`.
    Backup {
        /// The new file.
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
    },
    /// Reads a whole database and checks it: a backup, or the configured database. The proxy may run meanwhile.
    ///
    /// A finding is a line on standard error and the exit code 1.
    Verify {
        /// The database, as `sqlite://path/to/backup.db` or `postgres://user:password@host/database`; the configured one if
        /// it is missing.
        #[arg(long, value_name = "URL")]
        database: Option<String>,
    },
}

pub(crate) fn run(config: &Config, action: Action, json: bool) -> anyhow::Result<()> {
    let environment = config.environment.as_str();
    match action {
        Action::Copy { from, to } => copy_to_server(config, &from, to.as_deref(), json),
        Action::Backup { to } => {
            let url = &config.database_url;
            let progress = Progress::new("Copying", json);
            let backup = florin_storage::backup(url, environment, &to);
            let copied = runtime()?.block_on(backup);
            drop(progress);
            let copied =
                copied.map_err(|reason| anyhow::anyhow!("nothing was copied: {reason}"))?;
            let end = format!("Copied to {} and checked.", to.display());
            report(copied, &end, json)
        }
        Action::Verify { database } => {
            let url = database.as_deref().unwrap_or(config.direct_url());
            let progress = Progress::new("Reading the whole database", json);
            let read = runtime()?.block_on(florin_storage::verify(url, environment));
            drop(progress);
            let read = read.map_err(anyhow::Error::msg)?;
            report(read, "The database is sound.", json)
        }
    }
}

fn report(verified: Verified, end: &str, json: bool) -> anyhow::Result<()> {
    let Verified { rows, defects } = verified;
    if json {
        let rows = rows.iter();
        let rows: Map<_, _> = rows
            .map(|(table, rows)| (table.to_string(), json!(rows)))
            .collect();
        println!("{}", json!({ "rows": rows, "defects": defects }));
    } else {
        for (table, rows) in rows {
            println!("{rows:>10}  {table}");
        }
    }
    if defects.is_empty() {
        if !json {
            println!("{end}");
        }
        return Ok(());
    }
    bail!(
        "the database is damaged: keep a copy of it, and restore a backup (docs/operations/backups.md)\n{}",
        defects.join("\n")
    )
}

fn copy_to_server(config: &Config, from: &str, to: Option<&str>, json: bool) -> anyhow::Result<()> {
    let to = to.unwrap_or(config.direct_url());
    if is_postgres(from) || !from.starts_with("sqlite://") {
        bail!("--from: write sqlite://path/to/florin.db");
    }
    if !is_postgres(to) {
        bail!("--to: write postgres://user:password@host/database");
    }
    let progress = Progress::new("Copying", json);
    let on_step = |step: CopyStep| progress.rows(&step);
    let copied = runtime()?.block_on(copy(from, to, config.environment.as_str(), &on_step));
    drop(progress);
    let copied = copied.map_err(|error| match error {
        CopyError::NotMarked(_) => anyhow::anyhow!("{error}"),
        error => anyhow::anyhow!("nothing was copied: {error}"),
    })?;
    if json {
        let tables = copied.iter();
        let tables: Vec<_> = tables
            .map(|it| json!({ "table": it.table, "rows": it.rows, "sha256": it.sha256 }))
            .collect();
        println!("{}", json!({ "tables": tables }));
        return Ok(());
    }
    for table in copied {
        println!("{:>10}  {}  {}", table.rows, table.sha256, table.table);
    }
    println!(
        "Copied, with the same number of rows and the same checksums on both sides. The file is not opened again: set \
         database_url to the PostgreSQL database and start the proxy."
    );
    Ok(())
}

pub(crate) fn migrate(config: &Config, json: bool) -> anyhow::Result<()> {
    if !is_postgres(&config.database_url) {
        bail!("database_url: a file of SQLite is migrated by the proxy itself when it starts");
    }
    let environment = config.environment.as_str();
    let migrated = runtime()?.block_on(migrate_postgres(config.direct_url(), environment));
    let applied = migrated.map_err(|error| anyhow::anyhow!("{}: {error}", direct_key(config)))?;
    match applied {
        count if json => println!("{}", json!({ "migrations_applied": count })),
        0 => println!("The schema is up to date."),
        count => println!("The schema is up to date: {count} migration(s) applied."),
    }
    Ok(())
}

pub(crate) async fn open(config: &Config) -> anyhow::Result<Database> {
    let opened = Database::open_limited(
        &config.database_url,
        config.database_url_direct.as_deref(),
        config.environment.as_str(),
        &config.database,
    );
    opened.await.map_err(|error| match error.outage() {
        Some(outage) => anyhow::anyhow!("database_url: {error}. {}", outage.remedy()),
        None => anyhow::anyhow!("database_url: {error}"),
    })
}

fn direct_key(config: &Config) -> &'static str {
    match config.database_url_direct {
        Some(_) => "database_url_direct",
        None => "database_url",
    }
}

/// What a long command is doing: one line on standard error, where that is a terminal, and never with `--json`. It is gone
/// when this is dropped.
struct Progress {
    what: &'static str,
    is_shown: bool,
}

impl Progress {
    fn new(what: &'static str, json: bool) -> Self {
        let is_shown = !json && stderr().is_terminal();
        let progress = Self { what, is_shown };
        progress.show("…");
        progress
    }

    fn rows(&self, step: &CopyStep) {
        let CopyStep {
            table,
            number,
            count,
            rows,
        } = step;
        self.show(&format!(" {number}/{count} {table}: {rows} rows"));
    }

    fn show(&self, text: &str) {
        if self.is_shown {
            // Source: ECMA-48, "EL": the line is cleared.
            eprint!("\r\x1b[K{}{text}", self.what);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown {
            eprint!("\r\x1b[K");
        }
    }
}
