//! The proxy's SQLite database, read as the tables that it is.

use sqlx::Row as _;
use sqlx::sqlite::{SqliteConnection, SqliteRow};

use crate::amount::units;
use crate::evidence::{
    Attempt, Credit, Database, Event, Observation, Order, Price, Requested, Shown,
};

const ORDERS: &str = "SELECT id, store_id, amount, tolerance, currency, status, sequence, price_source,
         EXISTS (SELECT 1 FROM attempts WHERE order_id = orders.id AND marked_as_paid_at IS NOT NULL) AS marked
     FROM orders";
const ATTEMPTS: &str =
    "SELECT attempts.*, next_poll_at IS NOT NULL AS scheduled, amount, currency, customer_email
     FROM attempts JOIN orders ON orders.id = order_id ORDER BY begun_at";
const OBSERVATIONS: &str =
    "SELECT id, attempt_id, look, raw FROM observations ORDER BY attempt_id, id";
const CREDITS: &str = "SELECT * FROM credits";
const EVENTS: &str =
    "SELECT events.*, outbox.state AS outbox FROM events LEFT JOIN outbox USING (position)
     ORDER BY events.order_id, events.position";
const TOKENS: &str = "SELECT hash FROM client_tokens";

/// The database cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("this is no database of the proxy: {query}")]
pub struct ReadError {
    query: &'static str,
    source: sqlx::Error,
}

impl Database {
    /// Reads every table of an open database. It does not ask SQLite for defects of the file.
    ///
    /// # Errors
    /// It lacks a table of the proxy, or a row is not as expected.
    pub async fn read(db: &mut SqliteConnection) -> Result<Self, ReadError> {
        Ok(Self {
            orders: rows(db, ORDERS, order).await?,
            attempts: rows(db, ATTEMPTS, attempt).await?,
            observations: rows(db, OBSERVATIONS, observation).await?,
            credits: rows(db, CREDITS, credit).await?,
            events: rows(db, EVENTS, event).await?,
            token_hashes: rows(db, TOKENS, |row| row.try_get("hash")).await?,
            damage: None,
        })
    }

    /// Asks SQLite for defects of the file and for foreign keys without a row.
    ///
    /// # Errors
    /// SQLite cannot read the file.
    pub async fn find_damage(&mut self, db: &mut SqliteConnection) -> Result<(), ReadError> {
        // Both print one row for each defect; the first prints `ok` otherwise.
        let mut damage: Vec<String> =
            rows(db, "PRAGMA integrity_check", |row| row.try_get(0)).await?;
        damage.retain(|line| line != "ok");
        let dangling = rows(db, "PRAGMA foreign_key_check", |row| {
            Ok(format!(
                "a row of {} points to none of {}",
                row.try_get::<String, _>(0)?,
                row.try_get::<String, _>(2)?
            ))
        });
        damage.extend(dangling.await?);
        self.damage = Some(damage);
        Ok(())
    }
}

async fn rows<T>(
    db: &mut SqliteConnection,
    query: &'static str,
    read: impl Fn(&SqliteRow) -> sqlx::Result<T>,
) -> Result<Vec<T>, ReadError> {
    let failed = |source| ReadError { query, source };
    let rows = sqlx::query(query).fetch_all(db).await.map_err(failed)?;
    let read: sqlx::Result<Vec<T>> = rows.iter().map(read).collect();
    read.map_err(failed)
}

/// An amount that every row has.
fn amount(row: &SqliteRow, column: &str) -> sqlx::Result<i128> {
    let text: &str = row.try_get(column)?;
    units(text).ok_or_else(|| sqlx::Error::ColumnDecode {
        index: column.to_owned(),
        source: format!("{text:?} is no amount").into(),
    })
}

fn order(row: &SqliteRow) -> sqlx::Result<Order> {
    Ok(Order {
        id: row.try_get("id")?,
        store: row.try_get("store_id")?,
        price: Price {
            amount: amount(row, "amount")?,
            tolerance: amount(row, "tolerance")?,
        },
        currency: row.try_get("currency")?,
        status: row.try_get("status")?,
        sequence: row.try_get("sequence")?,
        is_donation: row.try_get::<&str, _>("price_source")? == "customer",
        is_marked_as_paid: row.try_get("marked")?,
    })
}

fn attempt(row: &SqliteRow) -> sqlx::Result<Attempt> {
    Ok(Attempt {
        id: row.try_get("id")?,
        order_id: row.try_get("order_id")?,
        requested: requested(row)?,
        shown: Shown {
            local_currency: row.try_get("local_currency")?,
            address: row.try_get("address")?,
            qr_string: row.try_get("qr_string")?,
            page_url: row.try_get("page_url")?,
        },
        state: row.try_get("state")?,
        invoice_id: row.try_get("invoice_id")?,
        payment: row.try_get("standing")?,
        payment_since: row.try_get("standing_since")?,
        expires_at: row.try_get("expires_at")?,
        is_scheduled: row.try_get("scheduled")?,
    })
}

/// A session is requested in the order's own currency, and only that.
fn requested(row: &SqliteRow) -> sqlx::Result<Requested> {
    if row.try_get::<&str, _>("flow")? == "hosted" {
        let email: Option<String> = row.try_get("customer_email")?;
        return Ok(Requested::Session {
            email: email.unwrap_or_default(),
            currency: row.try_get("currency")?,
            amount: Some(amount(row, "amount")?),
        });
    }
    Ok(Requested::Invoice {
        conversion_id: row.try_get("conversion_id")?,
        crypto_code: row.try_get("crypto_code")?,
        amounts: [
            Some(amount(row, "asked_crypto")?),
            Some(amount(row, "asked_usd")?),
            Some(amount(row, "asked_local")?),
        ],
    })
}

fn observation(row: &SqliteRow) -> sqlx::Result<Observation> {
    Ok(Observation {
        id: row.try_get("id")?,
        attempt_id: row.try_get("attempt_id")?,
        poll: row.try_get("look")?,
        raw: row.try_get("raw")?,
    })
}

fn credit(row: &SqliteRow) -> sqlx::Result<Credit> {
    Ok(Credit {
        order_id: row.try_get("order_id")?,
        attempt_id: row.try_get("attempt_id")?,
        observation_id: row.try_get("observation_id")?,
        amount: amount(row, "amount")?,
        currency: row.try_get("currency")?,
        at: row.try_get("credited_at")?,
    })
}

fn event(row: &SqliteRow) -> sqlx::Result<Event> {
    Ok(Event {
        id: row.try_get("id")?,
        order_id: row.try_get("order_id")?,
        store: row.try_get("store_id")?,
        sequence: row.try_get("sequence")?,
        kind: row.try_get("type")?,
        payload: row.try_get("payload")?,
        outbox: row.try_get("outbox")?,
    })
}
