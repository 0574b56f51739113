//! Server-sent events out of the pieces in which the network delivers them.
//!
//! Source: HTML Living Standard, 9.2.6 "Interpreting an event stream", as far as the proxy uses it: fields `event` and
//! `data`, lines ended by a line feed, an empty line after each event; other fields and comments are passed over.

/// More than any order is long: a stream without an end of an event is given up.
const MAX_EVENT_BYTES: usize = 256 * 1024;

/// What has arrived of the event under way.
#[derive(Debug, Default)]
pub struct EventStream {
    pending: Vec<u8>,
}

/// The stream is not one of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlong;

impl EventStream {
    /// Takes the next piece and returns the data of each event that it completes.
    ///
    /// # Errors
    /// [`Overlong`] when no event ends for too long.
    pub fn push(&mut self, piece: &[u8]) -> Result<Vec<String>, Overlong> {
        let mut complete = Vec::new();
        for &byte in piece {
            if byte == b'\n' && self.pending.last() == Some(&b'\n') {
                complete.extend(data(&self.pending));
                self.pending.clear();
            } else {
                self.pending.push(byte);
            }
        }
        if self.pending.len() > MAX_EVENT_BYTES {
            return Err(Overlong);
        }
        Ok(complete)
    }
}

/// The `data` of one event's lines; `None` for a mere comment, the heartbeat.
fn data(event: &[u8]) -> Option<String> {
    let mut data: Option<Vec<u8>> = None;
    for line in event.split(|byte| *byte == b'\n') {
        let Some(value) = line.strip_prefix(b"data:") else {
            continue;
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &mut data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => data = Some(value.to_vec()),
        }
    }
    String::from_utf8(data?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_complete_at_its_empty_line() {
        let mut stream = EventStream::default();
        assert_eq!(stream.push(b"event: order\ndata: {\"a\":1}\n"), Ok(vec![]));
        assert_eq!(stream.push(b"\n"), Ok(vec!["{\"a\":1}".to_owned()]));
    }

    #[test]
    fn pieces_may_end_anywhere() {
        let whole = ": hello\n\nevent: order\ndata: é1\n\ndata:2\ndata:3\n\n".as_bytes();
        for size in 1..whole.len() {
            let mut stream = EventStream::default();
            let events: Vec<String> = whole
                .chunks(size)
                .flat_map(|piece| stream.push(piece).unwrap())
                .collect();
            assert_eq!(events, ["é1", "2\n3"], "pieces of {size}");
        }
    }

    #[test]
    fn a_heartbeat_is_no_event() {
        assert_eq!(EventStream::default().push(b":\n\n"), Ok(vec![]));
    }

    #[test]
    fn a_stream_without_end_is_given_up() {
        let mut stream = EventStream::default();
        assert_eq!(stream.push(&vec![b'x'; MAX_EVENT_BYTES + 1]), Err(Overlong));
    }
}
