//! The evidence of a run of the program: its database, read without the proxy, and the logs of the gateway and of the shop, with
//! one JSON object a line.

mod sandbox_log;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::Value;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

pub use self::sandbox_log::SandboxLog;
use crate::Millis;
use crate::evidence::{Database, Delivery, Evidence, Listing, Shop, Signature, StoredFile};
use crate::rules::{Finding, Moment, check};

/// Checks a run of the proxy by its database, the gateway's log and the shop's log.
#[derive(Clone, Debug, clap::Parser)]
#[command(name = "florin-auditor")]
pub struct Sources {
    /// The proxy's SQLite file, which no proxy has open; or `postgres://…`, which no proxy writes to.
    #[arg(
        long,
        value_name = "FILE|URL",
        env = "AUDITOR_DATABASE",
        hide_env_values = true
    )]
    pub database: String,
    /// The log of `florin-sandbox --log`.
    #[arg(long, value_name = "FILE")]
    pub sandbox_log: PathBuf,
    /// The log of the shop's endpoint: a JSON object for each delivery.
    #[arg(long, value_name = "FILE")]
    pub shop_log: PathBuf,
    /// What a reader of `GET /v1/events` has read, if there was one: a JSON object for each event.
    #[arg(long, value_name = "FILE")]
    pub event_log: Option<PathBuf>,
    /// The secret of the store's webhook: `whsec_…`.
    #[arg(long, env = "AUDITOR_WEBHOOK_SECRET", hide_env_values = true)]
    pub webhook_secret: String,
}

/// Checks every rule for a drained proxy.
///
/// # Errors
/// Something cannot be read, or nothing was paid or delivered: where nothing happened every rule holds, which proves
/// nothing.
pub async fn audit(sources: &Sources) -> anyhow::Result<Vec<Finding>> {
    let evidence = sources.read().await?;
    anyhow::ensure!(
        !evidence.database.credits.is_empty() && !evidence.shop.deliveries.is_empty(),
        "nothing was paid or nothing was delivered: there is nothing to check"
    );
    Ok(check(&evidence, Moment::Drained))
}

impl Sources {
    async fn read(&self) -> anyhow::Result<Evidence> {
        let secret = secret(&self.webhook_secret);
        let is_server = is_address(&self.database);
        let SandboxLog {
            gateway, ended_at, ..
        } = SandboxLog::read(&self.sandbox_log, is_server)?;
        let (database, files) = read_database(&self.database, true).await?;
        let listing = self.event_log.as_deref().map(listing);
        Ok(Evidence {
            taken_at: ended_at,
            due_at: Millis::MAX,
            database,
            gateway,
            shop: Shop {
                deliveries: deliveries(&self.shop_log)?,
                subscribed: None,
                webhook_secret: secret.context("the webhook's secret is whsec_ and base64")?,
                listing: listing.transpose()?,
            },
            files,
            ..Evidence::default()
        })
    }
}

/// Reads a secret as it is written: `whsec_` and base64. Returns `None` for anything else.
pub(crate) fn secret(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text.strip_prefix("whsec_")?).ok()
}

/// Returns `true` for the address of a server.
fn is_address(database: &str) -> bool {
    database.starts_with("postgres://") || database.starts_with("postgresql://")
}

/// Reads the tables of a database: the path of a file, or the address of one on a server.
///
/// # Errors
/// It cannot be read, or is not the proxy's.
pub async fn read_tables(database: &str) -> anyhow::Result<Database> {
    Ok(read_database(database, false).await?.0)
}

/// Reads the tables. If wanted, also reads all that is stored: the bytes of a file and its journals, after a search for defects of it, or the
/// text of each table of a server.
async fn read_database(
    database: &str,
    is_whole: bool,
) -> anyhow::Result<(Database, Vec<StoredFile>)> {
    if is_address(database) {
        let (mut db, mut stored) = (connect(database).await?, Vec::new());
        let tables = Database::read_postgres(&mut db).await?;
        if is_whole {
            stored = texts(&mut db).await?;
        }
        let _ = db.close().await;
        return Ok((tables, stored));
    }
    let options = SqliteConnectOptions::new().filename(database);
    let db = options.read_only(true).connect().await;
    let mut db = db.with_context(|| format!("{database} cannot be opened"))?;
    let mut tables = Database::read(&mut db).await?;
    if is_whole {
        tables.find_damage(&mut db).await?;
    }
    // An open reader would block the checkpoint of the journal.
    db.close().await?;
    let endings = ["", "-wal", "-shm"].into_iter().filter(|_| is_whole);
    // A journal is removed when the database is closed: its content is in the file then.
    let stored = endings.filter_map(|ending| {
        let name = format!("{database}{ending}");
        let bytes = fs::read(&name).ok()?;
        Some(StoredFile { name, bytes })
    });
    Ok((tables, stored.collect()))
}

