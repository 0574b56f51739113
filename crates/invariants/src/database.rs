//! The proxy's database, read as the tables that it is: SQLite or PostgreSQL. Both name the columns alike.

use sqlx::postgres::{PgConnection, PgRow};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Decode, Postgres, Row as _, Sqlite, Type};

use crate::Millis;
use crate::amount::{Price, units};
use crate::evidence::{Attempt, Credit, Database, Event, Observation, Order, Refund};
use crate::gateway::{Requested, Shown};

const ORDERS: &str = "SELECT orders.*,
         EXISTS (SELECT 1 FROM attempts WHERE order_id = orders.id AND marked_as_paid_at IS NOT NULL) AS marked
     FROM orders";
const ATTEMPTS: &str = "SELECT attempts.*, polled_at, next_poll_at IS NOT NULL AS scheduled, amount, currency, customer_email
     FROM attempts JOIN orders ON orders.id = attempts.order_id LEFT JOIN polls ON attempt_id = attempts.id
     ORDER BY begun_at";
/// Transactions that write events of one order come one after the other, and so do the positions.
const EVENTS: &str = "SELECT events.*, outbox.state AS outbox FROM events LEFT JOIN outbox ON outbox.order_id = events.order_id
         AND outbox.sequence = events.sequence AND webhook = 'default'
     ORDER BY events.position";
const OBSERVATIONS: &str = "SELECT * FROM observations ORDER BY attempt_id, id";
const CREDITS: &str = "SELECT * FROM credits";
const REFUNDS: &str = "SELECT * FROM refunds";
const TOKENS: &str = "SELECT hash FROM client_tokens";

/// 2000-01-01, where the times of PostgreSQL begin.
const POSTGRES_EPOCH: Millis = 946_684_800_000;

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

trait Connection {
    type Row: Columns;

    async fn rows(&mut self, query: &'static str) -> sqlx::Result<Vec<Self::Row>>;
}

/// A value that both databases can read.
trait Column:
    for<'row> Decode<'row, Sqlite> + Type<Sqlite> + for<'row> Decode<'row, Postgres> + Type<Postgres>
{
}

impl<T> Column for T where
    T: for<'row> Decode<'row, Sqlite>
        + Type<Sqlite>
        + for<'row> Decode<'row, Postgres>
        + Type<Postgres>
{
}

trait Columns {
    fn read<T: Column>(&self, column: &str) -> sqlx::Result<T>;
    fn time(&self, column: &str) -> sqlx::Result<Option<Millis>>;
}

impl Connection for SqliteConnection {
    type Row = SqliteRow;

    async fn rows(&mut self, query: &'static str) -> sqlx::Result<Vec<SqliteRow>> {
        sqlx::query(query).fetch_all(self).await
    }
}

impl Columns for SqliteRow {
    fn read<T: Column>(&self, column: &str) -> sqlx::Result<T> {
        self.try_get(column)
    }

    fn time(&self, column: &str) -> sqlx::Result<Option<Millis>> {
        self.try_get_unchecked(column)
    }
}

impl Connection for PgConnection {
    type Row = PgRow;

    async fn rows(&mut self, query: &'static str) -> sqlx::Result<Vec<PgRow>> {
        sqlx::query(query).fetch_all(self).await
    }
}

impl Columns for PgRow {
    fn read<T: Column>(&self, column: &str) -> sqlx::Result<T> {
        self.try_get(column)
    }

    /// Microseconds since 2000.
    fn time(&self, column: &str) -> sqlx::Result<Option<Millis>> {
        let stored: Option<i64> = self.try_get_unchecked(column)?;
        Ok(stored.map(|since_2000| POSTGRES_EPOCH + since_2000.div_euclid(1000)))
    }
}

async fn values<C: Connection, T>(
    db: &mut C,
    query: &'static str,
    read: impl Fn(&C::Row) -> sqlx::Result<T>,
) -> Result<Vec<T>, ReadError> {
    let rows = db.rows(query).await.map_err(ReadError::of(query))?;
    let values: sqlx::Result<Vec<T>> = rows.iter().map(read).collect();
    values.map_err(ReadError::of(query))
}

async fn read_tables<C: Connection>(db: &mut C) -> Result<Database, ReadError> {
    let mut events = values(db, EVENTS, event).await?;
    events.sort_by(|one: &Event, other| one.order_id.cmp(&other.order_id));
    Ok(Database {
        orders: values(db, ORDERS, order).await?,
        attempts: values(db, ATTEMPTS, attempt).await?,
        observations: values(db, OBSERVATIONS, observation).await?,
        credits: values(db, CREDITS, credit).await?,
        refunds: values(db, REFUNDS, refund).await?,
        events,
        token_hashes: values(db, TOKENS, |row| row.read("hash")).await?,
        damage: None,
    })
}

impl Database {
    /// Reads every table of an open file. It does not ask SQLite for defects of the file.
    ///
    /// # Errors
    /// It lacks a table of the proxy, or a row is not as expected.
    pub async fn read(db: &mut SqliteConnection) -> Result<Self, ReadError> {
        read_tables(db).await
    }

