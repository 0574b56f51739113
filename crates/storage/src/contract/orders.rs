//! Orders: one per reference, accessed by token, listed by store.

use florin_orders::{LineKind, OrderLine};

use super::*;

#[tokio::test]
async fn a_reference_names_one_order_at_one_price() {
    let test = BACKEND.test().await;
    assert!(test.order(1).await.is_new);
    let again = test.open(2, &terms("r1"), 1).await;
    assert_eq!((again.order.id, again.is_new), (id(1), false));
    let mut cheaper = terms("r1");
    cheaper.amount = amount("0.01");
    let refused = test
        .open_order(&id(3), &cheaper, token(3), at(9), at(1))
        .await;
    assert!(matches!(refused, Err(OpenError::Conflict(known)) if known.id == id(1)));
    assert_eq!(test.event_types().await, [EventType::Created]);
}

#[tokio::test]
async fn what_was_opened_is_what_is_read() {
    let test = BACKEND.test().await;
    let mut full = terms("r1");
    full.metadata
        .insert("cart".into(), serde_json::json!({"lines": [1, 2]}));
    full.assets = vec![florin_money::CryptoCode::parse("BTC").unwrap()];
    full.customer_email = Some("a@b.example".into());
    full.return_url = Some("https://shop.example/thanks".into());
    full.cancel_url = Some("https://shop.example/cart".into());
    let coupon = OrderLine {
        title: "A coupon".into(),
        kind: LineKind::Discount,
        quantity: 1,
        unit_amount: None,
        amount: None,
        image_url: None,
    };
    let mug = OrderLine {
        title: "A \"mug\"".into(),
        kind: LineKind::Item,
        quantity: 2,
        unit_amount: Some(amount("9.50")),
        amount: Some(amount("19.00")),
        image_url: Some("https://cdn.example/mug.jpg".into()),
    };
    full.lines = vec![mug, coupon];
    full.tolerance = amount("0.05");
    full.traceparent = Some(trace());
    assert_eq!(test.open(1, &full, 0).await.order.terms, full);
    assert_eq!(test.found(1).await.order.terms, full);
}

fn trace() -> TraceParent {
    TraceParent::recorded([3; 16], [4; 8])
}

#[tokio::test]
async fn polls_and_deliveries_of_an_order_have_its_trace() {
    let test = BACKEND.test().await;
    let traced = NewOrder {
        traceparent: Some(trace()),
        ..terms("r1")
    };
    test.open(1, &traced, 0).await;
    test.add_attempt(1, 1).await;
    test.awaiting(2).await;

    let expected = |order: &OrderId| (*order == id(1)).then(trace);
    let due = test.polls(PollPriority::Unwatched, 60).await;
    assert_eq!(due.len(), 2);
    for attempt in due {
        assert_eq!(attempt.traceparent, expected(&attempt.order_id));
    }
    let due = test.due(1).await;
    assert_eq!(due.len(), 2);
    for delivery in due {
        assert_eq!(delivery.traceparent, expected(&delivery.event.order_id));
    }
}

#[tokio::test]
async fn a_token_opens_its_order_until_it_expires() {
    let test = BACKEND.test().await;
    test.order(1).await;
    test.add_token(&id(1), token(2), at(900)).await.unwrap();
    for (number, second, opens) in [
        (1, 86_399, true),
        (1, 86_400, false),
        (2, 899, true),
        (2, 900, false),
        (3, 0, false),
    ] {
        let found = test
            .order_of_token(token(number), at(second))
            .await
            .unwrap();
        let expected = opens.then(|| id(1));
        assert_eq!(
            found.map(|found| found.order.id),
            expected,
            "{number} {second}"
        );
    }
    assert_eq!(test.delete_expired_tokens(at(86_399)).await.unwrap(), 1);
    assert_eq!(test.delete_expired_tokens(at(86_400)).await.unwrap(), 1);
}

#[tokio::test]
async fn another_store_sees_nothing() {
    let test = BACKEND.test().await;
    test.order(1).await;
    let (other, event) = (shop("other"), test.listed().await.remove(0).id);
    let events = test.events(&other, None, 9).await.unwrap();
    assert_eq!(events, Some(vec![]));
    assert_eq!(test.events(&other, Some(&event), 9).await.unwrap(), None);
    let orders = test.orders(&other, &OrderFilter::default()).await;
    assert_eq!(orders.unwrap(), []);
    assert!(!test.redeliver(&other, &event, None, at(0)).await.unwrap());
}

