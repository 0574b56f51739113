//! The outbox.

use florin_orders::{DeliveryId, EndpointHash};

use super::*;
use crate::{Actor, DisabledEndpoint, OrderHistory, StoreScope};

const DELIVERED: DeliveryOutcome = DeliveryOutcome::Delivered;

fn of_event(event: &EventId) -> DeliveryFilter {
    DeliveryFilter {
        event: Some(event.clone()),
        limit: 9,
        ..DeliveryFilter::default()
    }
}

fn types(due: &[DueDelivery]) -> Vec<EventType> {
    due.iter().map(|due| due.event.event_type).collect()
}

fn orders(due: &[DueDelivery]) -> Vec<OrderId> {
    let mut orders: Vec<_> = due.iter().map(|due| due.event.order_id.clone()).collect();
    orders.sort_unstable();
    orders
}

async fn redeliver(test: &Test, event: &EventId, now: i64) {
    assert!(test.redeliver(&demo(), event, None, at(now)).await.unwrap());
}

/// Records a try at a second that fails: by the schedule with this retry, or ahead of it.
async fn fail(test: &Test, due: &DueDelivery, second: i64, again: i64, early_from: i64) {
    let outcome = DeliveryOutcome::Retry(Retry {
        at: due.ahead_of.unwrap_or(at(again)),
        early_from: at(early_from),
        probe_at: at(second) + PROBE_INTERVAL,
        is_counted: due.ahead_of.is_none(),
    });
    test.deliver(due, second, outcome).await;
}

/// Records an early try that the endpoint rejects, with a pause that doubles.
async fn reject(test: &Test, due: &DueDelivery, second: i64) {
    let pause = 8 << (due.wakes - 1);
    fail(test, due, second, 0, second + pause).await;
}

#[tokio::test]
async fn events_of_an_order_are_delivered_in_their_order() {
    let test = BACKEND.awaiting().await;
    let due = test.due(1).await;
    assert_eq!(
        types(&due),
        [E::Created],
        "the second event waits for the first"
    );
    assert_eq!(test.due(2).await, []);
    let event = &due[0].event;
    let failed = Delivery {
        took: SignedDuration::from_millis(40),
        ..tried(&event.id, 2, 500)
    };
    test.record_delivery(&failed, retry(2, 7)).await.unwrap();
    assert_eq!(test.due(6).await, []);
    let again = test.due(7).await;
    assert_eq!((again[0].tries, &again[0].event), (1, event));
    test.deliver(&again[0], 7, DELIVERED).await;
    assert_eq!(types(&test.due(7).await), [E::AttemptOpened]);

    let page = async |filter: &DeliveryFilter| {
        let page = test.deliveries(&demo(), filter).await.unwrap().unwrap();
        let listed = page.into_iter().map(|listed| (listed.id, listed.delivery));
        listed.collect::<Vec<_>>()
    };
    let first = (DeliveryId::of(&event.id, 1), failed);
    let second = (DeliveryId::of(&event.id, 2), tried(&event.id, 7, 204));
    assert_eq!(
        page(&of_event(&event.id)).await,
        [second.clone(), first.clone()]
    );
    let older = DeliveryFilter {
        event: None,
        after: Some(second.0),
        limit: 9,
    };
    assert_eq!(page(&older).await, [first]);
    redeliver(&test, &event.id, 50).await;
    assert_eq!(test.due(50).await[0].tries, 0);
}

#[tokio::test]
async fn nothing_is_sent_to_an_endpoint_that_is_gone_and_nothing_is_lost() {
    let test = BACKEND.awaiting().await;
    test.order(2).await;
    let first = test.due(1).await;
    assert_eq!(first.len(), 2);
    let (endpoint, other) = (EndpointHash([7; 32]), EndpointHash([8; 32]));
    for (due, endpoint, second) in [(&first[0], endpoint, 2), (&first[1], other, 3)] {
        test.deliver(due, second, DeliveryOutcome::Gone(endpoint))
            .await;
    }
    assert_eq!(test.due(3600).await, []);
    let since = at(2);
    let disabled = EndpointStatus {
        waiting: 3,
        gone: Some(DisabledEndpoint { endpoint, since }),
    };
    assert_eq!(test.endpoint_status(&hook()).await.unwrap(), disabled);

    assert!(test.enable_endpoint(&hook(), at(3600)).await.unwrap());
    let again = test.due(3600).await;
    let tries: Vec<_> = again.iter().map(|due| (&due.event.id, due.tries)).collect();
    assert_eq!(tries, [(&first[0].event.id, 0), (&first[1].event.id, 0)]);
    assert!(!test.enable_endpoint(&hook(), at(3601)).await.unwrap());
}

