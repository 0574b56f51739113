//! The check of a whole database.

use sqlx::{Connection as _, PgConnection};

use super::open::{check, connect, options};
use crate::Result;
use crate::schema::{Verified, count};

/// A row that breaks what every transaction keeps, with a sentence about it. Reading each table also makes the server check
/// its pages, if they have checksums.
const CHECKS: [(&str, &str); 6] = [
    (
        "attempts without an order",
        "SELECT count(*) FROM attempts LEFT JOIN orders ON orders.id = order_id WHERE orders.id IS NULL",
    ),
    (
        "credits without an observation of their attempt",
        "SELECT count(*) FROM credits LEFT JOIN observations ON observations.id = observation_id
             AND observations.attempt_id = credits.attempt_id WHERE observations.id IS NULL",
    ),
    (
        "paid orders without a credit, or credits of orders that are not paid",
        "SELECT count(*) FROM orders FULL JOIN credits ON order_id = orders.id
         WHERE (status IN ('paid', 'overpaid')) IS DISTINCT FROM (order_id IS NOT NULL)",
    ),
    (
        "orders whose events are not numbered without a gap",
        "SELECT count(*) FROM (SELECT orders.id FROM orders LEFT JOIN events ON order_id = orders.id
         GROUP BY orders.id, orders.sequence
         HAVING count(events.id) <> orders.sequence OR coalesce(max(events.sequence), 0) <> orders.sequence) AS found",
    ),
    (
        "events without a place in the outbox",
        "SELECT count(*) FROM events LEFT JOIN outbox USING (order_id, sequence) WHERE outbox.state IS NULL",
    ),
    (
        "open attempts without a schedule",
        "SELECT count(*) FROM attempts LEFT JOIN polls ON attempt_id = attempts.id
         WHERE state = 'open' AND attempt_id IS NULL",
    ),
];

/// Reads every table in one snapshot and checks what holds between them.
///
/// # Errors
/// The reason and the remedy, as a sentence.
pub(crate) async fn verify(url: &str, environment: &str) -> Result<Verified, String> {
    let found = read(url, environment).await;
    found.map_err(|error| error.for_postgres().to_string())
}

async fn read(url: &str, environment: &str) -> Result<Verified> {
    let options = options(url)?.application_name("florin-proxy store verify");
    let mut connection = connect(url, &options).await?;
    check(&mut connection, url, environment).await?;
    begin(&mut connection).await?;
    let mut verified = Verified::default();
    for (what, statement) in CHECKS {
        let found: i64 = sqlx::query_scalar(statement)
            .fetch_one(&mut connection)
            .await?;
        if found > 0 {
            verified.defects.push(format!("{found} {what}"));
        }
    }
    for table in Verified::TABLES {
        let rows = sqlx::query_scalar(count(table)).fetch_one(&mut connection);
        verified.rows.push((table, rows.await?));
    }
    let _ = connection.close().await;
    Ok(verified)
}

async fn begin(connection: &mut PgConnection) -> Result<()> {
    let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    sqlx::raw_sql(begin).execute(connection).await?;
    Ok(())
}
