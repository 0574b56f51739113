//! The outbox.

use super::*;

#[tokio::test]
async fn a_store_hears_an_orders_events_in_their_order() {
    let home = home("outbox").await;
    awaiting(&home.ledger, 1).await;
    let due = home
        .ledger
        .due_deliveries(&demo(), at(1), at(31), 9)
        .await
        .unwrap();
    assert_eq!(due.len(), 1, "the second event waits for the first");
    assert_eq!(due[0].event.event_type, EventType::Created);
    assert_eq!(
        home.ledger
            .due_deliveries(&demo(), at(2), at(32), 9)
            .await
            .unwrap(),
        []
    );
    let mut tried = Delivery {
        event_id: due[0].event.id.clone(),
        tried_at: at(2),
        http_status: Some(500),
        note: "answered 500".into(),
    };
    let later = at(7);
    home.ledger
        .record_delivery(&tried, DeliveryOutcome::Retry(later))
        .await
        .unwrap();
    assert_eq!(
        home.ledger
            .due_deliveries(&demo(), at(6), at(36), 9)
            .await
            .unwrap(),
        []
    );
    let again = home
        .ledger
        .due_deliveries(&demo(), at(7), at(37), 9)
        .await
        .unwrap();
    assert_eq!((again[0].tries, &again[0].event), (1, &due[0].event));
    tried.http_status = Some(204);
    home.ledger
        .record_delivery(&tried, DeliveryOutcome::Delivered)
        .await
        .unwrap();
    let next = home
        .ledger
        .due_deliveries(&demo(), at(7), at(37), 9)
        .await
        .unwrap();
    assert_eq!(next[0].event.event_type, EventType::AttemptOpened);
    let store = demo();
    let deliveries = home
        .ledger
        .deliveries(&store, &tried.event_id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        deliveries.iter().map(|t| t.http_status).collect::<Vec<_>>(),
        [Some(500), Some(204)]
    );
    assert!(
        home.ledger
            .redeliver(&store, &tried.event_id, at(50))
            .await
            .unwrap()
    );
    assert_eq!(
        home.ledger
            .due_deliveries(&demo(), at(50), at(80), 9)
            .await
            .unwrap()[0]
            .tries,
        0
    );
}
