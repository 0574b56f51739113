//! The log: lines for people on a terminal, JSON for machines elsewhere.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

/// Returns `true` if a text is a `tracing` filter.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn check(directives: &str) -> Result<(), String> {
    let is_renamed = |directive: &str| {
        let target = directive.trim().split(['=', '[', ':']).next();
        target == Some("proxy")
    };
    if directives.split(',').any(is_renamed) {
        return Err("the lines of proxy are named florin_proxy now".to_owned());
    }
    // Each by itself, so that the message can name it.
    for directive in directives.split(',').map(str::trim) {
        if let Err(error) = EnvFilter::try_new(directive) {
            return Err(format!(
                "{directive:?} is no filter ({error}): write like info or florin_proxy=debug"
            ));
        }
    }
    EnvFilter::try_new(directives)
        .map(|_| ())
        .map_err(|error| format!("{error}: write like info or florin_proxy=debug"))
}

/// The storage reports by itself, and once, why a connection to the database cannot be opened. Its library logs each try.
const REPORTED_BY_STORAGE: &str = "sqlx_core::pool=off";

/// Starts logging to standard error.
///
/// # Errors
/// When `directives` is no `tracing` filter; the text says what is wrong.
pub fn init(directives: &str) -> Result<(), String> {
    // Of two directives for one target the later one holds.
    let directives = format!("{REPORTED_BY_STORAGE},{directives}");
    let filter = EnvFilter::try_new(directives).map_err(|error| error.to_string())?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let started = if std::io::stderr().is_terminal() {
        builder.with_target(false).try_init()
    } else {
        builder
            .json()
            .flatten_event(true)
            .with_current_span(true)
            .try_init()
    };
    started.map_err(|error| error.to_string())
}
