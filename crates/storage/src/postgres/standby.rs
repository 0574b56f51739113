//! The synchronous standbys of the primary: while one that it waits for is missing, no commit ends.

use sqlx::PgConnection;

use crate::StorageError;

/// Checks that a commit finds the standbys that it waits for. A role without `pg_read_all_stats` sees no standby, and
/// checks nothing.
pub(super) async fn check(connection: &mut PgConnection) -> Result<(), StorageError> {
    let missing: Option<String> = sqlx::query_scalar(
        "SELECT current_setting('synchronous_standby_names') WHERE current_setting('synchronous_standby_names') <> ''
             AND NOT pg_is_in_recovery() AND pg_has_role('pg_read_all_stats', 'USAGE')
             AND NOT EXISTS (SELECT 1 FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))",
    )
    .fetch_optional(connection)
    .await?;
    missing.map_or(Ok(()), |names| Err(StorageError::NoStandby(names)))
}
