//! The limits of the gateway account: in this process with SQLite, in the account's row with PostgreSQL.

use std::sync::Arc;

use async_trait::async_trait;
use florin_gateway_client::{
    AccountRow, AccountRowError, AccountState, AccountStep, Client, Clock, NewAccountState,
    Settings, SettingsError,
};
use florin_storage::{Database, NewGatewayAccount, PostgresStorage, StorageError};

use crate::clock::SystemRandom;

/// Prepares the gateway's client. With PostgreSQL all processes on the database share its limits and nonces; a runtime of
/// tokio is needed.
///
/// # Errors
/// [`SettingsError`]
pub fn client(
    settings: Settings,
    database: &Database,
    clock: Arc<dyn Clock>,
) -> Result<Client, SettingsError> {
    let account = settings.account();
    let client = Client::new(settings, clock.clone(), Arc::new(SystemRandom))?;
    Ok(match database {
        Database::Sqlite(_) => client,
        Database::Postgres(storage) => client.sharing(Arc::new(StoredAccount {
            storage: storage.clone(),
            account,
            clock,
        })),
    })
}

struct StoredAccount {
    storage: PostgresStorage,
    account: String,
    clock: Arc<dyn Clock>,
}

#[async_trait]
impl AccountRow for StoredAccount {
    async fn read(&self) -> Result<AccountState, AccountRowError> {
        let now = self.clock.now();
        let found = self.storage.gateway_account(&self.account, now).await;
        let found = found.map_err(|error| failure(&error))?;
        Ok(AccountState {
            state: found.state,
            version: found.version,
            now: found.now,
        })
    }

    async fn change(&self, step: AccountStep) -> Result<i64, AccountRowError> {
        let new = |new: NewAccountState| NewGatewayAccount {
            state: new.state,
            is_durable: new.is_durable,
        };
        let changed = self.storage.change_gateway_account(
            &self.account,
            self.clock.now(),
            Arc::new(move |state, now| step(state, now).map(new)),
        );
        changed.await.map_err(|error| failure(&error))
    }
}

fn failure(error: &StorageError) -> AccountRowError {
    AccountRowError(error.to_string())
}
