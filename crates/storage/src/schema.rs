//! What both databases do with their schema: migrate it, and check all rows.

use sqlx::SqlStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

/// What a check of a whole database found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// The number of rows of each of [`Self::TABLES`].
    pub rows: Vec<(&'static str, i64)>,
    /// What is wrong, a sentence each.
    pub defects: Vec<String>,
}

impl Verified {
    pub(crate) const TABLES: [&'static str; 6] = [
        "orders",
        "attempts",
        "observations",
        "credits",
        "events",
        "deliveries",
    ];
}

pub(crate) fn count(table: &str) -> sqlx::AssertSqlSafe<String> {
    sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"))
}

pub(crate) fn migrator(migrations: &[(i64, &'static str, &'static str)]) -> Migrator {
    let migrations = migrations.iter().map(|(version, name, sql)| {
        let sql = SqlStr::from_static(sql);
        Migration::new(*version, (*name).into(), MigrationType::Simple, sql, false)
    });
    Migrator {
        migrations: migrations.collect(),
        ..Migrator::DEFAULT
    }
}
