//! Stores' staff: a link opens one session, and a store's staff reaches that store's orders alone.

use florin_orders::{AuditId, DecisionKind};

use super::*;
use crate::{
    Actor, AuditAction, DecideError, MAX_STAFF_ACCESS_PER_STORE, NewAuditEntry, NewDecision,
    OrderSearch, StaffAccess, StoreScope,
};

/// Adds a link for a store.
async fn add(storage: &Store, link: u32, store: &str, expires_at: i64) {
    let added = storage
        .add_staff_link(hash(link), &access(store), at(expires_at))
        .await;
    added.unwrap();
}

fn access(store: &str) -> StaffAccess {
    StaffAccess {
        store: StoreId::parse(store).unwrap(),
        secret_key: [3; 32],
        person: "Zoë".into(),
        may_decide: true,
        session: SignedDuration::from_secs(600),
    }
}

fn hash(number: u32) -> TokenHash {
    let mut bytes = [0; 32];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    TokenHash(bytes)
}

pub(super) async fn a_link_opens_one_session_until_it_expires(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    for (link, expires_at) in [(1, 60), (2, 60), (3, 10)] {
        add(storage, link, "demo", expires_at).await;
    }
    let link = async |number, now| storage.staff_link(hash(number), at(now)).await.unwrap();
    let open = async |number, session, now| {
        let opened = storage.open_staff_session(hash(number), hash(session), at(now));
        opened.await.unwrap()
    };
    let session = async |number, now| storage.staff_session(hash(number), at(now)).await.unwrap();
    assert_eq!(link(1, 59).await, Some(access("demo")));
    // A link is no session.
    assert_eq!(session(1, 20).await, None);
    assert_eq!(open(1, 11, 20).await, Some(access("demo")));
    // A repetition of the same call, and another opening.
    assert_eq!(open(1, 11, 20).await, Some(access("demo")));
    assert_eq!(open(1, 12, 20).await, None);
    assert_eq!(link(1, 20).await, None);
    assert_eq!(link(3, 20).await, None);
    assert_eq!(open(3, 13, 20).await, None);
    // A session is no link.
    assert_eq!(open(11, 14, 20).await, None);
    assert_eq!(session(11, 20 + 599).await, Some(access("demo")));
    assert_eq!(session(11, 20 + 600).await, None);

    assert_eq!(
        storage.delete_expired_staff_access(at(20)).await.unwrap(),
        1
    );
    storage.end_staff_session(hash(11)).await.unwrap();
    assert_eq!(session(11, 20).await, None);
    storage.end_staff_session(hash(2)).await.unwrap();
    assert_eq!(link(2, 20).await, Some(access("demo")));
}

pub(super) async fn of_two_openings_of_a_link_one_succeeds(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    for link in 0..8 {
        add(storage, link, "demo", 60).await;
        let (one, two) = tokio::join!(
            storage.open_staff_session(hash(link), hash(100 + link), at(1)),
            storage.open_staff_session(hash(link), hash(200 + link), at(1)),
        );
        let opened = [one.unwrap(), two.unwrap()];
        assert_eq!(opened.iter().flatten().count(), 1);
    }
}

pub(super) async fn a_store_has_a_bounded_number_of_links_and_sessions(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    add(storage, 9_000, "other", 1).await;
    let most = MAX_STAFF_ACCESS_PER_STORE;
    for number in 0..most + 3 {
        add(storage, number, "demo", 60 + i64::from(number)).await;
    }
    let count = "SELECT count(*) FROM staff_access WHERE store_id = 'demo'";
    assert_eq!(test.number(count).await, i64::from(most));
    // Those that end first made room.
    assert_eq!(storage.staff_link(hash(2), at(0)).await.unwrap(), None);
    assert!(storage.staff_link(hash(3), at(0)).await.unwrap().is_some());
    let other = storage.staff_link(hash(9_000), at(0)).await.unwrap();
    assert_eq!(other, Some(access("other")));
}

/// Every search that leads to the first order.
fn searches() -> Vec<Option<String>> {
    let texts = ["r1", "19.90", "inv_1", ADDRESS, id(1).as_str()].map(ToOwned::to_owned);
    texts.into_iter().map(Some).chain([None]).collect()
}

