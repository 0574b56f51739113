//! A file that becomes a database.

use std::collections::BTreeSet;

use florin_orders::EndpointHash;
use sqlx::{Connection as _, SqliteConnection};
use tempfile::TempDir;

use super::*;
use crate::{
    Actor, CopiedTable, CopyError, CopyStep, Delivery, OperatorStorage as _, SqliteStorage,
};

struct Copying {
    /// Removed at the end.
    _folder: TempDir,
    file: String,
    name: String,
}

impl Copying {
    /// Texts that `COPY` escapes are among its orders.
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = format!("sqlite://{}", folder.path().join("florin.db").display());
        let storage = SqliteStorage::open(&file, "test").await.unwrap();
        let mut odd = terms("odd");
        odd.title = "tab\t line\n back\\slash \\N ü \u{8}\u{b}\u{c}\r".into();
        storage.open(9, &odd, 0).await;
        for n in 1..=5 {
            storage.awaiting(n).await;
        }
        storage.observe(20, exact("COMPLETED")).await;
        let refund = crate::contract::refund(1, "0.0001");
        let ada = Actor::operator("ada");
        storage.refund(&id(1), &refund, &ada, at(21)).await.unwrap();
        storage.mark_as_paid(&id(5), None, at(21)).await.unwrap();
        let gone = DeliveryOutcome::Gone(EndpointHash([7; 32]));
        for (due, outcome) in storage
            .due(30)
            .await
            .iter()
            .zip([DeliveryOutcome::Delivered, gone])
        {
            let delivery = Delivery {
                took: SignedDuration::from_millis(1234),
                http_status: None,
                note: "a\\b\tc".into(),
                ..tried(&due.event.id, 30, 500)
            };
            storage.record_delivery(&delivery, outcome).await.unwrap();
        }
        storage.close().await;
        Self {
            _folder: folder,
            file,
            name: database(),
        }
    }

    fn target(&self) -> String {
        server().url(&self.name)
    }

    fn psql(&self, statement: &str) -> String {
        server().psql(&self.name, statement).unwrap()
    }

    async fn copy(&self) -> Result<Vec<CopiedTable>, CopyError> {
        crate::copy(&self.file, &self.target(), "test", &|_| {}).await
    }

    async fn open_file(&self) -> Result<SqliteStorage> {
        SqliteStorage::open(&self.file, "test").await
    }

    /// Copies, and the file refuses its mark, as a process that ends before it does not write it.
    async fn interrupted(&self) -> CopyError {
        let refuse = "CREATE TRIGGER unmarked BEFORE UPDATE OF moved_to ON identity
             BEGIN SELECT RAISE(ABORT, 'the process ended'); END";
        self.execute(refuse).await;
        let interrupted = self.copy().await.unwrap_err();
        self.execute("DROP TRIGGER unmarked").await;
        interrupted
    }

    async fn execute(&self, statement: &'static str) {
        let mut file = SqliteConnection::connect(&self.file).await.unwrap();
        sqlx::raw_sql(statement).execute(&mut file).await.unwrap();
        file.close().await.unwrap();
    }
}

async fn orders(storage: &impl crate::Storage) -> Vec<Snapshot> {
    let filter = OrderFilter {
        limit: 100,
        ..OrderFilter::default()
    };
    storage.orders(&demo(), &filter).await.unwrap()
}

#[tokio::test]
async fn a_copied_file_is_served_from_postgresql_and_not_opened_again() {
    let copying = Copying::new().await;
    let file = copying.open_file().await.unwrap();
    let (before, events) = (orders(&file).await, file.listed().await);
    file.close().await;
    let steps = std::sync::Mutex::new(Vec::new());
    let on_step = |step: CopyStep| steps.lock().unwrap().push((step.number, step.count));
    let to = copying.target();
    let copied = crate::copy(&copying.file, &to, "test", &on_step).await;
    let copied = copied.unwrap();
    let rows: Vec<_> = copied.iter().map(|it| (&*it.table, it.rows > 0)).collect();
    let expected = [
        ("orders", true),
        ("client_tokens", true),
        ("requests", false),
        ("attempts", true),
        ("polls", true),
        ("observations", true),
        ("credits", true),
        ("events", true),
        ("outbox", true),
        ("deliveries", true),
        ("disabled_endpoints", true),
        ("audit", true),
        ("refunds", true),
    ];
    assert_eq!(rows, expected);
    let steps = steps.into_inner().unwrap();
    let expected = (1..=copied.len()).map(|number| (number, copied.len()));
    assert_eq!(steps, expected.collect::<Vec<_>>());
    let opened = copying.open_file().await.unwrap_err();
    assert!(matches!(&opened, StorageError::Moved { .. }), "{opened}");
    let password = to.split([':', '@']).nth(2).unwrap();
    assert!(!opened.to_string().contains(password), "{opened}");
    let storage = another(&copying.name).await;
    assert_eq!(orders(&storage).await, before);
    assert_eq!(storage.listed().await, events);
    // The copy is in use: the next event, observation and delivery have their own numbers.
    assert!(storage.enable_endpoint(&hook(), at(90)).await.unwrap());
    storage.observe(90, exact("COMPLETED")).await;
    assert_eq!(storage.listed().await.len(), events.len() + 1);
    let again = copying.copy().await.unwrap_err();
    let is_moved = matches!(again, CopyError::Storage(StorageError::Moved { .. }));
    assert!(is_moved, "{again}");
}

