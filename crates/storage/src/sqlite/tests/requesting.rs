//! Requests that come with an idempotency key.

use super::*;
use crate::{Claim, Fingerprint, RequestId, StoredAnswer};

const REQUEST: RequestId = RequestId([1; 32]);
const ASKED: Fingerprint = Fingerprint([2; 32]);

async fn claim(ledger: &SqliteLedger, asked: Fingerprint, now: i64) -> Claim {
    let claim = ledger.claim_request(REQUEST, asked, at(now), at(now + 30));
    claim.await.unwrap()
}

fn answer() -> StoredAnswer {
    StoredAnswer {
        status: 201,
        body: "{}".into(),
        hands_out: Some((id(1), token(1))),
    }
}

#[tokio::test]
async fn a_request_is_carried_out_once_and_answered_the_same_again() {
    let home = home("request").await;
    let ledger = &home.ledger;
    order(ledger, 1).await;
    let answer = answer();
    assert_eq!(claim(ledger, ASKED, 0).await, Claim::Mine);
    assert_eq!(claim(ledger, ASKED, 29).await, Claim::Running);
    let kept = ledger.answer_request(REQUEST, at(30), &answer, at(900));
    assert!(kept.await.unwrap());
    assert_eq!(
        claim(ledger, ASKED, 31).await,
        Claim::Answered(answer.clone())
    );
    let other = Fingerprint([3; 32]);
    assert_eq!(claim(ledger, other, 31).await, Claim::Reused);
    assert_eq!(ledger.forget_requests(at(899)).await.unwrap(), 0);
    assert_eq!(ledger.forget_requests(at(900)).await.unwrap(), 1);
}

#[tokio::test]
async fn a_crash_locks_no_key_for_ever() {
    let home = home("request-crash").await;
    let ledger = &home.ledger;
    order(ledger, 1).await;
    let answer = answer();
    assert_eq!(claim(ledger, ASKED, 0).await, Claim::Mine);
    assert_eq!(claim(ledger, ASKED, 30).await, Claim::Mine);
    // Whoever was thought gone comes too late.
    let late = ledger.answer_request(REQUEST, at(30), &answer, at(900));
    assert!(!late.await.unwrap());
    ledger.release_request(REQUEST, at(30)).await.unwrap();
    assert_eq!(claim(ledger, ASKED, 31).await, Claim::Running);
    ledger.release_request(REQUEST, at(60)).await.unwrap();
    assert_eq!(claim(ledger, ASKED, 32).await, Claim::Mine);
}

#[tokio::test]
async fn another_token_sees_the_same_order_until_it_is_over() {
    let home = home("request-token").await;
    let ledger = &home.ledger;
    order(ledger, 1).await;
    ledger.admit(&id(1), token(2), at(900)).await.unwrap();
    for number in [1, 2] {
        let seen = ledger.order_of_token(token(number), at(899)).await;
        assert_eq!(seen.unwrap().unwrap().order.id, id(1), "{number}");
    }
    let seen = ledger.order_of_token(token(2), at(900)).await;
    assert_eq!(seen.unwrap(), None);
}
