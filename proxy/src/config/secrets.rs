//! Secrets of the configuration: given as value or as file, never both.

use std::collections::BTreeSet;

use secrecy::SecretString;

/// Minimum length of a secret that can be guessed over the network.
pub(crate) const MIN_GUESSABLE_CHARS: usize = 32;

/// Of 32 random hexadecimal digits, fewer than eight are different once in ten million.
const MIN_DIFFERENT_CHARS: usize = 8;

/// Reads a secret. The message says what is wrong without the secret.
pub(crate) fn secret(
    value: Option<String>,
    file: Option<String>,
    min_chars: usize,
) -> Result<SecretString, String> {
    let text = match (value, file) {
        (Some(_), Some(_)) => {
            return Err("is given as value and as file: leave one of them out".into());
        }
        (Some(value), None) => value,
        (None, Some(path)) => std::fs::read_to_string(&path)
            .map_err(|error| format!("the file {path} cannot be read: {error}"))?
            .trim_end_matches(['\r', '\n'])
            .to_owned(),
        (None, None) => return Err("is required, as value or as …_file".into()),
    };
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err("holds blanks or control characters: was something pasted along?".into());
    }
    let is_placeholder = text.chars().all(|c| matches!(c, '…' | '.' | '*' | '?'))
        || (text.starts_with('<') && text.ends_with('>'));
    if is_placeholder {
        return Err("still has the placeholder of the sample: write the real one".into());
    }
    let chars = text.chars().count();
    if chars < min_chars {
        return Err(format!(
            "has {chars} characters: use {min_chars} or more random ones"
        ));
    }
    let different = text.chars().collect::<BTreeSet<_>>().len();
    if min_chars >= MIN_GUESSABLE_CHARS && different < MIN_DIFFERENT_CHARS {
        return Err(format!(
            "has {different} different characters and can be guessed: use random ones, like those of openssl rand -hex 32"
        ));
    }
    Ok(SecretString::from(text))
}
