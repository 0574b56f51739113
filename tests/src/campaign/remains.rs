//! What a shard leaves for the audit.

use std::path::Path;

use florin_invariants::{Finding, Sources, audit};
use florin_postgres::PostgresServer;

use super::server;
use crate::program::Folder;
use crate::world::secrets;

/// The file of a proxy without a server.
pub(super) const DATABASE: &str = "florin.db";
pub(super) const SANDBOX_LOG: &str = "sandbox.jsonl";
pub(super) const SHOP_LOG: &str = "shop.jsonl";
pub(super) const EVENT_LOG: &str = "events.jsonl";
pub(super) const CLOCK_LOG: &str = "clock.jsonl";

/// What a shard leaves for the audit.
#[derive(Debug)]
pub struct Remains {
    /// Its logs, and the database if that is a file.
    pub folder: Folder,
    /// The server of the database, if there is one.
    pub server: Option<PostgresServer>,
}

impl Remains {
    /// Checks every rule.
    pub async fn audit(&self) -> Vec<Finding> {
        audit_copy(self.folder.path(), &self.database()).await
    }

    /// The path of its database, or the address on the server.
    pub fn database(&self) -> String {
        match &self.server {
            Some(server) => server.url(server::DATABASE),
            None => self.folder.file(DATABASE).display().to_string(),
        }
    }

    pub(super) fn keep(self) -> String {
        let dump = self.folder.file("florin.dump");
        let dumped = self
            .server
            .map(|server| server.dump(server::DATABASE, &dump));
        let folder = self.folder.keep().display().to_string();
        match dumped {
            Some(Err(error)) => format!("{folder} (without a dump: {error})"),
            _ => folder,
        }
    }
}

/// Checks every rule on the logs in a folder and a database, the path of a file or the address of one on a server.
///
/// # Panics
/// Evidence is missing.
pub async fn audit_copy(folder: &Path, database: &str) -> Vec<Finding> {
    let sources = Sources {
        database: database.to_owned(),
        sandbox_log: folder.join(SANDBOX_LOG),
        shop_log: folder.join(SHOP_LOG),
        event_log: Some(folder.join(EVENT_LOG)),
        clock_log: Some(folder.join(CLOCK_LOG)),
        webhook_secret: secrets::WEBHOOK.to_owned(),
    };
    let found = audit(&sources).await;
    found.unwrap_or_else(|error| panic!("evidence is missing: {error:#}"))
}
