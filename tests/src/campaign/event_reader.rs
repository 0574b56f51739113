//! A store that follows its list of events by `GET /v1/events`, through any proxy.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::counters::Counters;
use crate::wait::pause;
use crate::world::secrets;

/// Pause after a page that was empty, or after a request that failed.
const PAUSE: Duration = Duration::from_millis(20);
/// Small, so that many pages end between events of transactions that run at the same time.
const PAGE: u32 = 5;

pub(super) struct EventReader {
    pub(super) http: reqwest::Client,
    pub(super) proxy: String,
    pub(super) counters: Arc<Counters>,
    pub(super) is_closing: Arc<AtomicBool>,
}

impl EventReader {
    /// Reads until the campaign closes and the list has no more.
    pub(super) async fn run(self, log: PathBuf) {
        let mut log = open(&log);
        let mut after = None;
        loop {
            let was_closing = self.is_closing.load(Ordering::Relaxed);
            let Some(page) = self.page(after.as_deref()).await else {
                pause(PAUSE).await;
                continue;
            };
            for event in page["events"].as_array().into_iter().flatten() {
                let line = json!({"store": "demo", "id": event["id"]});
                writeln!(log, "{line}").expect("the folder is writable");
                self.counters.one("store", "events read from the list");
            }
            match page["next"].as_str() {
                Some(next) => after = Some(next.to_owned()),
                None if was_closing => return,
                None => pause(PAUSE).await,
            }
        }
    }

    /// A page; `None` when the request failed.
    async fn page(&self, after: Option<&str>) -> Option<Value> {
        let after = after.map_or_else(String::new, |after| format!("&after={after}"));
        let url = format!("{}/v1/events?limit={PAGE}{after}", self.proxy);
        let request = self.http.get(url).bearer_auth(secrets::STORE_KEY);
        let response = request.send().await.ok()?;
        let status = response.status().as_u16();
        let body: Value = response.json().await.ok()?;
        assert!(status == 200 || status >= 500, "{status}: {body}");
        (status == 200).then_some(body)
    }
}

fn open(path: &Path) -> File {
    let log = File::options().create(true).append(true).open(path);
    log.expect("the folder is writable")
}
