//! The tables that are copied, with their columns, as both databases name them.

use std::collections::HashSet;

use sqlx::{PgConnection, SqliteConnection};

/// Tables of both databases whose rows each process fills anew.
const NOT_COPIED: [&str; 7] = [
    "_sqlx_migrations",
    "identity",
    "price_lists",
    "staff_access",
    "static_files",
    "store_deliveries",
    "write_checks",
];

/// A column that both databases have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    /// As PostgreSQL names it.
    pub(super) kind: String,
    /// Part of the primary key, by which the rows are sorted.
    pub(super) is_key: bool,
    /// PostgreSQL numbers its rows.
    pub(super) is_numbered: bool,
}

/// A table that both databases have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
}

impl Table {
    /// The names of the columns, separated by commas.
    pub(super) fn columns(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|it| it.name.as_str()).collect();
        names.join(", ")
    }

    /// The rows of the file, every value as text.
    pub(super) fn select_from_file(&self) -> String {
        let values = self.columns.iter().map(|column| {
            let name = &column.name;
            if column.kind == "bytea" {
                format!("CASE WHEN {name} IS NOT NULL THEN hex({name}) END")
            } else {
                format!("CAST({name} AS TEXT)")
            }
        });
        let values = values.collect::<Vec<_>>().join(", ");
        format!(
            "SELECT {values} FROM {} ORDER BY {}",
            self.name,
            self.key("")
        )
    }

    /// The rows of the target as lines of `COPY`.
    pub(super) fn copy_from_target(&self) -> String {
        let (columns, name) = (self.columns(), &self.name);
        let key = self.key(" COLLATE \"C\"");
        format!("COPY (SELECT {columns} FROM {name} ORDER BY {key}) TO STDOUT")
    }

    /// The columns of the key. SQLite compares texts by their bytes.
    fn key(&self, of_texts: &str) -> String {
        let key = self.columns.iter().filter(|column| column.is_key);
        let key = key.map(|column| {
            let order = if column.kind == "text" { of_texts } else { "" };
            format!("{}{order}", column.name)
        });
        key.collect::<Vec<_>>().join(", ")
    }
}

/// The tables that both databases have, each behind those that it refers to: the schema makes them in this order.
pub(super) async fn tables(
    from: &mut SqliteConnection,
    to: &mut PgConnection,
) -> sqlx::Result<Vec<Table>> {
    let of_file: Vec<(String, String)> = sqlx::query_as(
        "SELECT tables.name, columns.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
         WHERE tables.type = 'table'",
    )
    .fetch_all(from)
    .await?;
    let of_file: HashSet<(String, String)> = of_file.into_iter().collect();
    let of_target: Vec<(String, String, String, bool, bool)> = sqlx::query_as(
        "SELECT relname::text, attname::text, format_type(atttypid, NULL), attnum = ANY (indkey), attidentity <> ''
         FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
             JOIN pg_index ON indrelid = pg_class.oid AND indisprimary
         WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
         ORDER BY pg_class.oid, attnum",
    )
    .fetch_all(to)
    .await?;
    let mut tables: Vec<Table> = Vec::new();
    for (table, name, kind, is_key, is_numbered) in of_target {
        if NOT_COPIED.contains(&table.as_str()) || !of_file.contains(&(table.clone(), name.clone()))
        {
            continue;
        }
        let column = Column {
            name,
            kind,
            is_key,
            is_numbered,
        };
        match tables.last_mut() {
            Some(last) if last.name == table => last.columns.push(column),
            _ => tables.push(Table {
                name: table,
                columns: vec![column],
            }),
        }
    }
    Ok(tables)
}