#[tokio::test]
async fn orders_come_in_pages_newest_first() {
    let test = BACKEND.test().await;
    for number in 1..=5 {
        let terms = terms(&format!("r{number}"));
        test.open(number, &terms, i64::from(number)).await;
    }
    let store = demo();
    let mut filter = OrderFilter {
        limit: 2,
        ..OrderFilter::default()
    };
    let mut listed = Vec::new();
    loop {
        let page = test.orders(&store, &filter).await.unwrap();
        let Some(last) = page.last() else { break };
        filter.after = Some(last.order.id.clone());
        listed.extend(page.into_iter().map(|snapshot| snapshot.order.id));
    }
    assert_eq!(listed, [5, 4, 3, 2, 1].map(id));
    // Another store's order is a place in no list.
    let mut foreign = terms("r6");
    foreign.store_id = shop("other");
    test.open(6, &foreign, 6).await;
    filter.after = Some(id(6));
    assert_eq!(test.orders(&store, &filter).await.unwrap(), []);
}

#[tokio::test]
async fn the_receipts_address_is_kept_replaced_and_removed() {
    let test = BACKEND.test().await;
    let opened = test.order(1).await.order;
    assert_eq!(opened.receipt_email, None);
    let mut version = opened.version;
    for (email, change) in [
        (Some("a@b.example"), EmailChange::First),
        (Some("c@d.example"), EmailChange::Replaced),
        (None, EmailChange::Replaced),
        (Some("a@b.example"), EmailChange::First),
    ] {
        let kept = test.keep_receipt_email(&id(1), email, at(30)).await;
        let kept = kept.unwrap().unwrap();
        assert_eq!(kept.change, change, "{email:?}");
        let kept = kept.snapshot.order;
        assert_eq!(kept.receipt_email.as_deref(), email);
        assert!(kept.version > version, "a page sees a change");
        version = kept.version;
    }
    let unknown = test.keep_receipt_email(&id(9), None, at(30)).await;
    assert_eq!(unknown.unwrap(), None);
}

#[tokio::test]
async fn a_paid_order_keeps_its_receipts_address() {
    let test = BACKEND.awaiting().await;
    let keep = async |email| {
        let kept = test.keep_receipt_email(&id(1), email, at(30)).await;
        let KeptEmail { snapshot, change } = kept.unwrap().unwrap();
        (snapshot.order.receipt_email, change)
    };
    let own = Some("a@b.example");
    keep(own).await;
    test.observe(20, exact("COMPLETED")).await;
    for other in [Some("c@d.example"), None] {
        let kept = keep(other).await;
        assert_eq!(kept, (own.map(str::to_owned), EmailChange::Refused));
    }
    assert_eq!(keep(own).await.1, EmailChange::Unchanged);
    assert_eq!(test.event_types().await.last(), Some(&E::Paid));
}

#[tokio::test]
async fn an_address_that_a_paid_order_is_given_is_an_event() {
    let test = BACKEND.awaiting().await;
    test.observe(20, exact("COMPLETED")).await;
    let (order, email) = (id(1), Some("a@b.example"));
    for change in [EmailChange::First, EmailChange::Unchanged] {
        let kept = test.keep_receipt_email(&order, email, at(30));
        assert_eq!(kept.await.unwrap().unwrap().change, change);
    }
    let types = test.event_types().await;
    assert_eq!(types[2..], [E::Paid, E::EmailAdded]);
    let events = test.listed().await;
    let stated = "\"receipt_email\":\"a@b.example\"";
    assert!(events[3].payload.contains(stated), "{}", events[3].payload);
}

#[tokio::test]
async fn a_refund_address_is_kept_while_money_is_owed_and_is_an_event() {
    let test = BACKEND.awaiting().await;
    let keep = async |address: &str| {
        let kept = test.keep_refund_address(&id(1), address, at(30)).await;
        kept.unwrap()?.order.refund_address
    };
    assert_eq!(keep("tb1qmine").await, None, "nothing is owed");
    let double = received("COMPLETED", "0.00061946", "39.80", "39.80");
    test.observe(20, double).await;
    let own = ADDRESS.to_uppercase();
    assert_eq!(keep(&own).await, None, "it was paid to");
    for address in ["tb1qmine", "tb1qmine", "tb1qother"] {
        assert_eq!(keep(address).await.as_deref(), Some(address));
    }
    let types = test.event_types().await;
    assert_eq!(types[4..], [E::RefundAddressAdded; 2]);
    let events = test.listed().await;
    let stated = "\"refund_address\":\"tb1qother\"";
    assert!(events[5].payload.contains(stated), "{}", events[5].payload);
}

#[tokio::test]
async fn orders_without_an_attempt_expire_in_batches() {
    let test = BACKEND.test().await;
    for number in 1..=150 {
        test.order(number).await;
    }
    test.awaiting(200).await;
    let expired = async |now| test.expire_orders(at(now)).await.unwrap().len();
    for (now, count) in [(86_399, 0), (86_400, 100), (86_400, 50), (86_401, 0)] {
        assert_eq!(expired(now).await, count, "{now}");
    }
    assert_eq!(test.status(150).await, OrderStatus::Expired);
    assert_eq!(test.status(200).await, OrderStatus::AwaitingPayment);
}
