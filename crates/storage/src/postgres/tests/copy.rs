//! A file that becomes a database.

use std::collections::BTreeSet;

use sqlx::Connection as _;

use super::*;
use crate::{CopyError, SqliteStorage};

fn file(folder: &tempfile::TempDir) -> String {
    format!("sqlite://{}", folder.path().join("florin.db").display())
}

/// Orders in several states, with texts that `COPY` escapes.
async fn filled(url: &str) -> Vec<Snapshot> {
    let storage = SqliteStorage::open(url, "test").await.unwrap();
    let store: Store = Arc::new(storage.clone());
    let mut odd = terms("odd");
    odd.title = "tab\t line\n back\\slash \\N ü \u{8}\u{b}\u{c}\r".into();
    let opened = store
        .open_order(&id(9), &odd, token(9), at(900), at(0))
        .await;
    opened.unwrap();
    for n in 1..=5 {
        awaiting(&store, n).await;
    }
    crate::contract::observe(&store, 20, exact("COMPLETED")).await;
    store.mark_as_paid(&id(5), None, at(21)).await.unwrap();
    let due = store
        .due_deliveries(&demo(), at(30), at(60), 3)
        .await
        .unwrap();
    for (due, outcome) in due.iter().zip([
        DeliveryOutcome::Delivered,
        DeliveryOutcome::Gone(florin_orders::EndpointHash([7; 32])),
    ]) {
        let delivery = Delivery {
            event_id: due.event.id.clone(),
            tried_at: at(30),
            took: SignedDuration::from_millis(1234),
            http_status: None,
            note: "a\\b\tc".into(),
        };
        store.record_delivery(&delivery, outcome).await.unwrap();
    }
    let all = read(&store).await;
    storage.close().await;
    all
}

async fn read(store: &Store) -> Vec<Snapshot> {
    let filter = OrderFilter {
        limit: 100,
        ..OrderFilter::default()
    };
    store.orders(&demo(), &filter).await.unwrap()
}

#[tokio::test]
async fn a_copied_file_is_served_from_postgresql_and_not_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let (from, name) = (file(&folder), database());
    let to = server().url(&name);
    let before = filled(&from).await;
    let events = {
        let storage = SqliteStorage::open(&from, "test").await.unwrap();
        let events = storage.events(&demo(), None, 100).await.unwrap().unwrap();
        storage.close().await;
        events
    };
    let steps = std::sync::Mutex::new(Vec::new());
    let on_step = |step| steps.lock().unwrap().push(step);
    let copied = crate::copy(&from, &to, "test", &on_step);
    let copied = copied.await.unwrap();
    let steps = steps.into_inner().unwrap();
    let numbers: Vec<usize> = steps
        .iter()
        .map(|step: &crate::CopyStep| step.number)
        .collect();
    assert_eq!(numbers, (1..=copied.len()).collect::<Vec<_>>());
    let names: Vec<&str> = copied.iter().map(|copied| &*copied.table).collect();
    assert_eq!(
        names,
        [
            "orders",
            "client_tokens",
            "requests",
            "attempts",
            "polls",
            "observations",
            "credits",
            "events",
            "outbox",
            "deliveries",
            "disabled_endpoints",
            "audit"
        ]
    );
    assert!(steps.iter().all(|step| step.count == copied.len()));
    let rows = |table| {
        copied
            .iter()
            .find(|copied| copied.table == table)
            .unwrap()
            .rows
    };
    assert_eq!(
        (
            rows("orders"),
            rows("attempts"),
            rows("polls"),
            rows("credits")
        ),
        (6, 5, 5, 1)
    );
    let opened = SqliteStorage::open(&from, "test").await.unwrap_err();
    assert!(matches!(&opened, StorageError::Moved { .. }), "{opened}");
    assert!(
        !opened
            .to_string()
            .contains(to.split([':', '@']).nth(2).unwrap()),
        "{opened}"
    );
    let storage = another(&name).await;
    let store = shared(&storage);
    assert_eq!(read(&store).await, before);
    let copied = storage.events(&demo(), None, 100).await.unwrap().unwrap();
    assert_eq!(copied, events);
    // The copy is in use: the next event, observation and delivery have their own numbers.
    assert!(storage.enable_endpoint(&demo(), at(90)).await.unwrap());
    crate::contract::observe(&store, 90, exact("COMPLETED")).await;
    let last = storage
        .events(&demo(), events.last().map(|event| &event.id), 9)
        .await;
    assert_eq!(last.unwrap().unwrap().len(), 1);
    assert!(matches!(
        crate::copy(&from, &to, "test", &|_| {}).await,
        Err(CopyError::Storage(StorageError::Moved { .. }))
    ));
}

