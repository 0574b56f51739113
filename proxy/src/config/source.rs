//! Sources of settings: a TOML file, and environment variables, which win.
//!
//! Libraries for this (figment, config) merge lists whole and guess the type of a variable's text: a key of digits would
//! be a number, and no variable could name one store's key. The types' schema knows both.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use secrecy::SecretString;
use serde_json::Value as Schema;
use toml::{Table, Value};

use crate::config::effective_settings::{self, Setting, Shown};
use crate::config::schema::{
    Kind, Path as KeyPath, Step, Text, check_table, element, kinds, property, schema_for,
};
use crate::config::secrets::{MIN_GUESSABLE_CHARS, secret};
use crate::config::server::{self, Config, File, check, schema};
use crate::config::{Errors, Problem, Problems};

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
    let switch = alone(SWITCH, file, variables, text)?;
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
    if let Some(given) = variables.get(&variable(&[key])) {
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
    overlay(&mut errors, &mut settings, &schema, variables);
    let effective = effective_settings::settings(&schema, &settings);
    let file = file.map(|path| (path, &written));
    check_permissions(&mut errors, &schema, file, &effective);
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
    Problems(vec![Problem::new(key, message)])
}

// Settings from environment variables: `FLORIN_GATEWAY__URL` is `gateway.url`, `FLORIN_STORE__0__SECRET_KEY` the
// `secret_key` of the first store. The names follow from the configuration's types.

const PREFIX: &str = "FLORIN_";

/// The token with which the command line calls the operator's API, and its file. They are no keys of the configuration: they
/// belong to the operator at the terminal, and the configuration to the proxy.
const OPERATOR_TOKEN: [&str; 2] = ["FLORIN_OPERATOR_TOKEN", "FLORIN_OPERATOR_TOKEN_FILE"];

const BETWEEN: &str = "__";

/// The variable of a key, whose path has an element's number after the name of its list.
pub(crate) fn variable(path: &[&str]) -> String {
    format!("{PREFIX}{}", path.join(BETWEEN).to_uppercase())
}

/// Writes the variables into the settings, where they replace what the file has. A secret's variable replaces both forms
/// of the secret, value and file.
fn overlay(
    errors: &mut Errors,
    settings: &mut Table,
    schema: &Schema,
    variables: &BTreeMap<String, String>,
) {
    let mut found = Vec::new();
    for (variable, text) in variables {
        let name = variable.as_str();
        match key_of(schema, name) {
            Some((path, schema)) => found.push((path, schema, variable, text)),
            None if is_of_kubernetes(name, text) => {}
            None if OPERATOR_TOKEN.contains(&name) => {}
            None => errors.add(
                name,
                "is no variable of Florin's: see florin-proxy config-reference",
            ),
        }
    }
    // Elements are added in their order, `2` before `10`.
    found.sort_by(|(one, ..), (other, ..)| one.cmp(other));
    let mut root = Value::Table(std::mem::take(settings));
    for (path, _, _, _) in &found {
        remove_other_form(&mut root, path);
    }
    for (path, schema, variable, text) in &found {
        let set = parse_value(schema, text).and_then(|value| {
            *place(&mut root, path)? = value;
            Ok(())
        });
        errors.record(variable, set);
    }
    if let Value::Table(root) = root {
        *settings = root;
    }
}

/// Kubernetes gives every container the addresses of the services in its namespace: a service `florin` or `florin-…` sets
/// these. Source: kubernetes.io, "Service", environment variables.
fn is_of_kubernetes(variable: &str, text: &str) -> bool {
    let is_of_service = ["_SERVICE_HOST", "_SERVICE_PORT", "_PORT_"];
    let is_link = variable.ends_with("_PORT") && text.contains("://");
    is_link || is_of_service.iter().any(|part| variable.contains(part))
}

fn key_of<'a>(schema: &'a Schema, variable: &str) -> Option<(Vec<Step>, &'a Schema)> {
    let name = variable.strip_prefix(PREFIX)?;
    if name.contains(|c: char| c.is_lowercase()) {
        return None;
    }
    let mut schema = schema;
    let mut path = Vec::new();
    for part in name.split(BETWEEN) {
        let part = part.to_lowercase();
        let step;
        (step, schema) = if let Some(schema) = property(schema, &part) {
            (Step::Key(part), schema)
        } else {
            (Step::Element(part.parse().ok()?, None), element(schema)?)
        };
        path.push(step);
    }
    Some((path, schema))
}

/// Removes the file's form of a secret that a variable gives in the other form.
fn remove_other_form(root: &mut Value, path: &[Step]) {
    let Some((Step::Key(key), table)) = path.split_last() else {
        return;
    };
    let other = match key.strip_suffix("_file") {
        Some(value) => value.to_owned(),
        None => format!("{key}_file"),
    };
    let mut value = Some(root);
    for step in table {
        value = match step {
            Step::Key(key) => value.and_then(|value| value.get_mut(key)),
            Step::Element(n, _) => value.and_then(|value| value.get_mut(*n)),
        };
    }
    if let Some(Value::Table(table)) = value {
        table.remove(&other);
    }
}

