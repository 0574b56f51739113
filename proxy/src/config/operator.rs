//! `[[operator]]`: the people who may use the operator's pages and the API of the admin listener.

use argon2::password_hash::phc::PasswordHash;
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use crate::config::problems::Errors;
use crate::config::secrets::{MIN_GUESSABLE_CHARS, OneOrMore, SecretPair, secret, secret_pair};

/// Characters of a name.
const MAX_NAME: usize = 64;

/// A person who may use the admin listener.
#[derive(Debug)]
pub struct Operator {
    /// Unique; the audit log names it.
    pub name: String,
    /// Argon2id, as a PHC string; absent if the operator does not sign in on the pages.
    pub password_hash: Option<SecretString>,
    /// The bearer token of the API; absent if the operator does not use it.
    pub token: Option<SecretPair>,
    /// What the operator may do.
    pub role: Role,
}

/// What an operator may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// See everything, change nothing.
    Read,
    /// See and decide.
    Write,
}

/// Who may use the operator's pages and API on `admin_listen`. Without this section, the pages say how to write it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OperatorTable {
    /// The name with which the operator signs in, 1 to 64 characters. The audit log keeps it.
    #[schemars(extend("x-default" = "required"))]
    pub(crate) name: String,
    /// What `florin-proxy secrets hash` prints for the operator's password. Without it, the operator cannot sign in on the
    /// pages.
    #[schemars(extend("x-default" = "none"))]
    pub(crate) password_hash: Option<String>,
    pub(crate) password_hash_file: Option<String>,
    /// 32 or more random characters: the bearer token of the API, which the command line uses. Or a list of two while one
    /// replaces the other: both are accepted.
    #[schemars(extend("x-default" = "none"))]
    pub(crate) token: Option<OneOrMore>,
    pub(crate) token_file: Option<OneOrMore>,
    /// `read` sees everything; `write` decides about orders and sends events again.
    #[schemars(extend("x-default" = "read"))]
    pub(crate) role: Option<String>,
}

pub(crate) fn operators(errors: &mut Errors, tables: Vec<OperatorTable>) -> Vec<Operator> {
    let mut operators: Vec<Operator> = Vec::new();
    for table in tables {
        let key = format!("operator.{}", table.name);
        if operators.iter().any(|known| known.name == table.name) {
            errors.add(&key, "there are two operators of this name");
        }
        operators.extend(operator(errors, &key, table));
    }
    operators
}

fn operator(errors: &mut Errors, key: &str, table: OperatorTable) -> Option<Operator> {
    let OperatorTable {
        name,
        password_hash,
        password_hash_file,
        token,
        token_file,
        role,
    } = table;
    let is_name = (1..=MAX_NAME).contains(&name.chars().count())
        && name.trim() == name
        && !name.chars().any(char::is_control);
    if !is_name {
        errors.add(key, "name: write 1 to 64 characters");
    }
    let has_password = password_hash.is_some() || password_hash_file.is_some();
    let has_token = token.is_some() || token_file.is_some();
    if !has_password && !has_token {
        let message = "has neither password_hash nor token, and could do nothing: run `florin-proxy secrets hash`, and \
             write what it prints as password_hash";
        errors.add(key, message);
    }
    let password_hash = has_password.then(|| {
        let hash = secret(password_hash, password_hash_file, 1).and_then(is_argon2id);
        errors.record(&format!("{key}.password_hash"), hash)
    });
    let token = has_token.then(|| {
        let token = secret_pair(token, token_file, MIN_GUESSABLE_CHARS);
        errors.record(&format!("{key}.token"), token)
    });
    let role = match role.as_deref() {
        None | Some("read") => Some(Role::Read),
        Some("write") => Some(Role::Write),
        Some(other) => {
            let message = format!("{other:?} is no role: write read or write");
            errors.add(&format!("{key}.role"), message);
            None
        }
    };
    Some(Operator {
        name,
        password_hash: password_hash.flatten(),
        token: token.flatten(),
        role: role?,
    })
}

fn is_argon2id(text: SecretString) -> Result<SecretString, String> {
    let parsed = PasswordHash::new(text.expose_secret());
    let fits =
        parsed.is_ok_and(|hash| hash.algorithm.as_str() == "argon2id" && hash.hash.is_some());
    if fits {
        return Ok(text);
    }
    Err(
        "is no hash of Argon2id: run `florin-proxy secrets hash`, and write what it prints, like \
         $argon2id$v=19$m=19456,t=2,p=1$…"
            .to_owned(),
    )
}
