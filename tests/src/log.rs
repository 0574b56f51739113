//! The log of a world, in which an unexpected error fails the test.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use parking_lot::Mutex;
use tracing::field::{Field, Visit};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

/// The lines of one world, and the statements to its database. Tests run on one thread each, and so does all that a test
/// spawns: what this thread logs is this world's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Line>>>, Arc<Mutex<Vec<String>>>);

/// The target of what sqlx logs of each statement, at the level DEBUG.
const STATEMENT: &str = "sqlx::query";

#[derive(Debug)]
struct Line {
    level: Level,
    text: String,
}

impl Log {
    /// Begins to keep what this thread logs, from the level INFO on, until the guard is dropped.
    pub(crate) fn begin() -> (Self, DefaultGuard) {
        let log = Self::default();
        let subscriber = tracing_subscriber::registry().with(log.clone());
        let guard = tracing::subscriber::set_default(subscriber);
        (log, guard)
    }

    pub(crate) fn errors(&self) -> Vec<String> {
        let lines = self.0.lock();
        let errors = lines.iter().filter(|line| line.level == Level::ERROR);
        errors.map(|line| line.text.clone()).collect()
    }

    pub(crate) fn says(&self, text: &str) -> bool {
        let lines = self.0.lock();
        lines.iter().any(|line| line.text.contains(text))
    }

    pub(crate) fn statements(&self, text: &str) -> usize {
        let statements = self.1.lock();
        let counted = statements.iter().filter(|known| known.contains(text));
        counted.count()
    }
}

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.0.lock();
        for Line { level, text } in lines.iter() {
            writeln!(f, "{level:5} {text}")?;
        }
        Ok(())
    }
}

impl<S: Subscriber> Layer<S> for Log {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let (level, target) = (*event.metadata().level(), event.metadata().target());
        if target == STATEMENT {
            let mut text = Text(String::new());
            event.record(&mut text);
            let mut statements = self.1.lock();
            statements.push(text.0);
        }
        if level > Level::INFO {
            return;
        }
        let mut text = Text(format!("{target}:"));
        event.record(&mut text);
        let mut lines = self.0.lock();
        lines.push(Line {
            level,
            text: text.0,
        });
    }
}

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}
