//! Requests that come with an idempotency key.

use super::*;
use crate::{Claim, Fingerprint, RequestId, StoredResponse};

const REQUEST: RequestId = RequestId([1; 32]);
const ASKED: Fingerprint = Fingerprint([2; 32]);

async fn claim(storage: &Store, fingerprint: Fingerprint, now: i64) -> Claim {
    let claim = storage.claim_request(REQUEST, fingerprint, at(now), at(now + 30));
    claim.await.unwrap()
}

fn response() -> StoredResponse {
    StoredResponse {
        status: 201,
        body: "{}".into(),
    }
}

pub(super) async fn a_request_is_executed_once_and_replayed(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    order(storage, 1).await;
    let response = response();
    assert_eq!(claim(storage, ASKED, 0).await, Claim::Acquired);
    assert_eq!(claim(storage, ASKED, 29).await, Claim::Running);
    let kept = storage.store_response(REQUEST, at(30), &response, at(900));
    assert!(kept.await.unwrap());
    assert_eq!(
        claim(storage, ASKED, 31).await,
        Claim::Completed(response.clone())
    );
    let other = Fingerprint([3; 32]);
    assert_eq!(claim(storage, other, 31).await, Claim::Reused);
    assert_eq!(storage.delete_expired_requests(at(899)).await.unwrap(), 0);
    assert_eq!(storage.delete_expired_requests(at(900)).await.unwrap(), 1);
}

pub(super) async fn a_crash_locks_no_key_for_ever(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    order(storage, 1).await;
    let response = response();
    assert_eq!(claim(storage, ASKED, 0).await, Claim::Acquired);
    assert_eq!(claim(storage, ASKED, 30).await, Claim::Acquired);
    // The previous holder of the lease comes too late.
    let late = storage.store_response(REQUEST, at(30), &response, at(900));
    assert!(!late.await.unwrap());
    storage.release_request(REQUEST, at(30)).await.unwrap();
    assert_eq!(claim(storage, ASKED, 31).await, Claim::Running);
    storage.release_request(REQUEST, at(60)).await.unwrap();
    assert_eq!(claim(storage, ASKED, 32).await, Claim::Acquired);
}

pub(super) async fn a_crash_under_a_clock_that_was_ahead_locks_no_key_for_longer(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    assert_eq!(claim(storage, ASKED, 3600).await, Claim::Acquired);
    // The clock is set right by a second, and then by the hour.
    assert_eq!(claim(storage, ASKED, 3599).await, Claim::Running);
    assert_eq!(claim(storage, ASKED, 10).await, Claim::Acquired);
    assert_eq!(claim(storage, ASKED, 11).await, Claim::Running);
}

pub(super) async fn another_token_sees_the_same_order_until_it_is_over(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    order(storage, 1).await;
    storage.add_token(&id(1), token(2), at(900)).await.unwrap();
    for number in [1, 2] {
        let observation = storage.order_of_token(token(number), at(899)).await;
        assert_eq!(observation.unwrap().unwrap().order.id, id(1), "{number}");
    }
    let observation = storage.order_of_token(token(2), at(900)).await;
    assert_eq!(observation.unwrap(), None);
}
