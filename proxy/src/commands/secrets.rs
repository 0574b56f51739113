//! `florin-proxy secrets`: draws secrets, and hashes the passwords of operators.

use std::io::{BufRead as _, IsTerminal as _};

use anyhow::{Context as _, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::{Subcommand, ValueEnum};
use florin_proxy::clock::{RandomBytes as _, SystemRandom};
use secrecy::SecretString;
use serde_json::{Map, Value, json};

/// Fewer characters can be guessed.
const MIN_PASSWORD_CHARS: usize = 12;

/// What happens with secrets.
#[derive(Subcommand)]
pub(crate) enum Action {
    /// Draws new random secrets and prints them: one of each kind, or one alone, for a script.
    New {
        /// One kind alone, without its key.
        kind: Option<Kind>,
    },
    /// Reads a password from standard input and prints its hash, for `password_hash` of an operator.
    Hash,
}

/// A secret of the configuration that its owner draws. The gateway gives the others.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// `gateway.callback_token`: part of the address of the gateway's callbacks.
    CallbackToken,
    /// `store.secret_key`: what the store's server calls the proxy with.
    SecretKey,
    /// `store.token_keys`: what the store's server signs order tokens with.
    TokenKey,
    /// `store.webhook.secret`: what the proxy signs webhooks with.
    WebhookSecret,
}

impl Kind {
    fn key(self) -> &'static str {
        match self {
            Self::CallbackToken => "gateway.callback_token",
            Self::SecretKey => "store.secret_key",
            Self::TokenKey => "store.token_keys.secret",
            Self::WebhookSecret => "store.webhook.secret",
        }
    }

    /// A new secret: 256 random bits in the form that its key takes.
    pub(crate) fn draw(self) -> String {
        let mut bytes = [0; 32];
        SystemRandom.fill(&mut bytes);
        match self {
            Self::CallbackToken => hex::encode(bytes),
            Self::SecretKey => format!("sk_{}", hex::encode(bytes)),
            Self::TokenKey => format!("tk_{}", hex::encode(bytes)),
            Self::WebhookSecret => format!("whsec_{}", STANDARD.encode(bytes)),
        }
    }
}

/// A password of 80 random bits.
pub(crate) fn draw_password() -> String {
    let mut bytes = [0; 10];
    SystemRandom.fill(&mut bytes);
    hex::encode(bytes)
}

pub(crate) fn run(action: &Action, json: bool) -> anyhow::Result<()> {
    match action {
        Action::New { kind } => {
            print_new(*kind, json);
            Ok(())
        }
        Action::Hash => hash(json),
    }
}

fn print_new(kind: Option<Kind>, json: bool) {
    match kind {
        Some(kind) if json => println!("{}", json!({ kind.key(): kind.draw() })),
        Some(kind) => println!("{}", kind.draw()),
        None => {
            let drawn = Kind::value_variants();
            let drawn = drawn.iter().map(|kind| (kind.key(), kind.draw()));
            if json {
                let drawn = drawn.map(|(key, secret)| (key.to_owned(), Value::String(secret)));
                println!("{}", Value::Object(drawn.collect::<Map<_, _>>()));
                return;
            }
            for (key, secret) in drawn {
                println!("{key:<24} {secret}");
            }
        }
    }
}

fn hash(json: bool) -> anyhow::Result<()> {
    if std::io::stdin().is_terminal() {
        eprintln!(
            "Password, then Enter (it is shown; or write `florin-proxy secrets hash < file`):"
        );
    }
    let mut line = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut line)
        .context("standard input")?;
    let password = line.trim_end_matches(['\r', '\n']);
    if password.chars().count() < MIN_PASSWORD_CHARS {
        bail!("the password has fewer than {MIN_PASSWORD_CHARS} characters: use a longer one");
    }
    let hash = florin_proxy::hash_password(&SecretString::from(password))
        .context("the password could not be hashed")?;
    if json {
        println!("{}", json!({ "operator.password_hash": hash }));
    } else {
        println!("{hash}");
    }
    Ok(())
}
