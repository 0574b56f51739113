//! Announcements of changed orders, by `NOTIFY`: they only wake.
//!
//! A payload is the announcing process, and behind it the orders: `9f2c… ord_a ord_b`, `9f2c… *` for all of them, or the
//! process alone, by which a listener checks its own connection.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use florin_orders::OrderId;
use sqlx::PgConnection;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPool, PgPoolOptions};

use super::dead_connections::Reading;
use super::options::Pooler;
use crate::{ChangeListener, Changed, Result, StorageError};

const CHANNEL: &str = "florin_orders";
/// Source: PostgreSQL, `NOTIFY`: a payload has fewer than 8000 bytes.
const MAX_PAYLOAD: usize = 7_500;
const ALL: &str = "*";
/// After so long without an announcement, the listener sends one to itself.
const QUIET: Duration = Duration::from_secs(4);
const ARRIVAL: Duration = Duration::from_secs(3);

/// Options of the connection that listens. They hold the password.
#[derive(Clone)]
pub(super) struct ListenOptions(pub(super) Arc<PgConnectOptions>);

impl std::fmt::Debug for ListenOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ListenOptions([redacted])")
    }
}

/// Announces changes. Outside of any transaction: a commit with a notification takes a lock of the whole server.
pub(super) async fn announce(
    connection: &mut PgConnection,
    holder: &str,
    changed: &Changed,
) -> Result<()> {
    for payload in payloads(holder, changed) {
        sqlx::query("SELECT pg_notify($1, $2)")
            .bind(CHANNEL)
            .bind(payload)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

fn payloads(holder: &str, changed: &Changed) -> Vec<String> {
    let orders = match changed {
        Changed::All => return vec![format!("{holder} {ALL}")],
        Changed::Orders(orders) => orders,
    };
    let mut payloads = vec![holder.to_owned()];
    for order in orders {
        let is_full = |payload: &String| payload.len() + 1 + order.as_str().len() > MAX_PAYLOAD;
        if payloads.last().is_none_or(is_full) {
            payloads.push(holder.to_owned());
        }
        if let Some(payload) = payloads.last_mut() {
            payload.push(' ');
            payload.push_str(order.as_str());
        }
    }
    payloads
}

/// What another process announced; `None` of an announcement that is not for this one.
fn foreign(holder: &str, payload: &str) -> Option<Changed> {
    let mut words = payload.split(' ');
    if words.next() == Some(holder) {
        return None;
    }
    let orders: Vec<&str> = words.collect();
    if orders == [ALL] {
        return Some(Changed::All);
    }
    let orders: Vec<OrderId> = orders
        .into_iter()
        .filter_map(|order| OrderId::parse(order).ok())
        .collect();
    (!orders.is_empty()).then_some(Changed::Orders(orders))
}

#[derive(Debug)]
pub(super) struct Listener {
    reader: PgPool,
    pooler: Option<Pooler>,
    holder: Arc<str>,
    connection: PgListener,
    is_asked: bool,
}

impl Listener {
    /// Connects, and waits for an announcement to itself: a pooler between would accept `LISTEN` and deliver nothing.
    pub(super) async fn connect(
        options: PgConnectOptions,
        (reader, pooler): (PgPool, Option<Pooler>),
        holder: Arc<str>,
    ) -> Result<Self> {
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(ARRIVAL)
            .connect_lazy_with(options);
        let mut connection = PgListener::connect_with(&pool).await?;
        connection.eager_reconnect(false);
        connection.listen(CHANNEL).await?;
        let mut listener = Self {
            reader,
            pooler,
            holder,
            connection,
            is_asked: false,
        };
        listener.ask().await?;
        // What others announce meanwhile is found by the reader's first comparison.
        while listener.is_asked {
            listener.receive().await?;
        }
        Ok(listener)
    }

    async fn ask(&mut self) -> Result<()> {
        let asked = tokio::time::timeout(ARRIVAL, async {
            let mut reading = Reading::begin(&self.reader, self.pooler.as_ref()).await?;
            let nothing = Changed::Orders(Vec::new());
            announce(reading.connection(), &self.holder, &nothing).await?;
            reading.end().await;
            Ok(())
        });
        let asked = asked.await.unwrap_or_else(|_| Err(no_notification()));
        self.is_asked = asked.is_ok();
        asked
    }

    async fn receive(&mut self) -> Result<Option<Changed>> {
        let timeout = if self.is_asked { ARRIVAL } else { QUIET };
        match tokio::time::timeout(timeout, self.connection.try_recv()).await {
            Ok(Ok(Some(notification))) => {
                self.is_asked = false;
                Ok(foreign(&self.holder, notification.payload()))
            }
            Ok(Ok(None)) => Err(StorageError::Unreachable("the connection was lost".into())),
            Ok(Err(error)) => Err(error.into()),
            Err(_) if self.is_asked => Err(no_notification()),
            Err(_) => {
                self.ask().await?;
                Ok(None)
            }
        }
    }
}

fn no_notification() -> StorageError {
    let reason = "no notification arrives; a pooler in transaction mode passes none on, and needs database_url_direct beside it";
    StorageError::Unreachable(reason.into())
}

#[async_trait]
impl ChangeListener for Listener {
    async fn next(&mut self) -> Result<Changed> {
        loop {
            if let Some(changed) = self.receive().await? {
                return Ok(changed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_names_every_order_to_all_others_and_is_short_enough() {
        let orders: Vec<OrderId> = (0..=255)
            .flat_map(|first| [[first; 16], [first / 2; 16]])
            .map(OrderId::from_random)
            .collect();
        let payloads = payloads("me", &Changed::Orders(orders.clone()));
        assert!(payloads.len() > 1);
        let mut announced = Vec::new();
        for payload in &payloads {
            assert!(payload.len() < 8_000);
            assert_eq!(foreign("me", payload), None);
            match foreign("you", payload) {
                Some(Changed::Orders(orders)) => announced.extend(orders),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(announced, orders);
    }

    #[test]
    fn what_is_not_understood_wakes_no_stream() {
        let all = payloads("me", &Changed::All);
        assert_eq!(foreign("you", &all[0]), Some(Changed::All));
        for payload in ["", "me", "me * x", "me ord_"] {
            assert_eq!(foreign("you", payload), None, "{payload:?}");
        }
    }
}
