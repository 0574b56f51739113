//! A file of SQLite.

use sqlx::Row as _;
use sqlx::sqlite::{SqliteConnection, SqliteRow};

use super::{Connection, Queries, ReadError, values};
use crate::evidence::Database;

const QUERIES: Queries = Queries {
    orders: "SELECT id, store_id, amount, tolerance, currency, status, sequence, price_source, decision,
         EXISTS (SELECT 1 FROM attempts WHERE order_id = orders.id AND marked_as_paid_at IS NOT NULL) AS marked
     FROM orders",
    attempts: "SELECT attempts.*, attempts.payment_state AS payment, state_since AS payment_since,
         coalesce(next_poll_at IS NOT NULL, 0) AS scheduled, amount, currency, customer_email
     FROM attempts JOIN orders ON orders.id = attempts.order_id LEFT JOIN polls ON attempt_id = attempts.id
     ORDER BY begun_at",
    observations: "SELECT id, attempt_id, poll_seq AS poll, raw FROM observations ORDER BY attempt_id, id",
    credits: "SELECT * FROM credits",
    events: "SELECT events.*, outbox.state AS outbox FROM events LEFT JOIN outbox USING (order_id, sequence)
     ORDER BY events.order_id, events.position",
    tokens: "SELECT hash FROM client_tokens",
};

impl Database {
    /// Reads every table of an open file. It does not ask SQLite for defects of the file.
    ///
    /// # Errors
    /// It lacks a table of the proxy, or a row is not as expected.
    pub async fn read(db: &mut SqliteConnection) -> Result<Self, ReadError> {
        Self::read_tables(db, &QUERIES).await
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
}

impl Connection for SqliteConnection {
    type Row = SqliteRow;

    async fn rows(&mut self, query: &'static str) -> sqlx::Result<Vec<SqliteRow>> {
        sqlx::query(query).fetch_all(self).await
    }
}
