//! Prices that quotes are honoured from.

use super::*;

fn prices(fetched: i64) -> PriceList {
    PriceList {
        fetched_at: at(fetched),
        body: format!("{{\"BTC\":{fetched}}}"),
    }
}

pub(super) async fn prices_are_kept_until_they_are_invalidated_or_expire(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    for fetched in [30, 0, 60] {
        storage.keep_prices(&prices(fetched)).await.unwrap();
    }
    let after = async |time| storage.prices(at(time)).await.unwrap();
    assert_eq!(after(-1).await, [prices(0), prices(30), prices(60)]);
    assert_eq!(after(0).await, [prices(30), prices(60)]);
    assert_eq!(storage.delete_expired_prices(at(30)).await.unwrap(), 2);
    assert_eq!(storage.delete_expired_prices(at(30)).await.unwrap(), 0);
    assert_eq!(after(-1).await, [prices(60)]);
    storage.invalidate_prices().await.unwrap();
    assert_eq!(after(-1).await, []);
}

pub(super) async fn prices_survive_the_process(backend: Backend) {
    let mut test = backend.test().await;
    test.storage.keep_prices(&prices(0)).await.unwrap();
    test.reopen().await;
    assert_eq!(test.storage.prices(at(-1)).await.unwrap(), [prices(0)]);
}
