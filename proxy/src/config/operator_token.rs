//! The token with which the command line calls the operator's API. It is no key of the configuration: it belongs to the
//! operator at the terminal, and the configuration to the proxy.

use std::path::Path;

use secrecy::SecretString;

use crate::config::file_permissions::refuse_shared;
use crate::config::problems::Errors;
use crate::config::secrets::{MIN_GUESSABLE_CHARS, secret};

/// Holds the token.
pub(crate) const VARIABLE: &str = "FLORIN_OPERATOR_TOKEN";
/// Names the file that holds the token.
pub(crate) const FILE_VARIABLE: &str = "FLORIN_OPERATOR_TOKEN_FILE";

/// Reads the token: from the named file, else from what the two variables give.
pub(crate) fn read(
    errors: &mut Errors,
    named: Option<&Path>,
    variable: Option<&String>,
    file_variable: Option<&String>,
    may_be_shared: bool,
) -> Option<SecretString> {
    let (key, value, file) = match (named, variable, file_variable) {
        (Some(named), _, _) => ("--token-file", None, Some(named.display().to_string())),
        (None, None, Some(file)) => (FILE_VARIABLE, None, Some(file.clone())),
        (None, Some(value), file) => (VARIABLE, Some(value.clone()), file.cloned()),
        (None, None, None) => {
            let message = format!(
                "names no file, and neither {VARIABLE} nor {FILE_VARIABLE} is set: write the token of an [[operator]] into a \
                 file that only you can read, and name it"
            );
            errors.add("--token-file", message);
            return None;
        }
    };
    if let Some(file) = &file
        && !may_be_shared
    {
        refuse_shared(errors, Path::new(file), true);
    }
    errors.record(key, secret(value, file, MIN_GUESSABLE_CHARS))
}
