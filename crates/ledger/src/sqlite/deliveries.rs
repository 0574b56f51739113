//! The outbox: which events wait to be told, and what was tried.

use jiff::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::rows::{self, millis};
use crate::{Delivery, DeliveryOutcome, DueDelivery, EventId, LedgerError, StoreId};

pub(super) async fn due(
    tx: &mut SqliteConnection,
    store: &StoreId,
    now: Timestamp,
    lease_until: Timestamp,
    limit: u32,
) -> Result<Vec<DueDelivery>, LedgerError> {
    let leased: Vec<i64> = sqlx::query_scalar(
        "UPDATE outbox SET next_at = ?2 WHERE position IN (
             SELECT position FROM outbox AS mine WHERE state = 'pending' AND store_id = ?4 AND next_at <= ?1
                 AND NOT EXISTS (SELECT 1 FROM outbox AS earlier WHERE earlier.order_id = mine.order_id
                                 AND earlier.state = 'pending' AND earlier.position < mine.position)
             ORDER BY next_at, position LIMIT ?3)
         RETURNING position",
    )
    .bind(millis(now))
    .bind(millis(lease_until))
    .bind(limit)
    .bind(store.as_str())
    .fetch_all(&mut *tx)
    .await?;
    let mut due = Vec::with_capacity(leased.len());
    for position in leased {
        let row = sqlx::query(
            "SELECT events.*, outbox.tries FROM events JOIN outbox USING (position) WHERE position = ?",
        )
        .bind(position)
        .fetch_one(&mut *tx)
        .await?;
        due.push(DueDelivery {
            event: rows::event(&row)?,
            tries: row.try_get("tries")?,
        });
    }
    Ok(due)
}

pub(super) async fn record(
    tx: &mut SqliteConnection,
    delivery: &Delivery,
    outcome: DeliveryOutcome,
) -> Result<(), LedgerError> {
    sqlx::query(
        "INSERT INTO deliveries (event_id, number, tried_at, http_status, note)
         SELECT ?1, count(*) + 1, ?2, ?3, ?4 FROM deliveries WHERE event_id = ?1",
    )
    .bind(delivery.event_id.as_str())
    .bind(millis(delivery.tried_at))
    .bind(delivery.http_status)
    .bind(&delivery.note)
    .execute(&mut *tx)
    .await?;
    let (state, next_at) = match outcome {
        DeliveryOutcome::Delivered => ("delivered", None),
        DeliveryOutcome::GivenUp => ("given_up", None),
        DeliveryOutcome::NotWanted => ("not_wanted", None),
        DeliveryOutcome::Retry(at) => ("pending", Some(at)),
    };
    sqlx::query(
        "UPDATE outbox SET state = ?, tries = tries + 1, next_at = coalesce(?, next_at)
         WHERE position = (SELECT position FROM events WHERE id = ?)",
    )
    .bind(state)
    .bind(next_at.map(millis))
    .bind(delivery.event_id.as_str())
    .execute(tx)
    .await?;
    Ok(())
}

pub(super) async fn of_event(
    connection: &mut SqliteConnection,
    store: &StoreId,
    event: &EventId,
) -> Result<Option<Vec<Delivery>>, LedgerError> {
    if !belongs_to(connection, store, event).await? {
        return Ok(None);
    }
    let tries = sqlx::query("SELECT * FROM deliveries WHERE event_id = ? ORDER BY number")
        .bind(event.as_str())
        .fetch_all(connection)
        .await?;
    tries
        .iter()
        .map(delivery)
        .collect::<Result<_, _>>()
        .map(Some)
}

fn delivery(row: &SqliteRow) -> Result<Delivery, LedgerError> {
    Ok(Delivery {
        event_id: rows::read("an event id", EventId::parse(row.try_get("event_id")?))?,
        tried_at: rows::time(row.try_get("tried_at")?)?,
        http_status: row.try_get("http_status")?,
        note: row.try_get("note")?,
    })
}

pub(super) async fn again(
    tx: &mut SqliteConnection,
    store: &StoreId,
    event: &EventId,
    now: Timestamp,
) -> Result<bool, LedgerError> {
    if !belongs_to(tx, store, event).await? {
        return Ok(false);
    }
    sqlx::query(
        "UPDATE outbox SET state = 'pending', tries = 0, next_at = ?
         WHERE position = (SELECT position FROM events WHERE id = ?)",
    )
    .bind(millis(now))
    .bind(event.as_str())
    .execute(tx)
    .await?;
    Ok(true)
}

async fn belongs_to(
    connection: &mut SqliteConnection,
    store: &StoreId,
    event: &EventId,
) -> Result<bool, LedgerError> {
    let known = "SELECT EXISTS (SELECT 1 FROM events WHERE id = ? AND store_id = ?)";
    let known = sqlx::query_scalar(known)
        .bind(event.as_str())
        .bind(store.as_str());
    Ok(known.fetch_one(connection).await?)
}

pub(super) async fn backlog(connection: &mut SqliteConnection) -> Result<u64, LedgerError> {
    let waiting: i64 = sqlx::query_scalar("SELECT count(*) FROM outbox WHERE state = 'pending'")
        .fetch_one(connection)
        .await?;
    rows::read("a count", u64::try_from(waiting))
}
