//! The outbox.

use florin_orders::{DeliveryId, EndpointHash};

use super::*;
use crate::DisabledEndpoint;

pub(super) async fn events_of_an_order_are_delivered_in_their_order(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    let due = test.due(1).await;
    assert_eq!(due.len(), 1, "the second event waits for the first");
    assert_eq!(due[0].event.event_type, EventType::Created);
    assert_eq!(test.due(2).await, []);
    let mut tried = Delivery {
        event_id: due[0].event.id.clone(),
        tried_at: at(2),
        took: SignedDuration::from_millis(40),
        http_status: Some(500),
        note: "answered 500".into(),
    };
    test.storage
        .record_delivery(&tried, retry(2, 7))
        .await
        .unwrap();
    assert_eq!(test.due(6).await, []);
    let again = test.due(7).await;
    assert_eq!((again[0].tries, &again[0].event), (1, &due[0].event));
    tried.http_status = Some(204);
    test.storage
        .record_delivery(&tried, DeliveryOutcome::Delivered)
        .await
        .unwrap();
    let next = test.due(7).await;
    assert_eq!(next[0].event.event_type, EventType::AttemptOpened);
    let store = demo();
    let filter = DeliveryFilter {
        event: Some(tried.event_id.clone()),
        limit: 9,
        ..DeliveryFilter::default()
    };
    let page = test.storage.deliveries(&store, &filter).await.unwrap();
    let statuses = |page: Vec<RecordedDelivery>| {
        let statuses = page.into_iter().map(|one| one.delivery.http_status);
        statuses.collect::<Vec<_>>()
    };
    let page = page.unwrap();
    let latest = page[0].id.clone();
    assert_eq!(latest, DeliveryId::of(&tried.event_id, 2));
    assert_eq!(page[0].delivery, tried);
    assert_eq!(statuses(page), [Some(204), Some(500)]);
    let older = DeliveryFilter {
        event: None,
        after: Some(latest),
        limit: 9,
    };
    let page = test.storage.deliveries(&store, &older).await.unwrap();
    assert_eq!(statuses(page.unwrap()), [Some(500)]);
    assert!(
        test.storage
            .redeliver(&store, &tried.event_id, at(50))
            .await
            .unwrap()
    );
    assert_eq!(test.due(50).await[0].tries, 0);
}

fn tried(due: &DueDelivery, second: i64) -> Delivery {
    Delivery {
        event_id: due.event.id.clone(),
        tried_at: at(second),
        took: SignedDuration::ZERO,
        http_status: Some(410),
        note: "answered 410".into(),
    }
}

pub(super) async fn nothing_is_sent_to_an_endpoint_that_is_gone_and_nothing_is_lost(
    backend: Backend,
) {
    let test = backend.test().await;
    let (storage, store) = (&test.storage, demo());
    awaiting(storage, 1).await;
    order(storage, 2).await;
    let due = async |second| {
        let due = storage.due_deliveries(&store, at(second), at(second + 30), 9);
        due.await.unwrap()
    };
    let first = due(1).await;
    assert_eq!(first.len(), 2);
    let (endpoint, other) = (EndpointHash([7; 32]), EndpointHash([8; 32]));
    for (event, endpoint, second) in [(&first[0], endpoint, 2), (&first[1], other, 3)] {
        let (tried, outcome) = (tried(event, second), DeliveryOutcome::Gone(endpoint));
        storage.record_delivery(&tried, outcome).await.unwrap();
    }
    assert_eq!(due(3600).await, []);
    let since = at(2);
    let disabled = EndpointStatus {
        waiting: 3,
        gone: Some(DisabledEndpoint { endpoint, since }),
    };
    assert_eq!(storage.endpoint_status(&store).await.unwrap(), disabled);

    assert!(storage.enable_endpoint(&store, at(3600)).await.unwrap());
    let again = due(3600).await;
    let tries: Vec<_> = again.iter().map(|due| (&due.event.id, due.tries)).collect();
    assert_eq!(tries, [(&first[0].event.id, 0), (&first[1].event.id, 0)]);
    assert!(!storage.enable_endpoint(&store, at(3601)).await.unwrap());
}

