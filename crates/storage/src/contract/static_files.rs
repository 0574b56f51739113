//! Files of the checkout, for processes of other versions.

use super::*;
use crate::StaticFile;

pub(super) async fn files_of_a_version_are_kept_while_it_runs_and_thirty_days_after(
    backend: Backend,
) {
    let mut test = backend.test().await;
    let asset = |name: &str| StaticFile {
        name: name.to_owned(),
        whole: name.as_bytes().to_vec(),
        brotli: (name != "c.js").then(|| vec![1]),
    };
    let (old, new) = (
        [asset("a.js"), asset("b.js")],
        [asset("b.js"), asset("c.js")],
    );
    let day = |days: i64| at(days * 86_400);
    test.storage.keep_static_files(&old, day(0)).await.unwrap();
    // After an upgrade.
    test.reopen().await;
    let storage = &test.storage;
    storage.keep_static_files(&new, day(10)).await.unwrap();
    for kept in [&old[0], &old[1], &new[1]] {
        let found = storage.static_file(&kept.name).await.unwrap();
        assert_eq!(found.as_ref(), Some(kept));
    }
    assert_eq!(storage.static_file("d.js").await.unwrap(), None);
    storage.keep_static_files(&new, day(29)).await.unwrap();
    assert!(storage.static_file("a.js").await.unwrap().is_some());
    storage.keep_static_files(&new, day(31)).await.unwrap();
    assert_eq!(storage.static_file("a.js").await.unwrap(), None);
    assert!(storage.static_file("b.js").await.unwrap().is_some());
}
