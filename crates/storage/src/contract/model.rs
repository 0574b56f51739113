//! Random orders, in the database and in the model: both agree after every poll.

use florin_orders::fixtures::life::{Life, Poll, unordered_polls};
use florin_orders::{Attempt, Flow, Order};
use proptest::prelude::*;
use tokio::runtime::Builder;

use super::*;

/// Opens the order of a life with its three attempts.
async fn opened(storage: &Store, life: &Life) {
    let terms = NewOrder {
        flow: life.order.terms.flow,
        ..terms("r1")
    };
    let opened = storage.open_order(&life.order.id, &terms, token(1), at(86_400), at(0));
    opened.await.unwrap();
    for attempt in &life.attempts {
        let begun = storage.begin_attempt(&life.order.id, &attempt.terms, at(0));
        begun.await.unwrap();
        let invoice = attempt.invoice().unwrap();
        let opened = storage.open_attempt(&attempt.terms.id, invoice, at(0));
        opened.await.unwrap();
    }
}

fn due(attempt: &Attempt, poll: u32) -> DueAttempt {
    DueAttempt {
        attempt_id: attempt.terms.id.clone(),
        order_id: attempt.order_id.clone(),
        invoice_id: attempt.invoice().unwrap().id.clone(),
        priority: PollPriority::Unwatched,
        poll_seq: poll,
        stretch: florin_orders::Stretch::NONE,
        traceparent: None,
    }
}

async fn rows_of(test: &Test, table: &str) -> usize {
    let count = test.number(&format!("SELECT count(*) FROM {table}")).await;
    usize::try_from(count).unwrap()
}

async fn lives(backend: Backend, flow: Flow, polls: &[Poll]) {
    let test = backend.test().await;
    let (storage, mut life) = (&test.storage, Life::new(flow));
    opened(storage, &life).await;
    let mut recorded = 0;
    for poll in polls {
        let (earlier, attempt) = (life.events.len(), &life.attempts[poll.attempt]);
        let (due, observation) = (
            due(attempt, poll.number),
            poll.response.about(poll.attempt, poll.at),
        );
        let observed = storage
            .record_observation(&due, &observation)
            .await
            .unwrap();
        let assessment = life.record(poll);
        recorded += usize::from(assessment.is_some());
        assert_eq!(
            observed.as_ref().map(|observation| &observation.assessment),
            assessment.as_ref()
        );
        let events = observed.map_or_else(Vec::new, |observation| observation.events);
        assert_eq!(events, life.events[earlier..]);
        let known = storage
            .snapshot(&life.order.id)
            .await
            .unwrap()
            .unwrap()
            .order;
        let order = Order {
            sequence: 4 + u32::try_from(life.events.len()).unwrap(),
            // A life counts no versions.
            version: known.version,
            ..life.order.clone()
        };
        assert_eq!(known, order);
        if assessment.is_some() {
            let attempt = &life.attempts[poll.attempt];
            assert_eq!(&test.attempt(&attempt.terms.id).await, attempt);
        }
    }
    let mut expected = vec![
        E::Created,
        E::AttemptOpened,
        E::AttemptOpened,
        E::AttemptOpened,
    ];
    expected.extend(&life.events);
    assert_eq!(event_types(storage).await, expected);
    assert_eq!(rows_of(&test, "outbox").await, expected.len());
    let observed = "SELECT CAST(coalesce(sum(times), 0) AS bigint) FROM observations";
    let observed = test.number(observed).await;
    assert_eq!(usize::try_from(observed).unwrap(), recorded);
    assert_eq!(rows_of(&test, "credits").await, life.credits.len());
    let credit = storage.credit_of(&life.order.id).await.unwrap();
    let credited = life.credits.first().map(|by| &life.attempts[*by].terms.id);
    assert_eq!(credit.as_ref().map(|credit| &credit.attempt_id), credited);
}

pub(super) fn the_database_makes_of_every_life_what_the_pure_functions_do(backend: Backend) {
    let config = ProptestConfig::with_cases(24);
    proptest!(config, |(is_hosted in any::<bool>(), polls in unordered_polls(20))| {
        let flow = if is_hosted { Flow::Hosted } else { Flow::Custom };
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(lives(backend, flow, &polls));
    });
}
