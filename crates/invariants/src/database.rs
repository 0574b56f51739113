//! The proxy's database, read as the tables that it is: SQLite or PostgreSQL.

mod columns;
mod postgres;
mod sqlite;

use self::columns::{Columns, amount};
use crate::amount::Price;
use crate::evidence::{Attempt, Credit, Database, Event, Observation, Order};
use crate::gateway::{Requested, Shown};

/// The database cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("this is no database of the proxy: {query}")]
pub struct ReadError {
    query: String,
    source: sqlx::Error,
}

impl ReadError {
    fn of(query: &str) -> impl Fn(sqlx::Error) -> Self {
        move |source| Self {
            query: query.to_owned(),
            source,
        }
    }
}

/// A statement for each table. Both databases name the columns alike.
struct Queries {
    orders: &'static str,
    attempts: &'static str,
    observations: &'static str,
    credits: &'static str,
    events: &'static str,
    tokens: &'static str,
}

/// A connection to either database.
trait Connection {
    type Row: Columns;

    async fn rows(&mut self, query: &'static str) -> sqlx::Result<Vec<Self::Row>>;
}

/// Rows of one statement, each as a value.
async fn values<C: Connection, T>(
    db: &mut C,
    query: &'static str,
    read: impl Fn(&C::Row) -> sqlx::Result<T>,
) -> Result<Vec<T>, ReadError> {
    let rows = db.rows(query).await.map_err(ReadError::of(query))?;
    let values: sqlx::Result<Vec<T>> = rows.iter().map(read).collect();
    values.map_err(ReadError::of(query))
}

impl Database {
    async fn read_tables(db: &mut impl Connection, queries: &Queries) -> Result<Self, ReadError> {
        Ok(Self {
            orders: values(db, queries.orders, order).await?,
            attempts: values(db, queries.attempts, attempt).await?,
            observations: values(db, queries.observations, observation).await?,
            credits: values(db, queries.credits, credit).await?,
            events: values(db, queries.events, event).await?,
            token_hashes: values(db, queries.tokens, |row| row.bytes("hash")).await?,
            damage: None,
        })
    }
}

fn order(row: &impl Columns) -> sqlx::Result<Order> {
    Ok(Order {
        id: row.text("id")?,
        store: row.text("store_id")?,
        price: Price {
            amount: amount(row, "amount")?,
            tolerance: amount(row, "tolerance")?,
        },
        currency: row.text("currency")?,
        status: row.text("status")?,
        sequence: row.number("sequence")?,
        is_donation: row.text("price_source")? == "customer",
        is_marked_as_paid: row.flag("marked")?,
        decision: row.optional_text("decision")?,
    })
}

fn attempt(row: &impl Columns) -> sqlx::Result<Attempt> {
    Ok(Attempt {
        id: row.text("id")?,
        order_id: row.text("order_id")?,
        requested: requested(row)?,
        shown: Shown {
            local_currency: row.optional_text("local_currency")?,
            address: row.optional_text("address")?,
            qr_string: row.optional_text("qr_string")?,
            page_url: row.optional_text("page_url")?,
        },
        state: row.text("state")?,
        invoice_id: row.optional_text("invoice_id")?,
        payment: row.text("payment")?,
        payment_since: row.optional_number("payment_since")?,
        expires_at: row.optional_number("expires_at")?,
        is_scheduled: row.flag("scheduled")?,
    })
}

/// A session is requested in the order's own currency, and only that.
fn requested(row: &impl Columns) -> sqlx::Result<Requested> {
    if row.text("flow")? == "hosted" {
        return Ok(Requested::Session {
            email: row.optional_text("customer_email")?.unwrap_or_default(),
            currency: row.text("currency")?,
            amount: Some(amount(row, "amount")?),
        });
    }
    Ok(Requested::Invoice {
        conversion_id: row.text("conversion_id")?,
        crypto_code: row.text("crypto_code")?,
        amounts: [
            Some(amount(row, "requested_crypto")?),
            Some(amount(row, "requested_usd")?),
            Some(amount(row, "requested_local")?),
        ],
    })
}

fn observation(row: &impl Columns) -> sqlx::Result<Observation> {
    Ok(Observation {
        id: row.number("id")?,
        attempt_id: row.text("attempt_id")?,
        poll: row.number("poll")?,
        raw: row.text("raw")?,
    })
}

fn credit(row: &impl Columns) -> sqlx::Result<Credit> {
    Ok(Credit {
        order_id: row.text("order_id")?,
        attempt_id: row.text("attempt_id")?,
        observation_id: row.number("observation_id")?,
        amount: amount(row, "amount")?,
        currency: row.text("currency")?,
        at: row.number("credited_at")?,
    })
}

fn event(row: &impl Columns) -> sqlx::Result<Event> {
    Ok(Event {
        id: row.text("id")?,
        order_id: row.text("order_id")?,
        store: row.text("store_id")?,
        sequence: row.number("sequence")?,
        kind: row.text("type")?,
        payload: row.text("payload")?,
        outbox: row.optional_text("outbox")?,
    })
}
