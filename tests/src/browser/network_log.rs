//! All network requests of Chromium for one page, from Chromium's network log.
//!
//! Unlike the Performance API, the log contains the requests of every frame and worker, and blocked ones. Chromium's
//! own background requests name no page and are left out.
//!
//! Source: Chromium, `net/log/file_net_log_observer.cc` and `net/log/net_log_event_type_list.h` (2026): the first line
//! holds the constants, and every other line is one event.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::{Browser, State};

/// The file in the browser's folder.
pub(super) const FILE: &str = "network.json";

impl Browser {
    /// Closes a browser of [`Browser::open_alone`] and returns the requests of pages of this host and their frames:
    /// `POST http://…`, and `name host` for a name that was looked up without a request.
    ///
    /// # Panics
    /// It was not opened by [`Browser::open_alone`]: nothing was noted.
    pub async fn end_and_list_requests(mut self, host: &str) -> BTreeSet<String> {
        let State::Alone(process) = &mut self.state else {
            panic!("only a browser of open_alone has a network log");
        };
        let file = process.folder.file(FILE);
        process.quit().await;
        let text = fs::read_to_string(file).expect("Chromium writes its network log");
        requests(&text, &format!("http://{host} "))
    }
}

fn requests(log: &str, page: &str) -> BTreeSet<String> {
    let mut lines = log.lines();
    let constants = lines.next().unwrap_or_default().trim_end_matches(',');
    let constants: Value = serde_json::from_str(&format!("{constants}}}")).expect("the constants");
    let kind = |name: &str| constants["constants"]["logEventTypes"][name].clone();
    let request = kind("URL_REQUEST_START_JOB");
    let lookup = kind("HOST_RESOLVER_MANAGER_REQUEST");
    assert!(
        request.is_u64() && lookup.is_u64(),
        "the log's words are others"
    );
    let events = lines.filter_map(|line| serde_json::from_str(line.trim_end_matches(',')).ok());
    let asked = events.filter_map(|event: Value| {
        let of = |member: &str| event["params"][member].as_str();
        if event["type"] == request && of("network_isolation_key")?.starts_with(page) {
            return Some(format!("{} {}", of("method")?, of("url")?));
        }
        if event["type"] == lookup && of("network_anonymization_key")?.starts_with(page) {
            return Some(format!("name {}", of("host")?));
        }
        None
    });
    asked.collect()
}
