//! Totals, for the operator.

use florin_orders::EndpointHash;

use super::*;
use crate::{Outbox, Totals};

async fn totals(storage: &Store) -> Totals {
    storage.totals().await.unwrap()
}

pub(super) async fn a_payment_needs_review_until_a_clear_response(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    awaiting(&test.storage, 2).await;
    let reviews = async || totals(&test.storage).await.needing_review;
    assert_eq!(reviews().await, 0);
    observe(&test.storage, 20, observed("LOST")).await;
    observe(&test.storage, 20, observed("CHECKING")).await;
    assert_eq!(reviews().await, 1);
    observe(&test.storage, 80, observed("CHECKING")).await;
    observe(&test.storage, 80, observed("CHECKING")).await;
    assert_eq!(reviews().await, 0);
}

pub(super) async fn a_changed_address_needs_review(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    let mut changed = observed("CHECKING");
    changed.address = Some("another".to_owned());
    let recorded = observe(&test.storage, 20, changed).await;
    let is_changed = matches!(recorded.assessment, Assessment::AddressChanged { .. });
    assert!(is_changed, "{recorded:?}");
    assert_eq!(totals(&test.storage).await.needing_review, 1);
}

pub(super) async fn the_oldest_waiting_event_of_each_store_is_found(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    let opened = async |number: u8, store: &str, second: i64| {
        let mut terms = terms(&format!("r{number}"));
        terms.store_id = StoreId::parse(store).unwrap();
        let id = id(number);
        let opened = storage.open_order(&id, &terms, token(number), at(86_400), at(second));
        opened.await.unwrap();
    };
    opened(1, "demo", 10).await;
    opened(2, "demo", 20).await;
    opened(3, "other", 30).await;
    let outbox = |store: &str, waiting, oldest: Option<i64>, is_disabled| Outbox {
        store_id: StoreId::parse(store).unwrap(),
        waiting,
        oldest_at: oldest.map(at),
        is_disabled,
    };
    let outboxes = async || {
        let mut outboxes = totals(storage).await.outboxes;
        outboxes.sort_by_key(|outbox| outbox.store_id.to_string());
        outboxes
    };
    let (demo_waits, other_waits) = (
        outbox("demo", 2, Some(10), false),
        outbox("other", 1, Some(30), false),
    );
    assert_eq!(outboxes().await, [demo_waits, other_waits]);

    let deliver = async |store: &str, outcome| {
        let store = StoreId::parse(store).unwrap();
        let due = storage.due_deliveries(&store, at(60), at(90), 2);
        let due = due.await.unwrap().pop().unwrap();
        let delivery = Delivery {
            event_id: due.event.id,
            tried_at: at(60),
            took: SignedDuration::ZERO,
            http_status: Some(200),
            note: String::new(),
        };
        storage.record_delivery(&delivery, outcome).await.unwrap();
    };
    deliver("demo", DeliveryOutcome::Delivered).await;
    deliver("other", DeliveryOutcome::Gone(EndpointHash([7; 32]))).await;
    let (demo_waits, other_waits) = (
        outbox("demo", 1, Some(20), false),
        outbox("other", 1, Some(30), true),
    );
    assert_eq!(outboxes().await, [demo_waits, other_waits]);
    deliver("demo", DeliveryOutcome::Delivered).await;
    assert_eq!(outboxes().await[0], outbox("demo", 0, None, false));
}
