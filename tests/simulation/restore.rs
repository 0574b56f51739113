//! A restored backup: a process makes a copy, every process ends later, and the next one starts on the copy.

use std::collections::BTreeSet;

use florin_invariants::{Database, Restore};
use florin_storage::SqliteStorage;

use crate::proxy::Proxy;
use crate::timeline::Millis;
use crate::world::{Backup, World};

/// Longest time between the last process and the copy in its place.
const LONGEST_STOP: Millis = 20_000;

impl World {
    /// Copies the database by the function of `florin-proxy store backup`.
    pub(crate) fn make_backup(&self) {
        let from = self.database_file();
        let number = self.restores().len() + 1;
        let file = self.folder.join(format!("{}-r{number}.db", self.name));
        let url = format!("sqlite://{}", from.display());
        let made = self
            .database
            .run(florin_storage::backup(&url, "test", &file));
        made.unwrap_or_else(|error| panic!("no backup: {error}"));
        let made_at = self.timeline.now();
        let mut backup = self.backup.lock();
        *backup = Some(Backup { made_at, file });
    }

    fn take_backup(&self) -> Backup {
        let mut backup = self.backup.lock();
        backup.take().expect("a restore begins with a backup")
    }

    /// Returns `true` if a restore has lost this order.
    pub(crate) fn has_lost(&self, order: &str) -> bool {
        let has = |database: &Database| database.orders.iter().any(|it| it.id == order);
        let restores = self.restores();
        let mut restores = restores.iter();
        restores.any(|restore| has(&restore.replaced) && !has(&restore.backup))
    }

    /// What was known of the replaced database holds for the rows of the backup alone.
    fn forget_what_was_lost(&self, backup: &Database) {
        let credited: BTreeSet<&str> = backup
            .credits
            .iter()
            .map(|credit| credit.order_id.as_str())
            .collect();
        let mut expectations = self.expectations();
        expectations
            .credited
            .retain(|order, _| credited.contains(order.as_str()));
        expectations
            .known_paid
            .retain(|order| credited.contains(order.as_str()));
    }
}

impl Proxy {
    pub(crate) async fn restore_backups(self) {
        loop {
            self.world().restore_wanted.notified().await;
            self.restore().await;
        }
    }

    async fn restore(&self) {
        let world = self.world().clone();
        let Backup { made_at, file } = world.take_backup();
        self.stop_all("before a restore");
        let pause = world.random.between(1, LONGEST_STOP);
        world.timeline.sleep(pause).await;
        let replaced = world.read_tables(true);
        world.database.run(self.storage().close());
        let url = format!("sqlite://{}", file.display());
        let storage = world.database.run(SqliteStorage::open(&url, "test"));
        world.queries.switch_to(&file);
        let backup = world.read_tables(true);
        world.forget_what_was_lost(&backup);
        let lost = replaced.orders.len() - backup.orders.len();
        world.log(|| format!("a backup is restored, without {lost} orders"));
        world.counters.add("restores", "lost orders", lost as u64);
        let lost = replaced.credits.len() - backup.credits.len();
        world.counters.add("restores", "lost credits", lost as u64);
        let lost = replaced.events.len() - backup.events.len();
        world.counters.add("restores", "lost events", lost as u64);
        world.restores().push(Restore {
            made_at,
            at: world.timeline.now(),
            backup,
            replaced,
        });
        world.use_file(file);
        self.start_on(storage.expect("a backup of a good database"));
    }
}
