//! A PostgreSQL database.

use sqlx::AssertSqlSafe;
use sqlx::postgres::{PgConnection, PgRow};

use super::columns::Columns as _;
use super::{Connection, Queries, ReadError, values};
use crate::evidence::Database;

/// Events by the place in which readers of the list see them.
const QUERIES: Queries = Queries {
    orders: "SELECT id, store_id, amount, tolerance, currency, status, sequence, price_source, decision,
         EXISTS (SELECT 1 FROM attempts WHERE order_id = orders.id AND marked_as_paid_at IS NOT NULL) AS marked
     FROM orders",
    attempts: "SELECT attempts.id, attempts.order_id, attempts.flow, conversion_id, crypto_code, requested_crypto,
         requested_usd, requested_local, local_currency, address, qr_string, page_url, state, attempts.invoice_id,
         attempts.payment_state AS payment, (extract(epoch FROM state_since) * 1000)::bigint AS payment_since,
         (extract(epoch FROM attempts.expires_at) * 1000)::bigint AS expires_at,
         coalesce(next_poll_at IS NOT NULL, false) AS scheduled, amount, currency, customer_email
     FROM attempts JOIN orders ON orders.id = attempts.order_id LEFT JOIN polls ON attempt_id = attempts.id
     ORDER BY begun_at",
    observations: "SELECT id, attempt_id, poll_seq AS poll, raw FROM observations ORDER BY attempt_id, id",
    credits: "SELECT order_id, attempt_id, observation_id, amount, currency,
         (extract(epoch FROM credited_at) * 1000)::bigint AS credited_at
     FROM credits",
    events: "SELECT events.*, outbox.state AS outbox FROM events LEFT JOIN outbox USING (order_id, sequence)
     ORDER BY events.order_id COLLATE \"C\", events.tx, events.position",
    tokens: "SELECT hash FROM client_tokens",
};
/// Each foreign key with its table, as a statement that counts rows which point to none.
const DANGLING: &str = "SELECT conrelid::regclass::text AS here, confrelid::regclass::text AS there,
         format('SELECT count(*) AS found FROM %s AS here WHERE %s AND NOT EXISTS (SELECT 1 FROM %s AS there WHERE %s)',
             conrelid::regclass, string_agg(format('here.%I IS NOT NULL', child.attname), ' AND '), confrelid::regclass,
             string_agg(format('here.%I = there.%I', child.attname, parent.attname), ' AND ')) AS statement
     FROM pg_constraint, unnest(conkey, confkey) AS pair (child, parent)
         JOIN pg_attribute AS child ON child.attnum = pair.child
         JOIN pg_attribute AS parent ON parent.attnum = pair.parent
     WHERE contype = 'f' AND child.attrelid = conrelid AND parent.attrelid = confrelid
         AND connamespace = current_schema()::regnamespace
     GROUP BY pg_constraint.oid, conrelid, confrelid ORDER BY 1, 2";

impl Database {
    /// Reads every table of a PostgreSQL database.
    ///
    /// # Errors
    /// It lacks a table of the proxy, or a row is not as expected.
    pub async fn read_postgres(db: &mut PgConnection) -> Result<Self, ReadError> {
        Self::read_tables(db, &QUERIES).await
    }

    /// Looks for foreign keys without a row. The server reads every table and checks each page that has a checksum.
    ///
    /// # Errors
    /// The server cannot read a table.
    pub async fn find_damage_postgres(&mut self, db: &mut PgConnection) -> Result<(), ReadError> {
        let keys = values(db, DANGLING, |row| {
            Ok((
                row.text("here")?,
                row.text("there")?,
                row.text("statement")?,
            ))
        });
        let keys = keys.await?;
        let mut damage = Vec::new();
        for (here, there, statement) in keys {
            let found = sqlx::query_scalar(AssertSqlSafe(statement.clone()));
            let found: i64 = found
                .fetch_one(&mut *db)
                .await
                .map_err(ReadError::of(&statement))?;
            if found > 0 {
                damage.push(format!("{found} rows of {here} point to none of {there}"));
            }
        }
        self.damage = Some(damage);
        Ok(())
    }
}

impl Connection for PgConnection {
    type Row = PgRow;

    async fn rows(&mut self, query: &'static str) -> sqlx::Result<Vec<PgRow>> {
        sqlx::query(query).fetch_all(self).await
    }
}