/// One snapshot of the server's database.
async fn connect(url: &str) -> anyhow::Result<PgConnection> {
    let options: PgConnectOptions = url.parse().context("--database is no address")?;
    // An error of sqlx names no password.
    let connection = options.application_name("florin-auditor").connect().await;
    let mut db = connection.context("the database server cannot be reached")?;
    let begin = sqlx::raw_sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    begin.execute(&mut db).await?;
    Ok(db)
}

/// Every row as text, but for the widget's files, which are public and millions of digits long. The server's files also hold
/// what was overwritten; no statement returns that.
async fn texts(db: &mut PgConnection) -> anyhow::Result<Vec<StoredFile>> {
    let tables = "SELECT format('%I', tablename) FROM pg_tables
         WHERE schemaname = current_schema() AND tablename <> 'static_files' ORDER BY 1";
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&mut *db).await?;
    let mut texts = Vec::new();
    for table in tables {
        let rows = AssertSqlSafe(format!("SELECT of_table::text FROM {table} AS of_table"));
        let rows: Vec<String> = sqlx::query_scalar(rows).fetch_all(&mut *db).await?;
        texts.push(StoredFile {
            name: format!("the table {table}"),
            bytes: rows.join("\n").into_bytes(),
        });
    }
    Ok(texts)
}

fn lines<T>(
    path: &Path,
    mut read: impl FnMut(&Value) -> anyhow::Result<T>,
) -> anyhow::Result<Vec<T>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let lines = text.lines().enumerate().map(|(index, line)| {
        let mut read = || read(&serde_json::from_str(line)?);
        read().with_context(|| format!("{}, line {}", path.display(), index + 1))
    });
    lines.collect()
}

/// Reads every delivery of the shop's log, oldest first.
///
/// ```json
/// {"at":"2026-01-02T03:04:05.678Z","id":"evt_…","timestamp":"1767323045","signature":"v1,…","body":"{…}","response":204}
/// ```
///
/// `id`, `timestamp` and `signature` are the headers. `body` is the exact text that was received. `response` is the status of
/// the response, null when the connection was closed instead. A line is written before its response is sent.
fn deliveries(path: &Path) -> anyhow::Result<Vec<Delivery>> {
    lines(path, |line| {
        let status = line["response"].as_u64();
        Ok(Delivery {
            at: time(line)?,
            id: text(line, "/id")?,
            body: text(line, "/body")?,
            is_accepted: status.is_some_and(|status| (200..300).contains(&status)),
            signature: Some(Signature {
                timestamp: text(line, "/timestamp")?,
                signature: text(line, "/signature")?,
            }),
        })
    })
}

/// Reads every event that a reader of `GET /v1/events` has read, in the order of reading. They are those of one store.
///
/// ```json
/// {"store":"demo","id":"evt_…"}
/// ```
fn listing(path: &Path) -> anyhow::Result<Listing> {
    let read = lines(path, |line| Ok((text(line, "/store")?, text(line, "/id")?)))?;
    let store = read.first().map(|(store, _)| store.clone());
    let store = store.with_context(|| format!("{} is empty", path.display()))?;
    anyhow::ensure!(
        read.iter().all(|(other, _)| *other == store),
        "{} has events of two stores",
        path.display()
    );
    let events = read.into_iter().map(|(_, id)| id).collect();
    Ok(Listing { store, events })
}

fn time(line: &Value) -> anyhow::Result<Millis> {
    let at: Timestamp = text(line, "/at")?.parse()?;
    Ok(at.as_millisecond())
}

fn text(line: &Value, pointer: &str) -> anyhow::Result<String> {
    let found = line.pointer(pointer).and_then(Value::as_str);
    found
        .map(str::to_owned)
        .with_context(|| format!("no text at {pointer}"))
}
