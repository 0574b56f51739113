//! Problems of a configuration.

use std::fmt::Display;
use std::ops::RangeInclusive;

/// Everything that is wrong with a configuration, each by its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key, `gateway.url` or `store.demo.origins`, or the variable.
    pub key: String,
    /// What is wrong and what to write instead. Never a secret.
    pub message: String,
}

impl Display for Problems {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for Problem { key, message } in &self.0 {
            writeln!(f, "{key}: {message}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Collects problems: all checks run, so that every problem is reported at once.
#[derive(Default)]
pub(crate) struct Errors(Vec<Problem>);

impl Errors {
    pub(crate) fn add(&mut self, key: &str, message: impl Into<String>) {
        self.0.push(Problem {
            key: key.to_owned(),
            message: message.into(),
        });
    }

    pub(crate) fn record<T>(&mut self, key: &str, result: Result<T, String>) -> Option<T> {
        result.map_err(|message| self.add(key, message)).ok()
    }

    /// A number that is within its limits, or the default where none is set.
    pub(crate) fn within<T: Copy + Display + PartialOrd>(
        &mut self,
        key: &str,
        given: Option<T>,
        default: T,
        limits: RangeInclusive<T>,
        unit: &str,
    ) -> T {
        let number = given.unwrap_or(default);
        if !limits.contains(&number) {
            let (least, most) = (limits.start(), limits.end());
            self.add(key, format!("write {least} to {most} {unit}"));
        }
        number
    }

    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, Problems> {
        value.filter(|_| self.0.is_empty()).ok_or(Problems(self.0))
    }
}