pub(super) async fn a_stores_deliveries_are_its_own(backend: Backend) {
    let test = backend.test().await;
    let (storage, store) = (&test.storage, demo());
    awaiting(storage, 1).await;
    let due = storage
        .due_deliveries(&store, at(1), at(31), 9)
        .await
        .unwrap();
    let (tried, outcome) = (tried(&due[0], 1), DeliveryOutcome::Delivered);
    storage.record_delivery(&tried, outcome).await.unwrap();
    let other = StoreId::parse("other").unwrap();
    let all = DeliveryFilter {
        limit: 9,
        ..DeliveryFilter::default()
    };
    assert_eq!(
        storage.deliveries(&other, &all).await.unwrap(),
        Some(vec![])
    );
    let of_event = DeliveryFilter {
        event: Some(due[0].event.id.clone()),
        ..all.clone()
    };
    assert_eq!(storage.deliveries(&other, &of_event).await.unwrap(), None);
    let after = DeliveryFilter {
        after: Some(DeliveryId::of(&due[0].event.id, 1)),
        ..all
    };
    assert_eq!(storage.deliveries(&other, &after).await.unwrap(), None);
    assert_eq!(
        storage.deliveries(&store, &after).await.unwrap(),
        Some(vec![])
    );
}

pub(super) async fn events_of_a_donation_have_their_own_names(backend: Backend) {
    let test = backend.test().await;
    let mut donation = terms("r1");
    donation.price_source = florin_orders::PriceSource::Customer;
    test.storage
        .open_order(&id(1), &donation, token(1), at(86_400), at(0))
        .await
        .unwrap();
    attempt(&test.storage, 1, 1).await;
    observe(&test.storage, 20, exact("COMPLETED")).await;
    let events = test.storage.events(&demo(), None, 9).await.unwrap();
    let events = events.unwrap();
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(
        kinds,
        [
            "donation.created",
            "donation.attempt_opened",
            "donation.paid"
        ]
    );
    for event in &events {
        let expected = format!("\"type\":\"{}\"", event.kind);
        assert!(event.payload.contains(&expected), "{}", event.payload);
        assert!(event.payload.contains("\"price_source\":\"customer\""));
    }
    assert_eq!(events[2].event_type, EventType::Paid);
}

/// Found by the simulation: a process that was frozen during a delivery came back after another
/// process had made the delivery, and after the next event was delivered; its failure put the first
/// event back into the outbox.
pub(super) async fn a_late_failure_does_not_undo_a_delivery(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    let due = test.storage.due_deliveries(&demo(), at(1), at(31), 9).await;
    let created = due.unwrap().remove(0).event;
    let tried = Delivery {
        event_id: created.id.clone(),
        tried_at: at(1),
        took: SignedDuration::from_secs(1),
        http_status: None,
        note: "no response in time".into(),
    };
    for outcome in [
        DeliveryOutcome::Delivered,
        retry(2, 60),
        DeliveryOutcome::GivenUp,
    ] {
        test.storage.record_delivery(&tried, outcome).await.unwrap();
    }
    let next = test
        .storage
        .due_deliveries(&demo(), at(99), at(130), 9)
        .await;
    let next: Vec<EventType> = next
        .unwrap()
        .iter()
        .map(|due| due.event.event_type)
        .collect();
    assert_eq!(next, [EventType::AttemptOpened]);
}

pub(super) async fn a_redelivery_waits_for_no_try_in_progress(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    let tried = test.due(1).await.remove(0);
    let store = demo();
    let again = test.storage.redeliver(&store, &tried.event.id, at(2));
    assert!(again.await.unwrap());
    assert_eq!(test.due(2).await[0].event, tried.event);
}

pub(super) async fn a_redelivery_delays_no_later_event(backend: Backend) {
    let test = backend.test().await;
    let (storage, store) = (&test.storage, demo());
    awaiting(storage, 1).await;
    let due = async |second| {
        let due = storage.due_deliveries(&store, at(second), at(second + 30), 9);
        due.await.unwrap()
    };
    let types = |due: &[DueDelivery]| {
        let types = due.iter().map(|due| due.event.event_type);
        types.collect::<Vec<_>>()
    };
    let created = due(1).await.remove(0);
    let done = DeliveryOutcome::Delivered;
    let taken = storage.record_delivery(&tried(&created, 1), done).await;
    taken.unwrap();
    // Asked for twice, and the store is down each time.
    for second in [10, 20] {
        let again = storage.redeliver(&store, &created.event.id, at(second));
        assert!(again.await.unwrap());
    }
    let both = due(20).await;
    assert_eq!(types(&both), [E::Created, E::AttemptOpened]);
    let (lost, later) = (tried(&both[0], 21), retry(21, 600));
    storage.record_delivery(&lost, later).await.unwrap();
    assert_eq!(types(&due(100).await), [E::AttemptOpened]);
}