#[tokio::test]
async fn a_target_with_orders_is_refused_and_the_file_stays_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let (from, name) = (file(&folder), database());
    filled(&from).await;
    order(&shared(&another(&name).await), 1).await;
    let refused = crate::copy(&from, &server().url(&name), "test", &|_| {}).await;
    assert!(matches!(refused, Err(CopyError::NotEmpty)), "{refused:?}");
    SqliteStorage::open(&from, "test").await.unwrap();
}

/// A target that changes what it is sent: nothing is kept, and the file stays in use.
#[tokio::test]
async fn a_copy_that_differs_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (from, name) = (file(&folder), database());
    filled(&from).await;
    let spoil = "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN NEW.note = NEW.note || ' '; RETURN NEW; END $$;
         CREATE TRIGGER spoil BEFORE INSERT ON deliveries FOR EACH ROW EXECUTE FUNCTION spoil()";
    server().psql(&name, spoil).unwrap();
    let refused = crate::copy(&from, &server().url(&name), "test", &|_| {}).await;
    assert!(
        matches!(&refused, Err(CopyError::Differs(table)) if table == "deliveries"),
        "{refused:?}"
    );
    assert_eq!(
        server().psql(&name, "SELECT count(*) FROM orders").unwrap(),
        "0"
    );
    SqliteStorage::open(&from, "test").await.unwrap();
}

/// A crash between the two commits leaves the copy and an unmarked file.
#[tokio::test]
async fn a_copy_that_was_interrupted_before_the_file_was_marked_is_completed_by_the_same_command() {
    let folder = tempfile::tempdir().unwrap();
    let (from, name) = (file(&folder), database());
    let to = server().url(&name);
    filled(&from).await;
    mark_is_refused(&from, true).await;
    let interrupted = crate::copy(&from, &to, "test", &|_| {}).await.unwrap_err();
    assert!(
        matches!(interrupted, CopyError::NotMarked(_)),
        "{interrupted}"
    );
    let sentence = interrupted.to_string();
    assert!(
        sentence.contains("run the same command again"),
        "{sentence}"
    );
    mark_is_refused(&from, false).await;
    let orders = "SELECT count(*), max(sequence) FROM orders";
    let before = server().psql(&name, orders).unwrap();
    let copied = crate::copy(&from, &to, "test", &|_| {}).await.unwrap();
    assert_eq!(copied[0].rows, 6);
    assert_eq!(server().psql(&name, orders).unwrap(), before);
    let opened = SqliteStorage::open(&from, "test").await.unwrap_err();
    assert!(matches!(opened, StorageError::Moved { .. }), "{opened}");
}

/// What the file stored after the interrupted copy is not in the target.
#[tokio::test]
async fn a_file_that_was_used_after_an_interrupted_copy_is_not_marked() {
    let folder = tempfile::tempdir().unwrap();
    let (from, name) = (file(&folder), database());
    let to = server().url(&name);
    filled(&from).await;
    mark_is_refused(&from, true).await;
    crate::copy(&from, &to, "test", &|_| {}).await.unwrap_err();
    mark_is_refused(&from, false).await;
    let storage = SqliteStorage::open(&from, "test").await.unwrap();
    let used = storage.cancel_order(&id(9), at(99)).await;
    used.unwrap();
    storage.close().await;
    let refused = crate::copy(&from, &to, "test", &|_| {}).await;
    assert!(matches!(refused, Err(CopyError::NotEmpty)), "{refused:?}");
    SqliteStorage::open(&from, "test").await.unwrap();
}

/// Makes the file refuse its mark, as a process that ends before it does not write it.
async fn mark_is_refused(url: &str, is_refused: bool) {
    let statement = if is_refused {
        "CREATE TRIGGER unmarked BEFORE UPDATE OF moved_to ON identity
         BEGIN SELECT RAISE(ABORT, 'the process ended'); END"
    } else {
        "DROP TRIGGER unmarked"
    };
    let mut file = sqlx::SqliteConnection::connect(url).await.unwrap();
    sqlx::raw_sql(statement).execute(&mut file).await.unwrap();
    file.close().await.unwrap();
}

/// A column that one database alone has is not copied.
#[tokio::test]
async fn both_databases_have_the_same_tables_and_columns() {
    let folder = tempfile::tempdir().unwrap();
    let (from, name) = (file(&folder), database());
    filled(&from).await;
    let mut file = sqlx::SqliteConnection::connect(&from).await.unwrap();
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
    let columns = server().psql(&name, columns).unwrap();
    let of_server: BTreeSet<&str> = columns.split_whitespace().collect();
    let of_one: Vec<_> = of_file.symmetric_difference(&of_server).collect();
    assert_eq!(
        of_one,
        [&"events.tx", &"identity.moved_to", &"polls.recorded_tx"]
    );
}
