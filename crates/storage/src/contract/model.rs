//! Random orders, in the database and without one: both agree after every poll.

use florin_orders::fixtures::life::{Life, Poll, unordered_polls};
use florin_orders::{Flow, Order};
use proptest::prelude::*;
use tokio::runtime::Builder;

use super::*;
use crate::StoreScope;

async fn opened(test: &Test, life: &Life) {
    let (order, flow) = (&life.aggregate.order.id, life.aggregate.order.terms.flow);
    let terms = NewOrder {
        flow,
        ..terms("r1")
    };
    let opened = test.open_order(order, &terms, token(1), at(86_400), at(0));
    opened.await.unwrap();
    for attempt in &life.aggregate.attempts {
        let begun = test.begin_attempt(order, &attempt.terms, at(0)).await;
        begun.unwrap();
        let (id, invoice) = (&attempt.terms.id, attempt.invoice().unwrap());
        test.open_attempt(id, invoice, at(0)).await.unwrap();
    }
}

fn due(attempt: &Attempt, poll: u32) -> DueAttempt {
    DueAttempt {
        attempt_id: attempt.terms.id.clone(),
        order_id: attempt.order_id.clone(),
        invoice_id: attempt.invoice().unwrap().id.clone(),
        ..polled(0, poll)
    }
}

async fn rows_of(test: &Test, table: &str) -> usize {
    let count = test.number(&format!("SELECT count(*) FROM {table}")).await;
    usize::try_from(count).unwrap()
}

async fn lives(flow: Flow, polls: &[Poll]) {
    let test = BACKEND.test().await;
    let mut life = Life::new(flow);
    opened(&test, &life).await;
    let mut recorded = 0;
    for poll in polls {
        let (earlier, attempt) = (life.events.len(), &life.aggregate.attempts[poll.attempt]);
        let due = due(attempt, poll.number);
        let observation = poll.response.about(poll.attempt, poll.at);
        let observed = test.record_observation(&due, &observation).await.unwrap();
        let assessment = life.record(poll);
        recorded += usize::from(assessment.is_some());
        let (assessed, events) = observed.map(|it| (it.assessment, it.events)).unzip();
        assert_eq!(assessed, assessment);
        assert_eq!(events.unwrap_or_default(), life.events[earlier..]);
        let history = test.order_history(&StoreScope::All, &due.order_id).await;
        let known = history.unwrap().unwrap().aggregate;
        let order = Order {
            sequence: 4 + u32::try_from(life.events.len()).unwrap(),
            // A life begins with another one.
            version: known.order.version,
            ..life.aggregate.order.clone()
        };
        assert_eq!(known.order, order);
        if assessment.is_some() {
            let attempt = &life.aggregate.attempts[poll.attempt];
            assert_eq!(known.attempt(&attempt.terms.id), Some(attempt));
        }
    }
    let opened = E::AttemptOpened;
    let mut expected = vec![E::Created, opened, opened, opened];
    expected.extend(&life.events);
    assert_eq!(test.event_types().await, expected);
    assert_eq!(rows_of(&test, "outbox").await, expected.len());
    let observed = "SELECT CAST(coalesce(sum(times), 0) AS bigint) FROM observations";
    let observed = test.number(observed).await;
    assert_eq!(usize::try_from(observed).unwrap(), recorded);
    assert_eq!(rows_of(&test, "credits").await, life.credits.len());
    for by in &life.credits {
        let by = &life.aggregate.attempts[*by].terms.id;
        let credit = format!("credits WHERE attempt_id = '{by}'");
        assert_eq!(rows_of(&test, &credit).await, 1);
    }
}

#[test]
fn the_database_makes_of_every_life_what_the_pure_functions_do() {
    let config = ProptestConfig::with_cases(24);
    proptest!(config, |(is_hosted in any::<bool>(), polls in unordered_polls(20))| {
        let flow = if is_hosted { Flow::Hosted } else { Flow::Custom };
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(lives(flow, &polls));
    });
}
