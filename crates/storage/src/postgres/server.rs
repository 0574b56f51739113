//! The state of the server, for the readiness page.

use std::time::Duration;

use jiff::Timestamp;
use sqlx::PgConnection;

use super::PostgresStorage;
use super::dead_connections::no_response;
use crate::rows::Time;
use crate::{Result, ServerState, Standbys, StorageError};

/// Readiness fails within five seconds, and says that the server does not answer.
const LONGEST_CHECK: Duration = Duration::from_millis(2500);

impl PostgresStorage {
    pub(super) async fn write_check(&self, now: Timestamp) -> Result<()> {
        let check = async {
            read!(self, |reader| check_standby(reader))?;
            transaction!(self, Fail, [], |tx| async {
                sqlx::query(
                    "INSERT INTO write_checks (id, written_at) VALUES (1, $1)
                     ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at",
                )
                .bind(Time(now))
                .execute(&mut **tx)
                .await?;
                Ok(())
            })
        };
        let checked = tokio::time::timeout(LONGEST_CHECK, check).await;
        checked.unwrap_or_else(|_| Err(no_response()))
    }
}

/// The schema's version, the time, the oldest transaction that has written, and the standbys.
pub(super) async fn state(connection: &mut PgConnection) -> Result<ServerState> {
    let (schema, Time(now), oldest_write_seconds, may_see, connected, synchronous) =
        sqlx::query_as::<_, (i64, Time, i64, bool, i64, i64)>(
            "SELECT (SELECT coalesce(max(version), 0) FROM _sqlx_migrations WHERE success), clock_timestamp(),
                 coalesce(extract(epoch FROM clock_timestamp() - least(
                     (SELECT min(xact_start) FROM pg_stat_activity
                         WHERE backend_xid IS NOT NULL AND datname = current_database()),
                     (SELECT min(prepared) FROM pg_prepared_xacts)))::bigint, 0),
                 pg_has_role('pg_read_all_stats', 'USAGE'), count(*),
                 count(*) FILTER (WHERE sync_state IN ('sync', 'quorum'))
             FROM pg_stat_replication WHERE state = 'streaming'",
        )
        .fetch_one(connection)
        .await?;
    let standbys = Standbys {
        connected,
        synchronous,
    };
    Ok(ServerState {
        schema,
        now,
        oldest_write_seconds: may_see.then_some(oldest_write_seconds),
        standbys: may_see.then_some(standbys),
    })
}

/// Checks that a commit finds the synchronous standbys that it waits for: while one is missing, no commit ends. A role
/// without `pg_read_all_stats` sees no standby, and checks nothing.
async fn check_standby(connection: &mut PgConnection) -> Result<()> {
    let missing: Option<String> = sqlx::query_scalar(
        "SELECT current_setting('synchronous_standby_names') WHERE current_setting('synchronous_standby_names') <> ''
             AND NOT pg_is_in_recovery() AND pg_has_role('pg_read_all_stats', 'USAGE')
             AND NOT EXISTS (SELECT 1 FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))",
    )
    .fetch_optional(connection)
    .await?;
    missing.map_or(Ok(()), |names| Err(StorageError::NoStandby(names)))
}