fn place<'a>(root: &'a mut Value, path: &[Step]) -> Result<&'a mut Value, String> {
    let mut value = root;
    for (n, step) in path.iter().enumerate() {
        let empty = match path.get(n + 1) {
            Some(Step::Element(..)) => Value::Array(Vec::new()),
            _ => Value::Table(Table::new()),
        };
        value = match (step, value) {
            (Step::Key(key), Value::Table(table)) => table.entry(key.as_str()).or_insert(empty),
            (Step::Element(n, _), Value::Array(list)) => {
                if *n > list.len() {
                    return Err(format!("there are {0} before it: write {0}", list.len()));
                }
                if *n == list.len() {
                    list.push(empty);
                }
                &mut list[*n]
            }
            _ => return Err("the file has a value where this needs a table or a list".into()),
        };
    }
    Ok(value)
}

fn parse_value(schema: &Schema, text: &str) -> Result<Value, String> {
    let takes = |kind| schema_for(schema, kind).is_some();
    let is_list = text.trim_start().starts_with('[');
    if takes(Kind::String) && !(is_list && takes(Kind::List)) {
        return Ok(Value::String(text.to_owned()));
    }
    let value = if takes(Kind::Integer) {
        text.parse().ok().map(Value::Integer)
    } else if takes(Kind::Boolean) {
        text.parse().ok().map(Value::Boolean)
    } else if takes(Kind::List) && is_list {
        let table = format!("list = {text}").parse::<Table>().ok();
        table.and_then(|mut table| table.remove("list"))
    } else if takes(Kind::List)
        && element(schema).is_some_and(|it| schema_for(it, Kind::String).is_some())
    {
        let parts = text.split(',').map(str::trim);
        let parts = parts.filter(|part| !part.is_empty());
        Some(Value::Array(
            parts.map(|part| Value::String(part.to_owned())).collect(),
        ))
    } else {
        None
    };
    // Without the value, which may be a secret of another variable.
    value.ok_or_else(|| format!("a value of another kind was expected: {}", kinds(schema)))
}

// Permissions of the files that hold secrets: only the proxy's user may read and write them.

const SWITCH: &str = "dangerous_allow_shared_files";

/// Names the folder of the credentials that systemd gives to a service.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// Refuses a configuration or secret file that group or others can read or write. A configuration without a secret may be
/// read, not written: its content decides where money goes.
fn check_permissions(
    errors: &mut Errors,
    schema: &Schema,
    file: Option<(&Path, &Table)>,
    settings: &[Setting],
) {
    let is_switched = |setting: &Setting| {
        setting.key == SWITCH && setting.value == Shown::Value("true".to_owned())
    };
    if settings.iter().any(is_switched) {
        return;
    }
    if let Some((path, written)) = file {
        let is_secret = |setting: Setting| {
            let has_password = !setting.key.starts_with("database_url")
                || written.get(&setting.key).is_some_and(holds_password);
            setting.value == Shown::Secret(true) && setting.files.is_empty() && has_password
        };
        let mut written_settings = effective_settings::settings(schema, written).into_iter();
        refuse_shared(errors, path, written_settings.any(is_secret));
    }
    for path in settings.iter().flat_map(|setting| &setting.files) {
        refuse_shared(errors, Path::new(path), true);
    }
}

/// Returns `true` unless an address surely has no password.
fn holds_password(url: &Value) -> bool {
    url.as_str().is_some_and(|url| url.contains('@'))
}

/// Refuses a file that group or others can write, or read if it holds secrets.
fn refuse_shared(errors: &mut Errors, path: &Path, holds_secrets: bool) {
    // A file that cannot be read is reported where it is read. A pipe has no rights to speak of.
    let Some(rights) = fs::metadata(path).ok().and_then(|file| rights(&file)) else {
        return;
    };
    // systemd gives a service its credentials by an access control list, which the mode shows as the group's right to read.
    // Source: systemd.exec(5), LoadCredential=; systemd 254.
    let readable = if is_credential(path, std::env::var_os(CREDENTIALS).as_deref()) {
        0o004
    } else {
        0o044
    };
    let shared = match (rights & 0o022 != 0, rights & readable != 0) {
        (true, _) => "written",
        (false, true) if holds_secrets => "read",
        _ => return,
    };
    let name = path.display();
    errors.add(
        &name.to_string(),
        format!(
            "can be {shared} by group or others (mode {rights:04o}): run chmod 600 {name}. In a container whose platform \
             sets the rights, set {SWITCH} = true"
        ),
    );
}

/// Returns `true` for a file that is below the folder of the credentials, links resolved.
fn is_credential(path: &Path, credentials: Option<&OsStr>) -> bool {
    let Some(folder) = credentials.and_then(|folder| fs::canonicalize(folder).ok()) else {
        return false;
    };
    fs::canonicalize(path).is_ok_and(|path| path.starts_with(&folder) && path != folder)
}

fn rights(file: &Metadata) -> Option<u32> {
    file.is_file().then(|| file.permissions().mode() & 0o777)
}

#[cfg(test)]
mod tests;
