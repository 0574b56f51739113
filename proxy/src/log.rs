//! The log: lines for people on a terminal, JSON for machines elsewhere; and the ids of requests in it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::IsTerminal as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::reload::{self, Handle};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, Registry, fmt};

pub(crate) fn check(directives: &str) -> Result<(), String> {
    // Each by itself, so that the message can name it.
    for directive in directives.split(',').map(str::trim) {
        if let Err(error) = EnvFilter::try_new(directive) {
            return Err(format!(
                "{directive:?} is no filter ({error}): write like info or florin_proxy=debug"
            ));
        }
    }
    Ok(())
}

/// The storage reports by itself, and once, why a connection to the database cannot be opened. Its library logs each try.
const REPORTED_BY_STORAGE: &str = "sqlx_core::pool=off";

static FILTER: OnceLock<Handle<EnvFilter, Registry>> = OnceLock::new();

/// Starts logging to standard error.
///
/// # Errors
/// When `directives` is no `tracing` filter; the text says what is wrong.
pub fn init(directives: &str) -> Result<(), String> {
    let (filter, handle) = reload::Layer::new(filter(directives)?);
    let lines = fmt::layer()
        .with_writer(std::io::stderr)
        // The library would report a line that cannot be written by one more line, and panic: a full disk with the log on it
        // would end the process.
        .log_internal_errors(false);
    let lines = if std::io::stderr().is_terminal() {
        lines.with_target(false).boxed()
    } else {
        let lines = lines.json().flatten_event(true);
        lines.with_current_span(true).boxed()
    };
    let log = tracing_subscriber::registry().with(filter).with(lines);
    log.try_init().map_err(|error| error.to_string())?;
    // There is one log for each process: what starts a second one has failed above.
    let _ = FILTER.set(handle);
    Ok(())
}

/// Changes what is logged. Does nothing where the log is another program's, like that of a test.
pub(crate) fn set(directives: &str) -> Result<(), String> {
    let filter = filter(directives)?;
    let Some(handle) = FILTER.get() else {
        return Ok(());
    };
    handle.reload(filter).map_err(|error| error.to_string())
}

fn filter(directives: &str) -> Result<EnvFilter, String> {
    // Of two directives for one target the later one holds.
    let directives = format!("{REPORTED_BY_STORAGE},{directives}");
    EnvFilter::try_new(directives).map_err(|error| error.to_string())
}

const PREFIX: &[u8; 4] = b"req_";

/// Ids of requests: `req_` and 64 bits as hexadecimal digits. They differ, and do not show how many there are.
///
/// They are hashes of a random key and a number, because drawing random bits takes a call of the system.
#[derive(Debug)]
pub(crate) struct RequestIds {
    key: [u8; 16],
    next_number: AtomicU64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestId {
    text: [u8; 20],
    draw: u32,
}

impl RequestIds {
    pub(crate) fn new(key: [u8; 16]) -> Self {
        Self {
            key,
            next_number: AtomicU64::default(),
        }
    }

    pub(crate) fn next(&self) -> RequestId {
        let mut hasher = DefaultHasher::new();
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        (self.key, number).hash(&mut hasher);
        let bits = hasher.finish();
        let mut text = [0; 20];
        text[..4].copy_from_slice(PREFIX);
        let digits = &mut text[4..];
        hex::encode_to_slice(bits.to_be_bytes(), digits).expect("eight bytes have sixteen digits");
        let draw = u32::try_from(bits >> 32).expect("the upper half has 32 bits");
        RequestId { text, draw }
    }
}

impl RequestId {
    pub(crate) fn span(&self) -> tracing::Span {
        tracing::info_span!("request", request_id = self.as_str())
    }

    /// Random bits, for what is done for a share of the requests.
    pub(crate) fn draw(&self) -> u32 {
        self.draw
    }

    pub(crate) fn as_str(&self) -> &str {
        str::from_utf8(&self.text).expect("hexadecimal digits are ASCII")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_differ_and_say_nothing_of_their_order() {
        let (one, other) = (RequestIds::new([1; 16]), RequestIds::new([2; 16]));
        let ids: Vec<String> = (0..1000)
            .flat_map(|_| [one.next(), other.next()])
            .map(|id| id.as_str().to_owned())
            .collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 2000);
        assert!(!ids.is_sorted());
        let has_shape = |id: &String| id.len() == 20 && id.starts_with("req_");
        assert!(ids.iter().all(has_shape));
    }
}
