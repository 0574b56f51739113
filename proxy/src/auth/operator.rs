//! Operators: who sends a request to the admin listener.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use secrecy::{ExposeSecret as _, SecretString};

use crate::config::Operator;

/// A hash of no password, so that an unknown name takes as long as a wrong password.
const NO_PASSWORD: &str = "$argon2id$v=19$m=19456,t=2,p=1$yVhEaUVCkW0x820VX72uFg$NuwEtGBunZKOVm9NyAiixVQA1C1NUpUmtavlmYuj96U";

pub(crate) fn by_token<'a>(operators: &'a [Operator], given: &str) -> Option<&'a Operator> {
    // All are compared, so that the time does not show which one it was.
    operators.iter().fold(None, |found, operator| {
        let token = operator.token.as_ref();
        let fits = token.is_some_and(|expected| expected.is_one(given));
        if fits { Some(operator) } else { found }
    })
}

/// The operator of a name and password. Takes some 50 ms of a processor: call it outside the asynchronous workers.
pub(crate) fn by_password<'a>(
    operators: &'a [Operator],
    name: &str,
    password: &SecretString,
) -> Option<&'a Operator> {
    let mut operators = operators.iter();
    let known = operators.find(|known| known.name == name && known.password_hash.is_some());
    let hash = known.and_then(|operator| operator.password_hash.as_ref());
    let hash = hash.map_or(NO_PASSWORD, |hash| hash.expose_secret());
    let is_right = PasswordHash::new(hash).is_ok_and(|hash| {
        let password = password.expose_secret().as_bytes();
        Argon2::default().verify_password(password, &hash).is_ok()
    });
    known.filter(|_| is_right)
}

/// The hash of a password, as `password_hash` in the configuration takes it.
///
/// # Errors
/// The machine has no random numbers.
pub fn hash_password(password: &SecretString) -> Result<String, argon2::password_hash::Error> {
    let password = password.expose_secret().as_bytes();
    Ok(Argon2::default().hash_password(password)?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Role, SecretPair};

    fn operator(name: &str, password: Option<&str>, token: Option<&str>) -> Operator {
        let hash = password.map(|text| hash_password(&SecretString::from(text)).unwrap());
        Operator {
            name: name.to_owned(),
            password_hash: hash.map(SecretString::from),
            token: token.map(|token| SecretPair::from(SecretString::from(token))),
            role: Role::Read,
        }
    }

    #[test]
    fn a_password_opens_its_name_alone() {
        let operators = [
            operator("ada", Some("correct horse"), None),
            operator("bob", Some("battery staple"), None),
            operator("cli", None, Some("t")),
        ];
        let found = |name: &str, password: &str| {
            let found = by_password(&operators, name, &SecretString::from(password));
            found.map(|operator| operator.name.clone())
        };
        assert_eq!(found("ada", "correct horse").as_deref(), Some("ada"));
        assert_eq!(found("ada", "battery staple"), None);
        assert_eq!(found("ada", ""), None);
        assert_eq!(found("cli", ""), None);
        assert_eq!(found("eve", "correct horse"), None);
    }

    #[test]
    fn a_token_names_its_operator() {
        let operators = [
            operator("ada", None, Some("token-of-ada")),
            operator("bob", None, Some("token-of-bob")),
        ];
        let found = |token: &str| by_token(&operators, token).map(|it| it.name.clone());
        assert_eq!(found("token-of-bob").as_deref(), Some("bob"));
        assert_eq!(found("token-of-eve"), None);
        assert_eq!(found(""), None);
    }

    #[test]
    fn the_hash_of_no_password_is_as_costly_as_a_real_one() {
        let none = PasswordHash::new(NO_PASSWORD).unwrap();
        let real = hash_password(&SecretString::from("x")).unwrap();
        let real = PasswordHash::new(&real).unwrap();
        assert_eq!((none.algorithm, none.params), (real.algorithm, real.params));
    }
}