#[tokio::test]
async fn a_webhook_has_its_own_events_and_holds_up_no_other() {
    let test = BACKEND.test().await;
    let crm = Endpoint {
        webhook: WebhookId::parse("crm").unwrap(),
        ..hook()
    };
    let all = (hook().webhook, None);
    let some = vec!["order.created".to_owned(), "order.paid".to_owned()];
    let both = [all.clone(), (crm.webhook.clone(), Some(some))];
    assert_eq!(test.set_webhooks(&demo(), both.to_vec()).await.unwrap(), []);
    test.awaiting(1).await;
    test.observe(20, exact("COMPLETED")).await;
    let due = async |second| {
        let due = test.due_deliveries(&crm, at(second), at(second + 30), 9);
        due.await.unwrap()
    };
    let record = async |event: &EventId, outcome| {
        let tried = Delivery {
            webhook: crm.webhook.clone(),
            ..tried(event, 21, 500)
        };
        test.record_delivery(&tried, outcome).await.unwrap();
    };
    // The first webhook fails; the other one is sent what it asked for, in the order of the events.
    let failed = test.due(20).await.remove(0);
    test.deliver(&failed, 21, retry(21, 9_000)).await;
    for event in [E::Created, E::Paid] {
        let sent = due(21).await;
        assert_eq!(types(&sent), [event]);
        record(&sent[0].event.id, DELIVERED).await;
    }
    assert_eq!((due(21).await, test.due(22).await), (vec![], vec![]));
    // A 410 disables the webhook alone.
    record(
        &failed.event.id,
        DeliveryOutcome::Gone(EndpointHash([7; 32])),
    )
    .await;
    assert!(!test.enable_endpoint(&hook(), at(23)).await.unwrap());
    assert!(test.enable_endpoint(&crm, at(23)).await.unwrap());
    let listed = test.deliveries(&demo(), &of_event(&failed.event.id)).await;
    let listed = listed.unwrap().unwrap();
    let listed = listed.iter().map(|one| &one.delivery.webhook);
    assert!(listed.eq([&crm.webhook, &crm.webhook, &all.0]));
    // Sent again to one alone, also what it did not ask for.
    let opened = test.listed().await[1].id.clone();
    let unknown = WebhookId::parse("erp").unwrap();
    for (webhook, is_known) in [(&crm.webhook, true), (&unknown, false)] {
        let again = test
            .redeliver(&demo(), &opened, Some(webhook), at(30))
            .await;
        assert_eq!(again.unwrap(), is_known);
    }
    assert_eq!(types(&due(30).await), [E::AttemptOpened]);
    // What happens later is not for a webhook that was removed.
    let before = test.set_webhooks(&demo(), vec![all.clone()]).await.unwrap();
    assert_eq!(before.len(), 2);
    test.order(2).await;
    assert_eq!(orders(&test.due(50).await), [id(1), id(2)]);
    assert_eq!(due(50).await, []);
    // The history has each event for every webhook with its own deliveries, however many there are.
    let most = OrderHistory::MOST;
    let many = (0..most).map(|number| WebhookId::parse(&format!("hook-{number}")).unwrap());
    let many = many.map(|webhook| (webhook, None)).collect();
    let before = test.set_webhooks(&demo(), many).await.unwrap();
    assert_eq!(before.len(), 2, "an event waits for the removed one");
    let (sent, ada) = (refund(1, "0.0001"), Actor::operator("ada"));
    test.refund(&id(1), &sent, &ada, at(60)).await.unwrap();
    for _ in 0..most {
        record(&failed.event.id, DELIVERED).await;
    }
    let history = test.order_history(&StoreScope::All, &id(1)).await;
    let events = history.unwrap().unwrap().events;
    let [.., first, _] = &events[..] else {
        panic!()
    };
    assert_eq!((&first.event, first.deliveries.len()), (&failed.event, 1));
    // The removed one is forgotten when nothing waits for it.
    record(&opened, DELIVERED).await;
    let before = test.set_webhooks(&demo(), vec![all]).await.unwrap();
    assert_eq!(before.len(), 51);
}

/// A process that has leased it may have ended meanwhile.
#[tokio::test]
async fn an_enabled_endpoint_waits_for_no_try_in_progress() {
    let test = BACKEND.awaiting().await;
    test.order(2).await;
    let first = test.due(1).await;
    test.deliver(&first[0], 2, DeliveryOutcome::Gone(EndpointHash([7; 32])))
        .await;
    assert!(test.enable_endpoint(&hook(), at(3)).await.unwrap());
    assert_eq!(orders(&test.due(3).await), [id(1), id(2)]);
}

