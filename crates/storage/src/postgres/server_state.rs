//! What the readiness page shows of the server.

use sqlx::PgConnection;

use super::time::Time;
use crate::{ServerState, StorageError};

/// The schema's version and the time.
pub(super) async fn server_state(
    connection: &mut PgConnection,
) -> Result<ServerState, StorageError> {
    let (schema, Time(now)): (i64, Time) = sqlx::query_as(
        "SELECT coalesce(max(version), 0), clock_timestamp() FROM _sqlx_migrations WHERE success",
    )
    .fetch_one(connection)
    .await?;
    Ok(ServerState { schema, now })
}
