//! Where settings come from: a TOML file, and environment variables, which win.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::config::problems::{Problem, Problems};
use crate::config::server::{Config, File, check};

/// Reads and checks the configuration.
///
/// # Errors
/// [`Problems`] lists everything that is wrong.
pub fn load(file: Option<&Path>, variables: &BTreeMap<String, String>) -> Result<Config, Problems> {
    let mut settings = match file {
        Some(path) => read(path)?,
        None => File::default(),
    };
    let unknown = overlay(&mut settings, variables);
    check(settings, unknown)
}

fn read(path: &Path) -> Result<File, Problems> {
    let problem = |message| {
        Problems(vec![Problem {
            key: path.display().to_string(),
            message,
        }])
    };
    let text = std::fs::read_to_string(path)
        .map_err(|error| problem(format!("the file cannot be read: {error}")))?;
    toml::from_str(&text).map_err(|error| {
        // The error without its excerpt: the line in question may hold a secret.
        let line = error
            .span()
            .map(|span| text[..span.start].matches('\n').count() + 1);
        let place = line
            .map(|line| format!(" (line {line})"))
            .unwrap_or_default();
        problem(format!("{}{place}", without_values(error.message())))
    })
}

/// A message without the value that was refused, which may be a secret that was left unquoted. Names of keys stay.
fn without_values(message: &str) -> String {
    match message.split_once(", expected ") {
        Some((found, expected)) if found.starts_with("invalid") => {
            format!("a value of another kind was expected: {expected}")
        }
        _ => message.to_owned(),
    }
}

/// A variable replaces its key in both forms, value and file, so that the two never meet. Answers the variables that
/// name no key.
fn overlay(settings: &mut File, variables: &BTreeMap<String, String>) -> Vec<String> {
    let service = &mut settings.service;
    let plain = [
        ("FLORIN_LISTEN", &mut settings.listen),
        ("FLORIN_ADMIN_LISTEN", &mut settings.admin_listen),
        ("FLORIN_PUBLIC_URL", &mut settings.public_url),
        ("FLORIN_DATABASE_URL", &mut settings.database_url),
        ("FLORIN_ENVIRONMENT", &mut settings.environment),
        ("FLORIN_LOG", &mut settings.log),
        ("FLORIN_SERVICE_URL", &mut service.url),
        ("FLORIN_SERVICE_CHECKOUT_URL", &mut service.checkout_url),
    ];
    let mut unknown: BTreeSet<String> = variables.keys().cloned().collect();
    for (variable, setting) in plain {
        unknown.remove(variable);
        if let Some(value) = variables.get(variable) {
            *setting = Some(value.clone());
        }
    }
    let secrets = [
        (
            "FLORIN_SERVICE_API_KEY",
            &mut service.api_key,
            &mut service.api_key_file,
        ),
        (
            "FLORIN_SERVICE_API_SECRET",
            &mut service.api_secret,
            &mut service.api_secret_file,
        ),
        (
            "FLORIN_CALLBACK_TOKEN",
            &mut service.callback_token,
            &mut service.callback_token_file,
        ),
    ];
    for (variable, value, file) in secrets {
        unknown.remove(variable);
        unknown.remove(&format!("{variable}_FILE"));
        let from_value = variables.get(variable).cloned();
        let from_file = variables.get(&format!("{variable}_FILE")).cloned();
        if from_value.is_some() || from_file.is_some() {
            (*value, *file) = (from_value, from_file);
        }
    }
    unknown.into_iter().collect()
}
