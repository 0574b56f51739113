//! Where settings come from: a TOML file, and environment variables, which win.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use super::{Config, Problem, Problems, check};

/// The file as it is written. Unknown keys are refused by name.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) listen: Option<String>,
    pub(super) admin_listen: Option<String>,
    pub(super) public_url: Option<String>,
    pub(super) database_url: Option<String>,
    pub(super) environment: Option<String>,
    pub(super) log: Option<String>,
    #[serde(default)]
    pub(super) trusted_proxies: Vec<String>,
    pub(super) opens_per_minute: Option<u32>,
    #[serde(default)]
    pub(super) service: ServiceTable,
    #[serde(default)]
    pub(super) store: Vec<StoreTable>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServiceTable {
    pub(super) url: Option<String>,
    pub(super) api_key: Option<String>,
    pub(super) api_key_file: Option<String>,
    pub(super) api_secret: Option<String>,
    pub(super) api_secret_file: Option<String>,
    pub(super) callback_token: Option<String>,
    pub(super) callback_token_file: Option<String>,
    pub(super) checkout_url: Option<String>,
    pub(super) quote_seconds: Option<u64>,
    pub(super) watch_seconds: Option<u64>,
    pub(super) requests_per_second: Option<u64>,
    pub(super) nonces: Option<String>,
    pub(super) sign_put_body: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoreTable {
    pub(super) id: String,
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) origins: Vec<String>,
    pub(super) currency: Option<String>,
    pub(super) secret_key: Option<String>,
    pub(super) secret_key_file: Option<String>,
    #[serde(default)]
    pub(super) token_keys: Vec<TokenKeyTable>,
    pub(super) return_url: Option<String>,
    pub(super) support_url: Option<String>,
    pub(super) logo_url: Option<String>,
    #[serde(default)]
    pub(super) image_origins: Vec<String>,
    pub(super) merchant_id: Option<String>,
    pub(super) service_access: Option<bool>,
    pub(super) underpayment_tolerance: Option<String>,
    pub(super) confirmations_required: Option<u32>,
    pub(super) webhook: Option<WebhookTable>,
    #[serde(default)]
    pub(super) theme: ThemeTable,
    #[serde(default)]
    pub(super) product: Vec<ProductTable>,
    #[serde(default)]
    pub(super) donation: Vec<DonationTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TokenKeyTable {
    pub(super) kid: String,
    pub(super) secret: Option<String>,
    pub(super) secret_file: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WebhookTable {
    pub(super) url: String,
    pub(super) secret: Option<OneOrMore>,
    pub(super) secret_file: Option<OneOrMore>,
    #[serde(default)]
    pub(super) dangerous_allow_private_targets: bool,
}

/// A text, or a list of texts.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    pub(super) fn into_list(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::More(texts) => texts,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ThemeTable {
    pub(super) preset: Option<String>,
    pub(super) accent: Option<String>,
    pub(super) on_accent: Option<String>,
    pub(super) ground: Option<String>,
    pub(super) side: Option<String>,
    pub(super) ink: Option<String>,
    pub(super) soft: Option<String>,
    pub(super) line: Option<String>,
    pub(super) warn: Option<String>,
    pub(super) bad: Option<String>,
    pub(super) radius: Option<String>,
    pub(super) font: Option<String>,
    pub(super) density: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProductTable {
    pub(super) sku: String,
    pub(super) title: Option<String>,
    pub(super) image_url: Option<String>,
    pub(super) price: Option<String>,
    pub(super) max_quantity: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DonationTable {
    pub(super) id: String,
    pub(super) title: Option<String>,
    pub(super) min: Option<String>,
    pub(super) max: Option<String>,
    #[serde(default)]
    pub(super) suggested: Vec<String>,
}

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
    check::check(settings, unknown)
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