pub(super) async fn staff_finds_and_decides_in_its_store_alone(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    awaiting(storage, 1).await;
    observe(storage, 20, received("COMPLETED", "0.0001", "6.42", "6.42")).await;
    let due = storage.due_deliveries(&demo(), at(30), at(60), 1).await;
    let given_up = due.unwrap().pop().unwrap().event;
    let delivery = Delivery {
        event_id: given_up.id.clone(),
        tried_at: at(30),
        took: SignedDuration::ZERO,
        http_status: Some(500),
        note: String::new(),
    };
    let recorded = storage.record_delivery(&delivery, DeliveryOutcome::GivenUp);
    recorded.await.unwrap();
    let order = storage.snapshot(&id(1)).await.unwrap().unwrap().order;

    for (store, count) in [("other", 0), ("demo", 1)] {
        let scope = StoreScope::Store(StoreId::parse(store).unwrap());
        for text in searches() {
            let search = OrderSearch {
                text,
                scope: scope.clone(),
                limit: 9,
                ..OrderSearch::default()
            };
            let found = storage.find_orders(&search).await.unwrap();
            assert_eq!(found.len(), count, "{search:?}");
        }
        let waiting = storage.orders_for_attention(&scope, 9).await.unwrap();
        assert_eq!(waiting.len(), count, "{store}");
        let history = storage.order_history(&scope, &id(1)).await.unwrap();
        assert_eq!(history.iter().count(), count, "{store}");
        let events = storage.given_up_events(&scope, 9).await.unwrap();
        assert_eq!(events.len(), count, "{store}");
        let event = storage.event(&scope, &given_up.id).await.unwrap();
        assert_eq!(event.iter().count(), count, "{store}");

        let actor = Actor {
            name: "Zoë".into(),
            scope: scope.clone(),
        };
        let decision = NewDecision {
            id: AuditId::from_random([7; 16]),
            kind: DecisionKind::AcceptAsPaid,
            version: order.version,
            actor: actor.clone(),
            reason: "agreed by phone".into(),
        };
        let decided = storage.decide(&id(1), &decision, at(40)).await;
        if count == 0 {
            assert!(
                matches!(decided, Err(DecideError::NoOrder(_))),
                "{decided:?}"
            );
        } else {
            assert_eq!(decided.unwrap().order.status, OrderStatus::Paid);
            let log = storage.audit_log(None, 9).await.unwrap();
            let actors: Vec<_> = log.iter().map(|entry| &entry.actor).collect();
            assert_eq!(actors, [&actor]);
        }
    }
    for (store, count) in [("other", 0), ("demo", 1)] {
        let scope = StoreScope::Store(StoreId::parse(store).unwrap());
        let settled = storage.settled_orders(&scope, at(0), at(60), None, 9);
        assert_eq!(settled.await.unwrap().len(), count, "{store}");
    }
    let entry = NewAuditEntry {
        id: AuditId::from_random([8; 16]),
        at: at(50),
        actor: Actor::operator("ada"),
        action: AuditAction::Redeliver,
        subject: given_up.id.to_string(),
        reason: String::new(),
    };
    storage.record_audit(&entry).await.unwrap();
    let log = storage.audit_log(None, 1).await.unwrap();
    assert_eq!(
        (&log[0].actor, &log[0].order_id),
        (&entry.actor, &Some(id(1)))
    );
}

pub(super) async fn another_stores_orders_change_no_search(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    // The same reference and price in two stores, the other store's first.
    let (demo, other) = (demo(), StoreId::parse("other").unwrap());
    for (number, store) in [(2, &other), (1, &demo)] {
        let mut terms = terms("r1");
        terms.store_id = store.clone();
        let (id, opened_at) = (id(number), at(9 - i64::from(number)));
        let opened = storage.open_order(&id, &terms, token(number), at(90), opened_at);
        opened.await.unwrap();
    }
    let found = async |search: OrderSearch| {
        let found = storage.find_orders(&search).await.unwrap();
        let ids = found.into_iter().map(|found| found.order.id);
        ids.collect::<Vec<_>>()
    };
    for (number, store) in [(1, &demo), (2, &other)] {
        let search = OrderSearch {
            scope: StoreScope::Store(store.clone()),
            limit: 1,
            ..OrderSearch::default()
        };
        for wanted in ["r1", "19.90"] {
            let search = OrderSearch {
                text: Some(wanted.to_owned()),
                ..search.clone()
            };
            assert_eq!(found(search).await, [id(number)]);
        }
    }
    // An order of another store is no place in the list: its time would be found out.
    for status in [None, Some(OrderStatus::Open)] {
        let search = OrderSearch {
            scope: StoreScope::Store(other.clone()),
            after: Some(id(1)),
            status,
            limit: 9,
            ..OrderSearch::default()
        };
        assert_eq!(found(search).await, []);
    }
}