pub(super) async fn an_abandoned_event_is_redelivered_before_pending_ones(backend: Backend) {
    let test = backend.test().await;
    let (storage, store) = (&test.storage, demo());
    for number in [1, 2] {
        awaiting(storage, number).await;
    }
    let first = storage.due_deliveries(&store, at(1), at(31), 9);
    for created in first.await.unwrap() {
        let (lost, outcome) = (tried(&created, 1), DeliveryOutcome::GivenUp);
        storage.record_delivery(&lost, outcome).await.unwrap();
        if created.event.order_id == id(1) {
            let again = storage.redeliver(&store, &created.event.id, at(10));
            assert!(again.await.unwrap());
        }
    }
    let due = storage.due_deliveries(&store, at(10), at(40), 9);
    let due = due.await.unwrap();
    assert_eq!(due.len(), 2);
    // The other order's next event does not wait for the abandoned one.
    for (number, event_type) in [(1, E::Created), (2, E::AttemptOpened)] {
        let of_order = due.iter().find(|due| due.event.order_id == id(number));
        assert_eq!(of_order.unwrap().event.event_type, event_type);
    }
}

pub(super) async fn events_of_orders_with_money_are_delivered_before_all_others(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    for number in 1..=5 {
        order(storage, number).await;
    }
    awaiting(storage, 6).await;
    observe(storage, 20, exact("COMPLETED")).await;
    let mut delivered = Vec::new();
    while delivered.len() < 4 {
        let mut due = storage
            .due_deliveries(&demo(), at(30), at(60), 1)
            .await
            .unwrap();
        let due = due.pop().unwrap();
        assert_eq!(due.event.order_id, id(6), "{:?}", due.event.event_type);
        let accepted = Delivery {
            http_status: Some(204),
            ..tried(&due, 30)
        };
        storage
            .record_delivery(&accepted, DeliveryOutcome::Delivered)
            .await
            .unwrap();
        delivered.push(due.event.event_type);
        if due.event.event_type == EventType::Paid {
            break;
        }
    }
    assert_eq!(delivered.last(), Some(&EventType::Paid), "{delivered:?}");
    // As many as a store receives at once, except the one that is kept for money.
    let rest = storage.due_deliveries(&demo(), at(30), at(60), 4).await;
    assert_eq!(rest.unwrap().len(), 3);
}

pub(super) async fn other_events_leave_a_place_for_one_with_money(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    for number in 1..=5 {
        order(storage, number).await;
    }
    // A slow store: what is leased is under way from here on.
    let store = demo();
    let due = async |free| {
        let due = storage.due_deliveries(&store, at(30), at(60), free);
        let due = due.await.unwrap().into_iter();
        due.map(|due| due.event.order_id).collect::<Vec<_>>()
    };
    assert_eq!(due(4).await, [id(1), id(2), id(3)]);
    assert_eq!(due(1).await, [], "two wait, and leave the last place");
    awaiting(storage, 6).await;
    observe(storage, 20, exact("COMPLETED")).await;
    assert_eq!(due(1).await, [id(6)]);
}

/// What is due at a second, by order.
async fn due_at(storage: &Store, second: i64) -> Vec<DueDelivery> {
    let store = demo();
    let due = storage.due_deliveries(&store, at(second), at(second + 30), 9);
    due.await.unwrap()
}

fn orders(due: &[DueDelivery]) -> Vec<OrderId> {
    let mut orders: Vec<_> = due.iter().map(|due| due.event.order_id.clone()).collect();
    orders.sort_unstable();
    orders
}

/// Records a try at a second that fails: by the schedule with this retry, or ahead of it.
async fn fail(storage: &Store, due: &DueDelivery, second: i64, again: i64, early_from: i64) {
    let outcome = DeliveryOutcome::Retry(Retry {
        at: due.ahead_of.unwrap_or(at(again)),
        early_from: at(early_from),
        probe_at: at(second) + PROBE_INTERVAL,
        is_counted: due.ahead_of.is_none(),
    });
    let tried = tried(due, second);
    let recorded = storage.record_delivery(&tried, outcome);
    recorded.await.unwrap();
}

async fn accept(storage: &Store, due: &DueDelivery, second: i64) {
    let tried = tried(due, second);
    let recorded = storage.record_delivery(&tried, DeliveryOutcome::Delivered);
    recorded.await.unwrap();
}

