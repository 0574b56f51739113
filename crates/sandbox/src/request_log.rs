//! The last calls to the service, for a developer who asks why one was refused.

use std::collections::VecDeque;

use serde::Serialize;

use crate::service::SignatureProof;

/// Calls that are remembered.
const CAPACITY: usize = 500;
const MAX_HEADERS: usize = 40;
const MAX_HEADER_CHARS: usize = 500;
const MAX_BODY_CHARS: usize = 6_000;

/// The log.
#[derive(Debug, Default)]
pub(crate) struct RequestLog {
    calls: VecDeque<(LoggedCall, Exchange)>,
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

/// What went over the wire, cut where it is longer than anybody reads.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Exchange {
    /// Names and values in the order in which they came.
    headers: Vec<(String, String)>,
    body: String,
    /// What was answered, or would have been without the fault.
    answer: String,
}

impl Exchange {
    /// Whatever is no text is replaced by U+FFFD.
    pub(crate) fn new<'a>(
        headers: impl Iterator<Item = (&'a str, &'a [u8])>,
        body: &[u8],
        answer: String,
    ) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let headers = headers
            .take(MAX_HEADERS)
            .map(|(name, value)| (name.to_owned(), cut(text(value), MAX_HEADER_CHARS)));
        Self {
            headers: headers.collect(),
            body: cut(text(body), MAX_BODY_CHARS),
            answer: cut(answer, MAX_BODY_CHARS),
        }
    }
}

fn cut(text: String, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl RequestLog {
    /// Adds a call under the next number, and says which.
    pub(crate) fn add(&mut self, call: LoggedCall, exchange: Exchange) -> u64 {
        self.count += 1;
        let number = self.count;
        self.calls.truncate(CAPACITY - 1);
        let call = LoggedCall { number, ..call };
        self.calls.push_front((call, exchange));
        number
    }

    pub(crate) fn newest_first(&self) -> Vec<LoggedCall> {
        self.calls.iter().map(|(call, _)| call.clone()).collect()
    }

    /// A call with what went over the wire; `None` when it was never made, or long ago.
    pub(crate) fn find(&self, number: u64) -> Option<&(LoggedCall, Exchange)> {
        self.calls.iter().find(|(call, _)| call.number == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(index: usize) -> LoggedCall {
        LoggedCall {
            number: 0,
            at: String::new(),
            method: "GET".to_owned(),
            path: format!("/prices?{index}"),
            status: Some(200),
            code: None,
            message: None,
            signature: None,
            fault: None,
        }
    }

    #[test]
    fn the_log_keeps_the_newest_calls_and_counts_all() {
        let mut log = RequestLog::default();
        for index in 0..CAPACITY + 3 {
            log.add(
                call(index),
                Exchange::new([].into_iter(), b"", String::new()),
            );
        }
        let calls = log.newest_first();
        assert_eq!(calls.len(), CAPACITY);
        assert_eq!(
            (calls[0].number, calls[0].path.as_str()),
            (503, "/prices?502")
        );
    }

    #[test]
    fn what_is_kept_of_a_call_is_bounded() {
        let many = [("name", &[0xff; 1_000][..]); 100];
        let body = "€".repeat(10_000);
        let kept = Exchange::new(many.into_iter(), body.as_bytes(), body.clone());
        assert_eq!(kept.headers.len(), MAX_HEADERS);
        assert_eq!(kept.headers[0].1.chars().count(), MAX_HEADER_CHARS + 1);
        assert_eq!(kept.body.chars().count(), MAX_BODY_CHARS + 1);
        assert_eq!(kept.answer, kept.body);
    }
}
