//! Whole lives of an order, in the database and without one: after every look both say the same.

use proptest::prelude::*;
use tokio::runtime::Builder;

use super::*;
use crate::sqlite::attempts::find;
use florin_orders::fixtures::life::{Life, Look, unruly_looks};
use florin_orders::{Attempt, Flow, Order};

/// Opens the order of a life with its three attempts.
async fn opened(ledger: &SqliteLedger, life: &Life) {
    let terms = NewOrder {
        flow: life.order.terms.flow,
        ..terms("r1")
    };
    let opened = ledger.open_order(&life.order.id, &terms, token(1), at(86_400), at(0));
    opened.await.unwrap();
    for attempt in &life.attempts {
        let begun = ledger.begin_attempt(&life.order.id, &attempt.terms, at(0));
        begun.await.unwrap();
        let invoice = attempt.invoice().unwrap();
        let opened = ledger.open_attempt(&attempt.terms.id, invoice, at(0));
        opened.await.unwrap();
    }
}

fn due(attempt: &Attempt, look: u32) -> DueAttempt {
    DueAttempt {
        attempt_id: attempt.terms.id.clone(),
        order_id: attempt.order_id.clone(),
        invoice_id: attempt.invoice().unwrap().id.clone(),
        urgency: Urgency::Planned,
        look,
    }
}

/// The attempt as the database has it.
async fn kept(ledger: &SqliteLedger, attempt: &Attempt) -> Attempt {
    let mut reader = ledger.reader.acquire().await.unwrap();
    find(&mut reader, &attempt.terms.id).await.unwrap()
}

async fn rows_of(ledger: &SqliteLedger, table: &str) -> usize {
    let count = format!("SELECT count(*) FROM {table}");
    let count = sqlx::query_scalar::<_, i64>(sqlx::AssertSqlSafe(count));
    usize::try_from(count.fetch_one(&ledger.reader).await.unwrap()).unwrap()
}

async fn lives(flow: Flow, looks: &[Look]) {
    let home = home("lives").await;
    let (ledger, mut life) = (&home.ledger, Life::new(flow));
    opened(ledger, &life).await;
    let mut recorded = 0;
    for look in looks {
        let (told, attempt) = (life.events.len(), &life.attempts[look.attempt]);
        let (due, seen) = (
            due(attempt, look.number),
            look.said.about(look.attempt, look.at),
        );
        let observed = ledger.observe(&due, &seen).await.unwrap();
        let verdict = life.sees(look);
        recorded += usize::from(verdict.is_some());
        assert_eq!(
            observed.as_ref().map(|seen| &seen.verdict),
            verdict.as_ref()
        );
        let events = observed.map_or_else(Vec::new, |seen| seen.events);
        assert_eq!(events, life.events[told..]);
        let known = ledger
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
        if verdict.is_some() {
            let attempt = &life.attempts[look.attempt];
            assert_eq!(&kept(ledger, attempt).await, attempt);
        }
    }
    let mut told = vec![
        E::Created,
        E::AttemptOpened,
        E::AttemptOpened,
        E::AttemptOpened,
    ];
    told.extend(&life.events);
    assert_eq!(event_types(ledger).await, told);
    assert_eq!(rows_of(ledger, "outbox").await, told.len());
    assert_eq!(rows_of(ledger, "observations").await, recorded);
    assert_eq!(rows_of(ledger, "credits").await, life.credits.len());
    let credit = ledger.settlement(&life.order.id).await.unwrap();
    let credited = life.credits.first().map(|by| &life.attempts[*by].terms.id);
    assert_eq!(credit.as_ref().map(|credit| &credit.attempt_id), credited);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_database_makes_of_every_life_what_the_pure_functions_do(
        is_hosted in any::<bool>(),
        looks in unruly_looks(20),
    ) {
        let flow = if is_hosted { Flow::Hosted } else { Flow::Custom };
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(lives(flow, &looks));
    }
}