pub(super) async fn an_acceptance_makes_all_waiting_events_of_the_store_due(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    for number in 1..=3 {
        order(storage, number).await;
    }
    for due in due_at(storage, 1).await {
        fail(storage, &due, 2, 300, 2).await;
    }
    order(storage, 4).await;
    let next = due_at(storage, 20).await;
    assert_eq!(orders(&next), [id(4)], "nothing shows that it is back");
    accept(storage, &next[0], 21).await;
    let woken = due_at(storage, 21).await;
    assert_eq!(orders(&woken), [id(1), id(2), id(3)]);
    for due in &woken {
        assert_eq!((due.tries, due.wakes, due.ahead_of), (1, 1, Some(at(300))));
        accept(storage, due, 22).await;
    }
}

pub(super) async fn a_rejected_event_is_brought_forward_less_often_than_others_are_accepted(
    backend: Backend,
) {
    let test = backend.test().await;
    let storage = &test.storage;
    order(storage, 1).await;
    fail(storage, &due_at(storage, 1).await[0], 2, 300, 2).await;
    // Another order's event is accepted every 5 seconds; the rejected one takes part at ever longer pauses.
    let mut early = Vec::new();
    for number in 2..=50_u8 {
        let second = i64::from(number) * 5;
        order(storage, number).await;
        for due in due_at(storage, second).await {
            if due.event.order_id == id(1) {
                assert_eq!(due.tries, 1, "an early try is not counted");
                early.push(second);
                let pause = 8 << (due.wakes - 1);
                fail(storage, &due, second, 0, second + pause).await;
            } else {
                accept(storage, &due, second).await;
            }
        }
    }
    assert_eq!(early, [15, 30, 55, 95, 165]);
    let planned = due_at(storage, 300).await;
    assert_eq!((planned[0].tries, planned[0].ahead_of), (1, None));
    let of_event = DeliveryFilter {
        event: Some(planned[0].event.id.clone()),
        limit: 9,
        ..DeliveryFilter::default()
    };
    let listed = storage.deliveries(&demo(), &of_event).await.unwrap();
    assert_eq!(listed.unwrap().len(), 1, "an early failure is not listed");
}

pub(super) async fn money_that_waits_is_tried_by_one_event_at_a_time(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    for number in 1..=3 {
        awaiting(storage, number).await;
    }
    for second in [20, 21, 22] {
        observe(storage, second, exact("COMPLETED")).await;
    }
    let mut first = due_at(storage, 22).await;
    first.sort_by_key(|due| due.event.order_id.to_string());
    assert_eq!(orders(&first), [id(1), id(2), id(3)]);
    for (due, second) in first.iter().zip(23..) {
        fail(storage, due, second, 9_000, second).await;
    }
    let mut taken = Vec::new();
    for second in 26..=66 {
        for due in due_at(storage, second).await {
            fail(storage, &due, second, 0, second).await;
            taken.push((second, due.event.order_id));
        }
    }
    let turns = [
        (33, id(1)),
        (41, id(2)),
        (49, id(3)),
        (57, id(1)),
        (65, id(2)),
    ];
    assert_eq!(taken, turns);
    // The endpoint asks for a pause, and is back after it.
    let due = due_at(storage, 73).await.remove(0);
    let asked = DeliveryOutcome::Retry(Retry {
        at: at(9_000),
        early_from: at(100),
        probe_at: at(100),
        is_counted: false,
    });
    let failed = tried(&due, 73);
    let recorded = storage.record_delivery(&failed, asked);
    recorded.await.unwrap();
    assert_eq!(due_at(storage, 99).await, []);
    let due = due_at(storage, 100).await;
    assert_eq!(due.len(), 1);
    accept(storage, &due[0], 101).await;
    // The event after the accepted one, and those that waited.
    let mut due = due_at(storage, 101).await;
    assert_eq!(orders(&due), [id(1), id(2), id(3)]);
    // One of them is rejected, also once nothing else waits.
    let mut rejected = Vec::new();
    for second in 102..200 {
        for due in due {
            if due.event.order_id == id(2) {
                rejected.push(second);
                let pause = 8 << (due.wakes - 1);
                fail(storage, &due, second, 0, second + pause).await;
            } else {
                accept(storage, &due, second).await;
            }
        }
        due = due_at(storage, second).await;
    }
    assert_eq!(rejected, [102, 112, 130, 164]);
}

pub(super) async fn money_makes_the_waiting_event_of_its_order_due(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    awaiting(storage, 1).await;
    order(storage, 2).await;
    for due in due_at(storage, 1).await {
        fail(storage, &due, 10, 300, 10).await;
    }
    assert_eq!(due_at(storage, 20).await, []);
    observe(storage, 20, exact("COMPLETED")).await;
    let due = due_at(storage, 20).await;
    assert_eq!(orders(&due), [id(1)]);
    assert_eq!(due[0].event.event_type, EventType::Created);
}
