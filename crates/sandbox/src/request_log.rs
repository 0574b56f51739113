//! The last calls to the service, for a developer who asks why one was refused.

use std::collections::VecDeque;

use serde::Serialize;

use crate::service::SignatureProof;

/// Calls that are remembered.
const CAPACITY: usize = 500;

/// The log.
#[derive(Debug, Default)]
pub(crate) struct RequestLog {
    calls: VecDeque<LoggedCall>,
    count: u64,
}

/// One call to the service.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LoggedCall {
    /// Counted from 1 since the start.
    pub(crate) number: u64,
    /// RFC 3339, UTC.
    pub(crate) at: String,
    pub(crate) method: String,
    /// Path with query, below `/api`.
    pub(crate) path: String,
    /// The status of the answer; `null` when the connection was dropped instead.
    pub(crate) status: Option<u16>,
    /// The code of a refusal.
    pub(crate) code: Option<&'static str>,
    /// Why it was refused: for a wrong signature, what should have been signed.
    pub(crate) message: Option<String>,
    /// For a wrong signature: what was expected, what came, and the mistake that explains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) signature: Option<Box<SignatureProof>>,
    /// The fault that was planned for this call.
    pub(crate) fault: Option<String>,
}

impl RequestLog {
    /// Adds a call under the next number.
    pub(crate) fn add(&mut self, call: LoggedCall) {
        self.count += 1;
        let number = self.count;
        self.calls.truncate(CAPACITY - 1);
        self.calls.push_front(LoggedCall { number, ..call });
    }

    pub(crate) fn newest_first(&self) -> Vec<LoggedCall> {
        self.calls.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_keeps_the_newest_calls_and_counts_all() {
        let mut log = RequestLog::default();
        for index in 0..CAPACITY + 3 {
            log.add(LoggedCall {
                number: 0,
                at: String::new(),
                method: "GET".to_owned(),
                path: format!("/prices?{index}"),
                status: Some(200),
                code: None,
                message: None,
                signature: None,
                fault: None,
            });
        }
        let calls = log.newest_first();
        assert_eq!(calls.len(), CAPACITY);
        assert_eq!(
            (calls[0].number, calls[0].path.as_str()),
            (503, "/prices?502")
        );
    }
}
