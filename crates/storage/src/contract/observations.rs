//! Observations: stored once per change, bounded, and counted when they repeat.

use super::*;

fn due(poll: u32) -> DueAttempt {
    DueAttempt {
        attempt_id: new_attempt(1).id,
        order_id: id(1),
        invoice_id: invoice(1).id,
        priority: PollPriority::Unwatched,
        poll_seq: poll,
        stretch: florin_orders::Stretch::NONE,
        traceparent: None,
    }
}

pub(super) async fn a_response_that_repeats_is_counted_and_a_padded_one_is_cut(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    for (poll, status, raw) in [
        (1, "WAITING", "1".to_owned()),
        (2, "WAITING", "2".to_owned()),
        (3, "PENDING", "3".to_owned()),
        (4, "WAITING", "4".to_owned()),
        (5, "PROCESSING", "ü".repeat(100_000)),
    ] {
        let observation = Observation {
            raw,
            observed_at: at(10 + i64::from(poll)),
            ..observed(status)
        };
        let due = due(poll);
        let recorded = test.storage.record_observation(&due, &observation);
        recorded.await.unwrap().expect("the latest poll");
    }
    for (times, rows) in [(2, 1), (1, 3)] {
        let of = format!(
            "SELECT count(*) FROM observations WHERE times = {times} AND (last_at > observed_at) = (times > 1)"
        );
        assert_eq!(test.number(&of).await, rows, "{times} times");
    }
    assert_eq!(test.number("SELECT count(*) FROM observations").await, 4);
    let longest = "SELECT CAST(max(octet_length(raw)) AS bigint) FROM observations";
    assert_eq!(test.number(longest).await, 4096);
}
