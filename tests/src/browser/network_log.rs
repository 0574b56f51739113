//! Everything that Chromium asked of the network for one page, noted by Chromium itself.
//!
//! Unlike what a page can list, the log holds requests of every frame and worker, of every kind, and those that were
//! refused. What Chromium asks for its own sake names no page, and is left out.
//!
//! Source: Chromium, `net/log/file_net_log_observer.cc` and `net/log/net_log_event_type_list.h` (2026): the first line
//! holds the constants, and each event is a line of its own.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::{Browser, State};

/// The file in the browser's folder.
pub(super) const FILE: &str = "network.json";

impl Browser {
    /// Closes it, which was opened alone, and answers what was asked for by pages of this host and by all that they
    /// frame: `POST http://…`, and `name host` for a name that was looked up without a request.
    ///
    /// # Panics
    /// It was not opened by [`Browser::open_alone`]: nothing was noted.
    pub async fn end_and_list_requests(mut self, host: &str) -> BTreeSet<String> {
        let State::Alone(process) = &mut self.state else {
            panic!("only a browser that was opened alone notes what it asks for");
        };
        let file = process.folder.file(FILE);
        process.quit().await;
        let text = fs::read_to_string(file).expect("Chromium notes what it asks for");
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