/// A target that changes what it is sent: nothing is kept, and the file stays in use.
#[tokio::test]
async fn a_copy_that_differs_is_not_kept() {
    let copying = Copying::new().await;
    let spoil = "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN NEW.note = NEW.note || ' '; RETURN NEW; END $$;
         CREATE TRIGGER spoil BEFORE INSERT ON deliveries FOR EACH ROW EXECUTE FUNCTION spoil()";
    copying.psql(spoil);
    let refused = copying.copy().await.unwrap_err();
    let is_found = matches!(&refused, CopyError::Differs(table) if table == "deliveries");
    assert!(is_found, "{refused}");
    assert_eq!(copying.psql("SELECT count(*) FROM orders"), "0");
    copying.open_file().await.unwrap();
}

/// A crash between the two commits leaves the copy and an unmarked file.
#[tokio::test]
async fn a_copy_that_was_interrupted_before_the_file_was_marked_is_completed_by_the_same_command() {
    let copying = Copying::new().await;
    let interrupted = copying.interrupted().await;
    let is_unmarked = matches!(interrupted, CopyError::NotMarked(_));
    assert!(is_unmarked, "{interrupted}");
    let sentence = interrupted.to_string();
    assert!(
        sentence.contains("run the same command again"),
        "{sentence}"
    );
    let rows = "SELECT count(*), max(sequence) FROM orders";
    let before = copying.psql(rows);
    assert_eq!(copying.copy().await.unwrap()[0].rows, 6);
    assert_eq!(copying.psql(rows), before);
    let opened = copying.open_file().await.unwrap_err();
    assert!(matches!(opened, StorageError::Moved { .. }), "{opened}");
}

/// What the file stored after the interrupted copy is not in the target.
#[tokio::test]
async fn a_file_that_was_used_after_an_interrupted_copy_is_not_marked() {
    let copying = Copying::new().await;
    copying.interrupted().await;
    let storage = copying.open_file().await.unwrap();
    storage.cancel_order(&id(9), at(99)).await.unwrap();
    storage.close().await;
    let refused = copying.copy().await.unwrap_err();
    assert!(matches!(refused, CopyError::NotEmpty), "{refused}");
    copying.open_file().await.unwrap();
}

/// A column that one database alone has is not copied.
#[tokio::test]
async fn both_databases_have_the_same_tables_and_columns() {
    let copying = Copying::new().await;
    let mut file = SqliteConnection::connect(&copying.file).await.unwrap();
    let columns: Vec<String> = sqlx::query_scalar(
        "SELECT m.name || '.' || c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
         WHERE m.type = 'table' AND m.name <> '_sqlx_migrations'",
    )
    .fetch_all(&mut file)
    .await
    .unwrap();
    let of_file: BTreeSet<&str> = columns.iter().map(String::as_str).collect();
    let columns = "SELECT string_agg(table_name || '.' || column_name, ' ')
         FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> ALL (ARRAY[
             '_sqlx_migrations', 'delays', 'file_copies', 'gateway_accounts', 'rate_limits', 'schema_compatibility'])";
    let columns = copying.psql(columns);
    let of_server: BTreeSet<&str> = columns.split_whitespace().collect();
    let of_one: Vec<_> = of_file.symmetric_difference(&of_server).collect();
    let expected = [&"events.tx", &"identity.moved_to", &"polls.recorded_tx"];
    assert_eq!(of_one, expected);
}
