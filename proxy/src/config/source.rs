//! Where settings come from: a TOML file, and environment variables, which win.
//!
//! Libraries for this (figment, config) merge lists whole and guess the type of a variable's text: a key of digits would
//! be a number, and no variable could name one store's key. The types' schema knows both.

use std::collections::BTreeMap;
use std::path::Path;

use toml::Table;

use crate::config::problems::{Findings, Problem, Problems};
use crate::config::schema::schema;
use crate::config::server::{Config, File, check};
use crate::config::shape::{self, Text, check_table};
use crate::config::{environment, renamed, rights};

/// Reads and checks the configuration.
///
/// # Errors
/// [`Problems`] lists everything that is wrong.
pub fn load(file: Option<&Path>, variables: &BTreeMap<String, String>) -> Result<Config, Problems> {
    let (text, mut settings) = match file {
        Some(path) => read(path)?,
        None => (String::new(), Table::new()),
    };
    let mut findings = Findings::default();
    let (schema, text) = (schema(), Text(&text));
    renamed::keys(&mut findings, &text, &mut settings);
    let written = settings.clone();
    environment::overlay(&mut findings, &mut settings, &schema, variables);
    let file = file.map(|path| (path, &written));
    rights::check(&mut findings, &schema, file, &settings);
    let root = shape::Path::default();
    if !check_table(&mut findings, &text, &schema, &mut settings, &root) {
        return findings.finish(None);
    }
    match settings.try_into::<File>() {
        Ok(file) => check(findings, file),
        Err(error) => {
            // The schema is the types' own, so this is a fault of the check. The message may hold a secret.
            debug_assert!(false, "the check of the shape missed: {error}");
            findings.add("the configuration", "has a value of another kind");
            findings.finish(None)
        }
    }
}

fn read(path: &Path) -> Result<(String, Table), Problems> {
    let problem = |message| {
        Problems(vec![Problem {
            key: path.display().to_string(),
            message,
        }])
    };
    let text = std::fs::read_to_string(path)
        .map_err(|error| problem(format!("the file cannot be read: {error}")))?;
    match text.parse::<Table>() {
        Ok(settings) => Ok((text, settings)),
        // The error without its excerpt: the line in question may hold a secret.
        Err(error) => {
            let line = error.span().map(|span| Text(&text).at(span.start));
            let line = line.unwrap_or_default();
            Err(problem(format!("{}{line}", error.message())))
        }
    }
}
