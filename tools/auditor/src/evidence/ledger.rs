//! The ledger's file, read as the tables that it is.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteRow};
use sqlx::{ConnectOptions as _, Row as _};

use super::{Asked, Shown};

/// What is in the file. Texts stay as they stand there.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) orders: Vec<Order>,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) credits: Vec<Credit>,
    /// By order and position.
    pub(crate) events: Vec<Event>,
    pub(crate) outbox: Vec<Waiting>,
    /// SHA-256 of each client token.
    pub(crate) token_hashes: Vec<Vec<u8>>,
    /// What SQLite itself finds wrong with the file; empty for a sound one.
    pub(crate) damage: Vec<String>,
    /// The file and its journals.
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) id: String,
    pub(crate) amount: String,
    pub(crate) currency: String,
    pub(crate) status: String,
    pub(crate) sequence: i64,
    pub(crate) is_marked_as_paid: bool,
}

#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) id: String,
    pub(crate) order_id: String,
    /// What it says that it asked the service for.
    pub(crate) asked: Asked,
    /// What it says that the service answered.
    pub(crate) shown: Shown,
    pub(crate) state: String,
    pub(crate) invoice_id: Option<String>,
    pub(crate) standing: String,
    pub(crate) is_planned: bool,
}

#[derive(Debug)]
pub(crate) struct Credit {
    pub(crate) order_id: String,
    pub(crate) attempt_id: String,
    pub(crate) amount: String,
    pub(crate) currency: String,
    pub(crate) credited_at_ms: i64,
}

#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) position: i64,
    pub(crate) id: String,
    pub(crate) order_id: String,
    pub(crate) sequence: i64,
    pub(crate) kind: String,
    pub(crate) payload: String,
}

#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) position: i64,
    pub(crate) state: String,
}

impl Ledger {
    /// # Errors
    /// The file is no SQLite database, or lacks a table of the ledger.
    pub(crate) async fn read(path: &Path) -> anyhow::Result<Self> {
        let options = SqliteConnectOptions::new().filename(path).read_only(true);
        let mut db = options
            .connect()
            .await
            .with_context(|| format!("{} cannot be opened", path.display()))?;
        let suffixed = |suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
        let journals = ["-wal", "-shm"].map(suffixed).into_iter();
        Ok(Self {
            damage: damage(&mut db).await?,
            orders: rows(&mut db, ORDERS, order).await?,
            attempts: rows(&mut db, ATTEMPTS, attempt).await?,
            credits: rows(&mut db, CREDITS, credit).await?,
            events: rows(&mut db, EVENTS, event).await?,
            outbox: rows(&mut db, OUTBOX, waiting).await?,
            token_hashes: rows(&mut db, TOKENS, |row| row.try_get("hash")).await?,
            files: std::iter::once(path.to_owned())
                .chain(journals.filter(|journal| journal.exists()))
                .collect(),
        })
    }
}

const ORDERS: &str = "SELECT id, amount, currency, status, sequence, EXISTS (SELECT 1 FROM attempts
     WHERE order_id = orders.id AND marked_as_paid_at IS NOT NULL) AS marked FROM orders";
const ATTEMPTS: &str = "SELECT attempts.*, next_poll_at IS NOT NULL AS planned, amount, currency
     FROM attempts JOIN orders ON orders.id = order_id ORDER BY begun_at";
const CREDITS: &str = "SELECT * FROM credits";
const EVENTS: &str = "SELECT * FROM events ORDER BY order_id, position";
const OUTBOX: &str = "SELECT position, state FROM outbox";
const TOKENS: &str = "SELECT hash FROM client_tokens";

async fn rows<T>(
    db: &mut SqliteConnection,
    query: &'static str,
    read: impl Fn(&SqliteRow) -> sqlx::Result<T>,
) -> anyhow::Result<Vec<T>> {
    let found = sqlx::query(query).fetch_all(db).await;
    let found = found.with_context(|| format!("this is no ledger: {query}"))?;
    let read: sqlx::Result<Vec<T>> = found.iter().map(read).collect();
    read.with_context(|| format!("a row is not as expected: {query}"))
}

/// Both checks print one row for each thing that is wrong; the first prints `ok` otherwise.
async fn damage(db: &mut SqliteConnection) -> anyhow::Result<Vec<String>> {
    let mut damage: Vec<String> = rows(db, "PRAGMA integrity_check", |row| row.try_get(0)).await?;
    damage.retain(|line| line != "ok");
    let dangling = rows(db, "PRAGMA foreign_key_check", |row| {
        Ok(format!(
            "a row of {} points to none of {}",
            row.try_get::<String, _>(0)?,
            row.try_get::<String, _>(2)?
        ))
    });
    damage.extend(dangling.await?);
    Ok(damage)
}

fn order(row: &SqliteRow) -> sqlx::Result<Order> {
    Ok(Order {
        id: row.try_get("id")?,
        amount: row.try_get("amount")?,
        currency: row.try_get("currency")?,
        status: row.try_get("status")?,
        sequence: row.try_get("sequence")?,
        is_marked_as_paid: row.try_get("marked")?,
    })
}

fn attempt(row: &SqliteRow) -> sqlx::Result<Attempt> {
    Ok(Attempt {
        id: row.try_get("id")?,
        order_id: row.try_get("order_id")?,
        asked: asked(row)?,
        shown: shown(row)?,
        state: row.try_get("state")?,
        invoice_id: row.try_get("invoice_id")?,
        standing: row.try_get("standing")?,
        is_planned: row.try_get("planned")?,
    })
}

/// A session is asked for in the order's own currency, and only that.
fn asked(row: &SqliteRow) -> sqlx::Result<Asked> {
    if row.try_get::<&str, _>("flow")? == "hosted" {
        return Ok(Asked::Session {
            currency: row.try_get("currency")?,
            amount: row.try_get("amount")?,
        });
    }
    Ok(Asked::Invoice {
        conversion_id: row.try_get("conversion_id")?,
        crypto_code: row.try_get("crypto_code")?,
        amounts: [
            row.try_get("asked_crypto")?,
            row.try_get("asked_usd")?,
            row.try_get("asked_local")?,
        ],
    })
}

fn shown(row: &SqliteRow) -> sqlx::Result<Shown> {
    Ok(Shown {
        local_currency: row.try_get("local_currency")?,
        address: row.try_get("address")?,
        qr_string: row.try_get("qr_string")?,
        page_url: row.try_get("page_url")?,
    })
}

fn credit(row: &SqliteRow) -> sqlx::Result<Credit> {
    Ok(Credit {
        order_id: row.try_get("order_id")?,
        attempt_id: row.try_get("attempt_id")?,
        amount: row.try_get("amount")?,
        currency: row.try_get("currency")?,
        credited_at_ms: row.try_get("credited_at")?,
    })
}

fn event(row: &SqliteRow) -> sqlx::Result<Event> {
    Ok(Event {
        position: row.try_get("position")?,
        id: row.try_get("id")?,
        order_id: row.try_get("order_id")?,
        sequence: row.try_get("sequence")?,
        kind: row.try_get("type")?,
        payload: row.try_get("payload")?,
    })
}

fn waiting(row: &SqliteRow) -> sqlx::Result<Waiting> {
    Ok(Waiting {
        position: row.try_get("position")?,
        state: row.try_get("state")?,
    })
}
