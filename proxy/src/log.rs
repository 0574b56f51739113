//! The log: lines for people on a terminal, JSON for machines elsewhere.

use std::io::IsTerminal as _;
use std::sync::OnceLock;

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