#[tokio::test]
async fn a_stores_deliveries_are_its_own() {
    let test = BACKEND.awaiting().await;
    let due = test.due(1).await.remove(0);
    test.deliver(&due, 1, DELIVERED).await;
    let all = DeliveryFilter {
        limit: 9,
        ..DeliveryFilter::default()
    };
    let after = DeliveryFilter {
        after: Some(DeliveryId::of(&due.event.id, 1)),
        ..all.clone()
    };
    for (store, filter, expected) in [
        (shop("other"), &all, Some(vec![])),
        (shop("other"), &of_event(&due.event.id), None),
        (shop("other"), &after, None),
        (demo(), &after, Some(vec![])),
    ] {
        let found = test.deliveries(&store, filter).await.unwrap();
        assert_eq!(found, expected, "{store} {filter:?}");
    }
}

/// Found by the simulation: a process that was frozen during a delivery came back after another
/// process had made the delivery, and after the next event was delivered; its failure put the first
/// event back into the outbox.
#[tokio::test]
async fn a_late_failure_does_not_undo_a_delivery() {
    let test = BACKEND.awaiting().await;
    let created = test.due(1).await.remove(0);
    for outcome in [DELIVERED, retry(2, 60), DeliveryOutcome::GivenUp] {
        test.deliver(&created, 1, outcome).await;
    }
    assert_eq!(types(&test.due(99).await), [E::AttemptOpened]);
}

#[tokio::test]
async fn a_redelivery_waits_for_no_try_in_progress() {
    let test = BACKEND.awaiting().await;
    let tried = test.due(1).await.remove(0).event;
    redeliver(&test, &tried.id, 2).await;
    assert_eq!(test.due(2).await[0].event, tried);
}

#[tokio::test]
async fn a_redelivery_delays_no_later_event() {
    let test = BACKEND.awaiting().await;
    let created = test.due(1).await.remove(0);
    test.deliver(&created, 1, DELIVERED).await;
    // Asked for twice, and the store is down each time.
    for second in [10, 20] {
        redeliver(&test, &created.event.id, second).await;
    }
    let both = test.due(20).await;
    assert_eq!(types(&both), [E::Created, E::AttemptOpened]);
    test.deliver(&both[0], 21, retry(21, 600)).await;
    assert_eq!(types(&test.due(100).await), [E::AttemptOpened]);
}

#[tokio::test]
async fn an_abandoned_event_is_redelivered_before_pending_ones() {
    let test = BACKEND.test().await;
    for number in [1, 2] {
        test.awaiting(number).await;
    }
    for created in test.due(1).await {
        test.deliver(&created, 1, DeliveryOutcome::GivenUp).await;
        if created.event.order_id == id(1) {
            redeliver(&test, &created.event.id, 10).await;
        }
    }
    let due = test.due(10).await;
    assert_eq!(due.len(), 2);
    // The other order's next event does not wait for the abandoned one.
    for (number, event_type) in [(1, E::Created), (2, E::AttemptOpened)] {
        let of_order = due.iter().find(|due| due.event.order_id == id(number));
        assert_eq!(of_order.unwrap().event.event_type, event_type);
    }
}

/// The deliveries that a store is sent at once while this number of them may begin.
async fn due_with(test: &Test, free: u32) -> Vec<DueDelivery> {
    let due = test.due_deliveries(&hook(), at(30), at(60), free).await;
    due.unwrap()
}

#[tokio::test]
async fn events_of_orders_with_money_are_delivered_before_all_others() {
    let test = BACKEND.test().await;
    for number in 1..=5 {
        test.order(number).await;
    }
    test.awaiting(6).await;
    test.observe(20, exact("COMPLETED")).await;
    for event in [E::Created, E::AttemptOpened, E::Paid] {
        let due = due_with(&test, 1).await.remove(0);
        assert_eq!((&due.event.order_id, due.event.event_type), (&id(6), event));
        test.deliver(&due, 30, DELIVERED).await;
    }
    // As many as a store receives at once, except the one that is kept for money.
    assert_eq!(due_with(&test, 4).await.len(), 3);
}

#[tokio::test]
async fn other_events_leave_a_place_for_one_with_money() {
    let test = BACKEND.test().await;
    for number in 1..=5 {
        test.order(number).await;
    }
    // A slow store: what is leased is under way from here on.
    assert_eq!(orders(&due_with(&test, 4).await), [id(1), id(2), id(3)]);
    assert_eq!(
        due_with(&test, 1).await,
        [],
        "two wait, and leave the last place"
    );
    test.awaiting(6).await;
    test.observe(20, exact("COMPLETED")).await;
    assert_eq!(orders(&due_with(&test, 1).await), [id(6)]);
}

