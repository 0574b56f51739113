//! A file that becomes a database.

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
    let copied = crate::copy(&from, &to, "test").await.unwrap();
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
        crate::copy(&from, &to, "test").await,
        Err(CopyError::Storage(StorageError::Moved { .. }))
    ));
}

#[tokio::test]
async fn a_target_with_orders_is_refused_and_the_file_stays_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let (from, name) = (file(&folder), database());
    filled(&from).await;
    order(&shared(&another(&name).await), 1).await;
    let refused = crate::copy(&from, &server().url(&name), "test").await;
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
    let refused = crate::copy(&from, &server().url(&name), "test").await;
    assert!(
        matches!(refused, Err(CopyError::Differs("deliveries"))),
        "{refused:?}"
    );
    assert_eq!(
        server().psql(&name, "SELECT count(*) FROM orders").unwrap(),
        "0"
    );
    SqliteStorage::open(&from, "test").await.unwrap();
}
