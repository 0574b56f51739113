//! Stores' staff: a link opens one session, and a store's staff reaches that store's orders alone.

use florin_money::Currency;
use florin_orders::DecisionKind;

use super::decisions::{decision, entry, underpaid};
use super::*;
use crate::{
    Actor, AuditAction, DecideError, MAX_STAFF_ACCESS_PER_STORE, NewDecision, OrderSearch,
    StaffAccess, StoreScope,
};

async fn add(test: &Test, link: u32, store: &str, expires_at: i64) {
    let (access, expires_at) = (access(store), at(expires_at));
    let added = test.add_staff_link(hash(link), &access, expires_at).await;
    added.unwrap();
}

fn access(store: &str) -> StaffAccess {
    StaffAccess {
        store: shop(store),
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

#[tokio::test]
async fn a_link_opens_one_session_until_it_expires() {
    let test = BACKEND.test().await;
    for (link, expires_at) in [(1, 60), (2, 60), (3, 10)] {
        add(&test, link, "demo", expires_at).await;
    }
    let link = async |number, now| test.staff_link(hash(number), at(now)).await.unwrap();
    let open = async |number, session, now| {
        let opened = test.open_staff_session(hash(number), hash(session), at(now));
        opened.await.unwrap()
    };
    let session = async |number, now| test.staff_session(hash(number), at(now)).await.unwrap();
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

    assert_eq!(test.delete_expired_staff_access(at(20)).await.unwrap(), 1);
    test.end_staff_session(hash(11)).await.unwrap();
    assert_eq!(session(11, 20).await, None);
    test.end_staff_session(hash(2)).await.unwrap();
    assert_eq!(link(2, 20).await, Some(access("demo")));
}

#[tokio::test]
async fn of_two_openings_of_a_link_one_succeeds() {
    let test = BACKEND.test().await;
    for link in 0..8 {
        add(&test, link, "demo", 60).await;
        let (one, two) = tokio::join!(
            test.open_staff_session(hash(link), hash(100 + link), at(1)),
            test.open_staff_session(hash(link), hash(200 + link), at(1)),
        );
        let opened = [one.unwrap(), two.unwrap()];
        assert_eq!(opened.iter().flatten().count(), 1);
    }
}

#[tokio::test]
async fn a_store_has_a_bounded_number_of_links_and_sessions() {
    let test = BACKEND.test().await;
    add(&test, 9_000, "other", 1).await;
    let most = MAX_STAFF_ACCESS_PER_STORE;
    for number in 0..most + 3 {
        add(&test, number, "demo", 60 + i64::from(number)).await;
    }
    let count = "SELECT count(*) FROM staff_access WHERE store_id = 'demo'";
    assert_eq!(test.number(count).await, i64::from(most));
    // Those that end first made room.
    assert_eq!(test.staff_link(hash(2), at(0)).await.unwrap(), None);
    assert!(test.staff_link(hash(3), at(0)).await.unwrap().is_some());
    let other = test.staff_link(hash(9_000), at(0)).await.unwrap();
    assert_eq!(other, Some(access("other")));
}

fn searches() -> Vec<Option<String>> {
    let texts = ["r1", "19.90", "inv_1", ADDRESS, id(1).as_str()].map(ToOwned::to_owned);
    texts.into_iter().map(Some).chain([None]).collect()
}

#[tokio::test]
async fn staff_finds_and_decides_in_its_store_alone() {
    let test = BACKEND.test().await;
    underpaid(&test, 1).await;
    let due = test.due(30).await.remove(0);
    test.deliver(&due, 30, DeliveryOutcome::GivenUp).await;
    let given_up = due.event;
    let version = test.found(1).await.order.version;
    for (store, count) in [("other", 0), ("demo", 1)] {
        let scope = StoreScope::Store(shop(store));
        for text in searches() {
            let search = OrderSearch {
                text,
                scope: scope.clone(),
                limit: 9,
                ..OrderSearch::default()
            };
            let found = test.find_orders(&search).await.unwrap();
            assert_eq!(found.len(), count, "{search:?}");
        }
        let waiting = test.orders_for_attention(&scope, 9).await.unwrap();
        assert_eq!(waiting.len(), count, "{store}");
        let history = test.order_history(&scope, &id(1)).await.unwrap();
        assert_eq!(history.iter().count(), count, "{store}");
        let events = test.given_up_events(&scope, 9).await.unwrap();
        assert_eq!(events.len(), count, "{store}");
        let event = test.event(&scope, &given_up.id).await.unwrap();
        assert_eq!(event.iter().count(), count, "{store}");

        let actor = Actor {
            name: "Zoë".into(),
            scope: scope.clone(),
        };
        let decision = NewDecision {
            actor: actor.clone(),
            ..decision(7, DecisionKind::AcceptAsPaid, version)
        };
        let decided = test.decide(&id(1), &decision, at(40)).await;
        if count == 0 {
            assert!(
                matches!(decided, Err(DecideError::NoOrder(_))),
                "{decided:?}"
            );
        } else {
            assert_eq!(decided.unwrap().order.status, OrderStatus::Paid);
            let log = test.audit_log(None, 9).await.unwrap();
            let actors: Vec<_> = log.iter().map(|entry| &entry.actor).collect();
            assert_eq!(actors, [&actor]);
        }
    }
    for (store, count) in [("other", 0), ("demo", 1)] {
        let scope = StoreScope::Store(shop(store));
        let settled = test.settlements(&scope, at(0), at(60), None, 9);
        assert_eq!(settled.await.unwrap().len(), count, "{store}");
        let credited = test.credited(&scope, at(40)).await.unwrap();
        let usd = (Currency::parse("USD").unwrap(), amount("19.90"), 1);
        assert_eq!(credited, vec![usd; count], "{store}");
        assert_eq!(test.credited(&scope, at(41)).await.unwrap(), []);
    }
    let entry = entry(8, AuditAction::Redeliver, given_up.id.as_str());
    test.record_audit(&entry).await.unwrap();
    let log = test.audit_log(None, 1).await.unwrap();
    assert_eq!(log[0].actor, entry.actor);
    assert_eq!(log[0].order_id, Some(id(1)));
}

#[tokio::test]
async fn another_stores_orders_change_no_search() {
    let test = BACKEND.test().await;
    // The same reference and price in two stores, the other store's first.
    let (demo, other) = (demo(), shop("other"));
    for (number, store) in [(2, &other), (1, &demo)] {
        let mut terms = terms("r1");
        terms.store_id = store.clone();
        test.open(number, &terms, 9 - i64::from(number)).await;
    }
    let found = async |search: OrderSearch| {
        let found = test.find_orders(&search).await.unwrap();
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
