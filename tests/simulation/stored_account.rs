//! The row of the gateway account that the proxies of a world share.

use florin_gateway::{AccountState, AccountStep};
use jiff::Timestamp;
use parking_lot::{Mutex, MutexGuard};

/// The row. A change of it is one step: no other one is seen in between.
#[derive(Debug, Default)]
pub(crate) struct StoredAccount(Mutex<Row>);

#[derive(Debug, Default)]
struct Row {
    state: Option<String>,
    version: i64,
}

impl StoredAccount {
    /// The row at this time by the database's clock.
    pub(crate) fn read(&self, now: Timestamp) -> AccountState {
        let row = self.row();
        AccountState {
            state: row.state.clone(),
            version: row.version,
            now,
        }
    }

    /// Stores what a step makes of the row. Returns its version.
    pub(crate) fn change(&self, step: &AccountStep, now: Timestamp) -> i64 {
        let mut row = self.row();
        if let Some(new) = step(row.state.as_deref(), now) {
            row.state = Some(new.state);
            row.version += 1;
        }
        row.version
    }

    fn row(&self) -> MutexGuard<'_, Row> {
        self.0.lock()
    }
}
