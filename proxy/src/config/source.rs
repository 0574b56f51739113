//! Sources of settings: a TOML file, and environment variables, which win.
//!
//! Libraries for this (figment, config) merge lists whole and guess the type of a variable's text: a key of digits would
//! be a number, and no variable could name one store's key. The types' schema knows both.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use secrecy::SecretString;
use toml::Table;

use crate::config::environment::OPERATOR_TOKEN;
use crate::config::file_permissions::refuse_shared;
use crate::config::problems::{Errors, Problem, Problems};
use crate::config::schema::{Path as KeyPath, Text, check_table};
use crate::config::secrets::{MIN_GUESSABLE_CHARS, secret};
use crate::config::server::schema;
use crate::config::server::{self, Config, File, check};
use crate::config::{effective_settings, environment, file_permissions};

/// Reads and checks the configuration.
///
/// # Errors
/// [`Problems`] lists everything that is wrong.
pub fn load(file: Option<&Path>, variables: &BTreeMap<String, String>) -> Result<Config, Problems> {
    let (text, settings) = match file {
        Some(path) => read(path)?,
        None => (String::new(), Table::new()),
    };
    checked(file, &text, settings, variables)
}

/// Checks the text of a file that is not written yet.
///
/// # Errors
/// [`Problems`] lists everything that is wrong.
pub fn parse(text: &str) -> Result<Config, Problems> {
    let settings = table("the configuration", text)?;
    checked(None, text, settings, &BTreeMap::new())
}

/// The address of the admin listener, without a check of the other keys: a running proxy can be asked for its health while its
/// file is being edited.
///
/// # Errors
/// [`Problems`] names the file or the key.
pub fn admin_address(
    file: Option<&Path>,
    variables: &BTreeMap<String, String>,
) -> Result<SocketAddr, Problems> {
    let text = |value: &toml::Value| value.as_str().map(str::to_owned);
    let written = alone("admin_listen", file, variables, text)?;
    let mut errors = Errors::default();
    let address = server::admin_listen(&mut errors, written);
    errors.finish(address)
}

/// The token with which the command line calls the operator's API: from the file `named`, else from the environment. Of the
/// configuration it reads only whether files of secrets may be shared.
///
/// # Errors
/// [`Problems`] names the argument, the variable or the file.
pub fn operator_token(
    named: Option<&Path>,
    file: Option<&Path>,
    variables: &BTreeMap<String, String>,
) -> Result<SecretString, Problems> {
    let text = |value: &toml::Value| value.as_bool().map(|is_set| is_set.to_string());
    let switch = alone(file_permissions::SWITCH, file, variables, text)?;
    let may_be_shared = switch.as_deref() == Some("true");
    let [variable, file_variable] = OPERATOR_TOKEN.map(|name| variables.get(name).cloned());
    let mut errors = Errors::default();
    let (key, value, file) = match (named, variable, file_variable) {
        (Some(named), _, _) => ("--token-file", None, Some(named.display().to_string())),
        (None, None, Some(file)) => (OPERATOR_TOKEN[1], None, Some(file)),
        (None, Some(value), file) => (OPERATOR_TOKEN[0], Some(value), file),
        (None, None, None) => {
            let message = format!(
                "names no file, and neither {} nor {} is set: write the token of an [[operator]] into a file that only you \
                 can read, and name it",
                OPERATOR_TOKEN[0], OPERATOR_TOKEN[1]
            );
            errors.add("--token-file", message);
            return errors.finish(None);
        }
    };
    if let Some(file) = file.as_ref().filter(|_| !may_be_shared) {
        refuse_shared(&mut errors, Path::new(file), true);
    }
    let token = errors.record(key, secret(value, file, MIN_GUESSABLE_CHARS));
    errors.finish(token)
}

/// One key, as its variable or else the file has it.
fn alone(
    key: &str,
    file: Option<&Path>,
    variables: &BTreeMap<String, String>,
    text: fn(&toml::Value) -> Option<String>,
) -> Result<Option<String>, Problems> {
    if let Some(given) = variables.get(&environment::variable(&[key])) {
        return Ok(Some(given.clone()));
    }
    let settings = file.map(read).transpose()?;
    Ok(settings.and_then(|(_, settings)| text(settings.get(key)?)))
}

fn checked(
    file: Option<&Path>,
    text: &str,
    mut settings: Table,
    variables: &BTreeMap<String, String>,
) -> Result<Config, Problems> {
    let mut errors = Errors::default();
    let (schema, text) = (schema(), Text(text));
    let written = settings.clone();
    environment::overlay(&mut errors, &mut settings, &schema, variables);
    let effective = effective_settings::settings(&schema, &settings);
    let file = file.map(|path| (path, &written));
    file_permissions::check(&mut errors, &schema, file, &effective);
    let root = KeyPath::default();
    if !check_table(&mut errors, &text, &schema, &mut settings, &root) {
        return errors.finish(None);
    }
    match settings.try_into::<File>() {
        Ok(file) => check(errors, file, effective),
        Err(error) => {
            // The schema is the types' own, so this is a fault of the check. The message may hold a secret.
            debug_assert!(false, "the check of the shape missed: {error}");
            errors.add("the configuration", "has a value of another kind");
            errors.finish(None)
        }
    }
}

fn read(path: &Path) -> Result<(String, Table), Problems> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let message = format!("the file cannot be read: {error}");
        problem(&path.display().to_string(), message)
    })?;
    let settings = table(&path.display().to_string(), &text)?;
    Ok((text, settings))
}

fn table(name: &str, text: &str) -> Result<Table, Problems> {
    // The error without its excerpt: the line in question may hold a secret.
    text.parse::<Table>().map_err(|error| {
        let line = error.span().map(|span| Text(text).at(span.start));
        let line = line.unwrap_or_default();
        problem(name, format!("{}{line}", error.message()))
    })
}

fn problem(key: &str, message: String) -> Problems {
    Problems(vec![Problem {
        key: key.to_owned(),
        message,
    }])
}