    /// Asks SQLite for defects of the file and for foreign keys without a row.
    ///
    /// # Errors
    /// SQLite cannot read the file.
    pub async fn find_damage(&mut self, db: &mut SqliteConnection) -> Result<(), ReadError> {
        const INTEGRITY: &str = "PRAGMA integrity_check";
        const FOREIGN_KEYS: &str = "PRAGMA foreign_key_check";
        // Both print one row for each defect; the first prints `ok` otherwise.
        let mut damage: Vec<String> = values(db, INTEGRITY, |row| row.try_get(0)).await?;
        damage.retain(|line| line != "ok");
        let dangling = values(db, FOREIGN_KEYS, |row| {
            let (here, there): (String, String) = (row.try_get(0)?, row.try_get(2)?);
            Ok(format!("a row of {here} points to none of {there}"))
        });
        damage.extend(dangling.await?);
        self.damage = Some(damage);
        Ok(())
    }

    pub(crate) async fn read_postgres(db: &mut PgConnection) -> Result<Self, ReadError> {
        read_tables(db).await
    }
}

fn amount(row: &impl Columns, column: &str) -> sqlx::Result<i128> {
    let text: String = row.read(column)?;
    units(&text).ok_or_else(|| sqlx::Error::ColumnDecode {
        index: column.to_owned(),
        source: format!("{text:?} is no amount").into(),
    })
}

fn order(row: &impl Columns) -> sqlx::Result<Order> {
    Ok(Order {
        id: row.read("id")?,
        store: row.read("store_id")?,
        price: Price {
            amount: amount(row, "amount")?,
            tolerance: amount(row, "tolerance")?,
        },
        currency: row.read("currency")?,
        status: row.read("status")?,
        sequence: row.read("sequence")?,
        is_donation: row.read::<String>("price_source")? == "customer",
        is_marked_as_paid: row.read("marked")?,
        decision: row.read("decision")?,
    })
}

fn attempt(row: &impl Columns) -> sqlx::Result<Attempt> {
    Ok(Attempt {
        id: row.read("id")?,
        order_id: row.read("order_id")?,
        requested: requested(row)?,
        shown: Shown {
            local_currency: row.read("local_currency")?,
            address: row.read("address")?,
            qr_string: row.read("qr_string")?,
            page_url: row.read("page_url")?,
        },
        state: row.read("state")?,
        invoice_id: row.read("invoice_id")?,
        payment: row.read("payment_state")?,
        payment_since: row.time("state_since")?,
        expires_at: row.time("expires_at")?,
        polled_at: row.time("polled_at")?,
        observed_at: row.time("observed_at")?,
        is_scheduled: row.read("scheduled")?,
    })
}

/// A session is requested in the order's own currency, and only that.
fn requested(row: &impl Columns) -> sqlx::Result<Requested> {
    if row.read::<String>("flow")? == "hosted" {
        return Ok(Requested::Session {
            email: row.read::<Option<_>>("customer_email")?.unwrap_or_default(),
            currency: row.read("currency")?,
            amount: Some(amount(row, "amount")?),
        });
    }
    Ok(Requested::Invoice {
        conversion_id: row.read("conversion_id")?,
        crypto_code: row.read("crypto_code")?,
        amounts: [
            Some(amount(row, "requested_crypto")?),
            Some(amount(row, "requested_usd")?),
            Some(amount(row, "requested_local")?),
        ],
    })
}

fn observation(row: &impl Columns) -> sqlx::Result<Observation> {
    Ok(Observation {
        id: row.read("id")?,
        attempt_id: row.read("attempt_id")?,
        poll: row.read("poll_seq")?,
        raw: row.read("raw")?,
    })
}

fn credit(row: &impl Columns) -> sqlx::Result<Credit> {
    Ok(Credit {
        order_id: row.read("order_id")?,
        attempt_id: row.read("attempt_id")?,
        observation_id: row.read("observation_id")?,
        amount: amount(row, "amount")?,
        currency: row.read("currency")?,
        // No credit is without its time.
        at: row.time("credited_at")?.unwrap_or_default(),
    })
}

fn refund(row: &impl Columns) -> sqlx::Result<Refund> {
    Ok(Refund {
        order_id: row.read("order_id")?,
        crypto_code: row.read("crypto_code")?,
        amount: amount(row, "amount_in_crypto")?,
    })
}

fn event(row: &impl Columns) -> sqlx::Result<Event> {
    Ok(Event {
        id: row.read("id")?,
        order_id: row.read("order_id")?,
        store: row.read("store_id")?,
        sequence: row.read("sequence")?,
        kind: row.read("type")?,
        payload: row.read("payload")?,
        outbox: row.read("outbox")?,
    })
}
