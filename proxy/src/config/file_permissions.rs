//! Permissions of the files that hold secrets: only the proxy's user may read and write them.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value as Schema;
use toml::{Table, Value};

use crate::config::problems::Errors;
use crate::config::schema::{element, property};

/// The key that accepts shared files.
pub(crate) const SWITCH: &str = "dangerous_allow_shared_files";

/// Names the folder of the credentials that systemd gives to a service.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// Refuses a configuration or secret file that group or others can read or write. A configuration without a secret may be
/// read, not written: its content decides where money goes.
pub(crate) fn check(
    errors: &mut Errors,
    schema: &Schema,
    file: Option<(&Path, &Table)>,
    settings: &Table,
) {
    if settings.get(SWITCH).and_then(Value::as_bool) == Some(true) {
        return;
    }
    if let Some((path, written)) = file {
        let mut secrets = Vec::new();
        find(schema, &Value::Table(written.clone()), &mut secrets);
        let holds_secrets = secrets.iter().any(|found| matches!(found, Found::Secret));
        refuse_shared(errors, path, holds_secrets);
    }
    let mut secrets = Vec::new();
    find(schema, &Value::Table(settings.clone()), &mut secrets);
    for found in secrets {
        if let Found::File(path) = found {
            refuse_shared(errors, Path::new(&path), true);
        }
    }
}

enum Found {
    /// By its value.
    Secret,
    /// By the path of a file.
    File(String),
}

/// A secret is a key beside which the schema has one of the same name with `_file`.
fn find(schema: &Schema, value: &Value, secrets: &mut Vec<Found>) {
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                let is_secret = property(schema, &format!("{key}_file")).is_some();
                let stem = key.strip_suffix("_file");
                let is_file = stem.is_some_and(|stem| property(schema, stem).is_some());
                if is_secret && (!key.starts_with("database_url") || holds_password(value)) {
                    secrets.push(Found::Secret);
                } else if is_file {
                    let list = value.as_array().map_or(&[][..], Vec::as_slice);
                    let paths = list.iter().chain([value]).filter_map(Value::as_str);
                    secrets.extend(paths.map(|path| Found::File(path.to_owned())));
                } else if let Some(schema) = property(schema, key) {
                    find(schema, value, secrets);
                }
            }
        }
        Value::Array(list) => {
            if let Some(schema) = element(schema) {
                for value in list {
                    find(schema, value, secrets);
                }
            }
        }
        _ => {}
    }
}

/// Returns `true` unless an address surely has no password.
fn holds_password(url: &Value) -> bool {
    url.as_str().is_some_and(|url| url.contains('@'))
}

/// Refuses a file that group or others can write, or read if it holds secrets.
pub(crate) fn refuse_shared(errors: &mut Errors, path: &Path, holds_secrets: bool) {
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
