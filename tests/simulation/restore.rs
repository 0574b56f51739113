//! A restored backup: a process makes a copy, every process ends later, and the next one starts on the copy.

use florin_invariants::{Database, Restore};
use florin_storage::SqliteStorage;

use crate::proxy::Proxy;
use crate::timeline::Millis;
use crate::world::{Backup, Expectations, World};

/// Longest time between the last process and the copy in its place.
const LONGEST_STOP: Millis = 20_000;

impl World {
    /// Copies the database by the function of `florin-proxy store backup`.
    pub(crate) fn make_backup(&self) {
        let from = self.database_file();
        let number = self.restores.lock().len() + 1;
        let file = from.with_extension(format!("r{number}.db"));
        let url = format!("sqlite://{}", from.display());
        let backup = florin_storage::backup(&url, "test", &file);
        let made = self.database.run(backup);
        made.unwrap_or_else(|error| panic!("no backup: {error}"));
        let made_at = self.timeline.now();
        *self.backup.lock() = Some(Backup { made_at, file });
    }

    /// Returns `true` if a restore has lost this order.
    pub(crate) fn has_lost(&self, order: &str) -> bool {
        let has = |database: &Database| database.orders.iter().any(|it| it.id == order);
        let restores = self.restores.lock();
        let mut restores = restores.iter();
        restores.any(|restore| has(&restore.replaced) && !has(&restore.backup))
    }

    /// What was known of the replaced database holds for the rows of the backup alone.
    fn forget_what_was_lost(&self, backup: &Database) {
        let is_credited = |order: &String| backup.credits.iter().any(|it| it.order_id == *order);
        let mut expectations = self.expectations.lock();
        let Expectations {
            credited,
            known_paid,
            ..
        } = &mut *expectations;
        credited.retain(|order, _| is_credited(order));
        known_paid.retain(is_credited);
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
        let backup = world.backup.lock().take();
        let Backup { made_at, file } = backup.expect("a restore begins with a backup");
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
        for (what, lost) in [
            ("lost orders", lost),
            (
                "lost credits",
                replaced.credits.len() - backup.credits.len(),
            ),
            ("lost events", replaced.events.len() - backup.events.len()),
        ] {
            world.counters.add("restores", what, lost as u64);
        }
        world.restores.lock().push(Restore {
            made_at,
            at: world.timeline.now(),
            backup,
            replaced,
        });
        world.use_file(file);
        self.start_on(storage.expect("a backup of a good database"));
    }
}
