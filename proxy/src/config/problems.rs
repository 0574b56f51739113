//! Problems of a configuration.

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

impl std::fmt::Display for Problems {
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

    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, Problems> {
        value.filter(|_| self.0.is_empty()).ok_or(Problems(self.0))
    }
}
