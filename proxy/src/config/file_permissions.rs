//! Permissions of the files that hold secrets: only the proxy's user may read and write them.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value as Schema;
use toml::{Table, Value};

use crate::config::effective_settings::{self, Setting, Shown};
use crate::config::problems::Errors;

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