#[tokio::test]
async fn an_acceptance_makes_all_waiting_events_of_the_store_due() {
    let test = BACKEND.test().await;
    for number in 1..=3 {
        test.order(number).await;
    }
    for due in test.due(1).await {
        fail(&test, &due, 2, 300, 2).await;
    }
    test.order(4).await;
    let next = test.due(20).await;
    assert_eq!(orders(&next), [id(4)], "nothing shows that it is back");
    test.deliver(&next[0], 21, DELIVERED).await;
    let woken = test.due(21).await;
    assert_eq!(orders(&woken), [id(1), id(2), id(3)]);
    for due in &woken {
        assert_eq!((due.tries, due.wakes, due.ahead_of), (1, 1, Some(at(300))));
        test.deliver(due, 22, DELIVERED).await;
    }
}

#[tokio::test]
async fn a_rejected_event_is_brought_forward_less_often_than_others_are_accepted() {
    let test = BACKEND.test().await;
    test.order(1).await;
    fail(&test, &test.due(1).await[0], 2, 300, 2).await;
    // Another order's event is accepted every 5 seconds; the rejected one takes part at ever longer pauses.
    let mut early = Vec::new();
    for number in 2..=50_u8 {
        let second = i64::from(number) * 5;
        test.order(number).await;
        for due in test.due(second).await {
            if due.event.order_id == id(1) {
                assert_eq!(due.tries, 1, "an early try is not counted");
                early.push(second);
                reject(&test, &due, second).await;
            } else {
                test.deliver(&due, second, DELIVERED).await;
            }
        }
    }
    assert_eq!(early, [15, 30, 55, 95, 165]);
    let planned = test.due(300).await.remove(0);
    assert_eq!((planned.tries, planned.ahead_of), (1, None));
    let listed = test.deliveries(&demo(), &of_event(&planned.event.id)).await;
    let listed = listed.unwrap().unwrap();
    assert_eq!(listed.len(), 1, "an early failure is not listed");
}

#[tokio::test]
async fn money_that_waits_is_tried_by_one_event_at_a_time() {
    let test = BACKEND.test().await;
    for number in 1..=3 {
        test.awaiting(number).await;
    }
    for second in [20, 21, 22] {
        test.observe(second, exact("COMPLETED")).await;
    }
    let mut first = test.due(22).await;
    first.sort_by_key(|due| due.event.order_id.to_string());
    assert_eq!(orders(&first), [id(1), id(2), id(3)]);
    for (due, second) in first.iter().zip(23..) {
        fail(&test, due, second, 9_000, second).await;
    }
    let mut taken = Vec::new();
    for second in 26..=66 {
        for due in test.due(second).await {
            fail(&test, &due, second, 0, second).await;
            taken.push((second, due.event.order_id));
        }
    }
    let turns = [(33, 1), (41, 2), (49, 3), (57, 1), (65, 2)];
    assert_eq!(taken, turns.map(|(second, number)| (second, id(number))));
    // The endpoint asks for a pause, and is back after it.
    let due = test.due(73).await.remove(0);
    let asked = DeliveryOutcome::Retry(Retry {
        at: at(9_000),
        early_from: at(100),
        probe_at: at(100),
        is_counted: false,
    });
    test.deliver(&due, 73, asked).await;
    assert_eq!(test.due(99).await, []);
    let due = test.due(100).await;
    assert_eq!(due.len(), 1);
    test.deliver(&due[0], 101, DELIVERED).await;
    // The event after the accepted one, and those that waited.
    let mut due = test.due(101).await;
    assert_eq!(orders(&due), [id(1), id(2), id(3)]);
    // One of them is rejected, also once nothing else waits.
    let mut rejected = Vec::new();
    for second in 102..200 {
        for due in due {
            if due.event.order_id == id(2) {
                rejected.push(second);
                reject(&test, &due, second).await;
            } else {
                test.deliver(&due, second, DELIVERED).await;
            }
        }
        due = test.due(second).await;
    }
    assert_eq!(rejected, [102, 112, 130, 164]);
}

#[tokio::test]
async fn money_makes_the_waiting_event_of_its_order_due() {
    let test = BACKEND.awaiting().await;
    test.order(2).await;
    for due in test.due(1).await {
        fail(&test, &due, 10, 300, 10).await;
    }
    assert_eq!(test.due(20).await, []);
    test.observe(20, exact("COMPLETED")).await;
    let due = test.due(20).await;
    assert_eq!((orders(&due), types(&due)), (vec![id(1)], vec![E::Created]));
}
