//! Operators: who sends a request to the admin listener, and their sessions on its pages.

use std::collections::HashMap;
use std::net::IpAddr;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::auth::token::random_token;
use crate::clock::RandomBytes;
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

// Sessions of operators on the pages of the admin listener, and the lock-out after failed tries.
//
// All is in the memory of the process: a restart ends every session, and each of several proxies has its own. A session is
// named by a random token, of which the hash alone is kept, and so is a browser that has signed in.
//
// Source: OWASP, "Slow Down Online Guessing Attacks with Device Cookies" (2025).

/// A session ends after this time without a request.
const IDLE: SignedDuration = SignedDuration::from_mins(30);
/// A session ends after this time in any case.
const LONGEST: SignedDuration = SignedDuration::from_hours(12);
/// More sessions than operators will ever have. The oldest one ends for a new one.
const MAX_SESSIONS: usize = 200;
/// Failed tries with one name from one address before the two are locked out.
const TRIES: u32 = 5;
/// Failed tries from one address, with any names, before it is locked out.
const TRIES_PER_ADDRESS: u32 = 20;
/// Failed tries with one name from all addresses, which a client may invent behind a reverse proxy, before only browsers may
/// try that have signed in with the name: others cannot lock out its operator.
const TRIES_PER_NAME: u32 = 10;
const LOCKED: SignedDuration = SignedDuration::from_mins(15);
/// Counts of failed tries. Above this number no name may try: the pages are for a few people.
const MAX_COUNTS: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct OperatorSessions {
    sessions: Mutex<HashMap<[u8; 32], Session>>,
    failures: Mutex<HashMap<FailureKey, Failures>>,
    /// Browsers that have signed in, by the digests of their tokens: with which name, and when first.
    browsers: Mutex<HashMap<[u8; 32], (String, Timestamp)>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SignInAttempt<'a> {
    pub(crate) name: &'a str,
    pub(crate) address: Option<IpAddr>,
    pub(crate) browser: Option<&'a str>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum FailureKey {
    /// A browser that has signed in with this name. It counts for nothing else, and nothing else counts for it.
    Browser([u8; 32]),
    NameFrom([u8; 32], Option<IpAddr>),
    Address(Option<IpAddr>),
    Name([u8; 32]),
}

#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) operator: String,
    /// The digest of the password's hash: another password ends the session.
    password: [u8; 32],
    /// What each form must send back.
    pub(crate) csrf: String,
    since: Timestamp,
    used_at: Timestamp,
}

#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u32,
    latest: Timestamp,
}

impl Session {
    /// Returns `true` while the operator has the password with which the session was opened.
    pub(crate) fn is_of(&self, password_hash: Option<&SecretString>) -> bool {
        password_hash.is_some_and(|hash| digest(hash.expose_secret()).ct_eq(&self.password).into())
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn is_over(session: &Session, now: Timestamp) -> bool {
    now.duration_since(session.used_at) >= IDLE || now.duration_since(session.since) >= LONGEST
}

fn make_room<T>(all: &mut HashMap<[u8; 32], T>, age: impl Fn(&T) -> Timestamp) {
    if all.len() >= MAX_SESSIONS {
        let oldest = all.iter().min_by_key(|(_, entry)| age(entry));
        if let Some(oldest) = oldest.map(|(key, _)| *key) {
            all.remove(&oldest);
        }
    }
}

impl OperatorSessions {
    pub(crate) fn open(
        &self,
        operator: &str,
        password_hash: &SecretString,
        random: &dyn RandomBytes,
        now: Timestamp,
    ) -> String {
        let token = random_token(random);
        let session = Session {
            operator: operator.to_owned(),
            password: digest(password_hash.expose_secret()),
            csrf: random_token(random),
            since: now,
            used_at: now,
        };
        let mut sessions = self.sessions.lock();
        sessions.retain(|_, session| !is_over(session, now));
        make_room(&mut sessions, |session| session.used_at);
        sessions.insert(digest(&token), session);
        token
    }

    /// The session of a token, used now; `None` for an unknown or expired one.
    pub(crate) fn find(&self, token: &str, now: Timestamp) -> Option<Session> {
        let key = digest(token);
        let mut sessions = self.sessions.lock();
        let session = sessions.get_mut(&key)?;
        if is_over(session, now) {
            sessions.remove(&key);
            return None;
        }
        session.used_at = now;
        Some(session.clone())
    }

    pub(crate) fn close(&self, token: &str) {
        self.sessions.lock().remove(&digest(token));
    }

    pub(crate) fn may_try(&self, attempt: &SignInAttempt<'_>, now: Timestamp) -> bool {
        let counted = self.counted(attempt);
        let failures = self.failures.lock();
        let is_below = |(key, most): &(FailureKey, u32)| {
            let found = failures.get(key);
            let found = found.filter(|found| now.duration_since(found.latest) < LOCKED);
            found.map_or(0, |found| found.count) < *most
        };
        let is_known = matches!(counted[..], [(FailureKey::Browser(_), _)]);
        (is_known || failures.len() < MAX_COUNTS) && counted.iter().all(is_below)
    }

    pub(crate) fn failed(&self, attempt: &SignInAttempt<'_>, now: Timestamp) {
        let counted = self.counted(attempt);
        let mut failures = self.failures.lock();
        failures.retain(|_, found| now.duration_since(found.latest) < LOCKED);
        for (key, _) in counted {
            let found = failures.entry(key).or_insert(Failures {
                count: 0,
                latest: now,
            });
            found.count += 1;
            found.latest = now;
        }
    }

    /// Forgets the failed tries of a browser, or with a name from its address, that has signed in. Returns the token by which
    /// a browser is known from then on; `None` if it has one.
    pub(crate) fn succeeded(
        &self,
        attempt: &SignInAttempt<'_>,
        random: &dyn RandomBytes,
        now: Timestamp,
    ) -> Option<String> {
        let counted = self.counted(attempt);
        let (key, _) = &counted[0];
        self.failures.lock().remove(key);
        if matches!(key, FailureKey::Browser(_)) {
            return None;
        }
        let token = random_token(random);
        let mut browsers = self.browsers.lock();
        make_room(&mut browsers, |(_, since)| *since);
        browsers.insert(digest(&token), (attempt.name.to_owned(), now));
        Some(token)
    }

    /// What the failed tries of an attempt count for, and how many each may have. The first is forgotten after a success.
    fn counted(&self, attempt: &SignInAttempt<'_>) -> Vec<(FailureKey, u32)> {
        let SignInAttempt {
            name,
            address,
            browser,
        } = *attempt;
        let browser = browser.map(digest).filter(|browser| {
            let browsers = self.browsers.lock();
            browsers
                .get(browser)
                .is_some_and(|(known, _)| known == name)
        });
        if let Some(browser) = browser {
            return vec![(FailureKey::Browser(browser), TRIES)];
        }
        let name = digest(name);
        vec![
            (FailureKey::NameFrom(name, address), TRIES),
            (FailureKey::Address(address), TRIES_PER_ADDRESS),
            (FailureKey::Name(name), TRIES_PER_NAME),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemRandom;
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
        assert_eq!(found("token-of-bob "), None);
        assert_eq!(found(""), None);
    }

    #[test]
    fn the_hash_of_no_password_is_as_costly_as_a_real_one() {
        let none = PasswordHash::new(NO_PASSWORD).unwrap();
        let real = hash_password(&SecretString::from("x")).unwrap();
        let real = PasswordHash::new(&real).unwrap();
        assert_eq!((none.algorithm, none.params), (real.algorithm, real.params));
    }

    fn hash() -> SecretString {
        SecretString::from("$argon2id$1")
    }

    fn at(minutes: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minutes)
    }

    #[test]
    fn a_session_ends_when_it_is_idle_and_after_half_a_day() {
        let sessions = OperatorSessions::default();
        let token = sessions.open("ada", &hash(), &SystemRandom, at(0));
        assert_eq!(sessions.find(&token, at(29)).unwrap().operator, "ada");
        assert!(sessions.find(&token, at(29 + 30)).is_none());
        let token = sessions.open("ada", &hash(), &SystemRandom, at(0));
        for minutes in (0..720).step_by(20) {
            assert!(sessions.find(&token, at(minutes)).is_some());
        }
        assert!(sessions.find(&token, at(720)).is_none());
    }

    #[test]
    fn a_closed_session_is_over_and_so_is_one_of_another_password() {
        let sessions = OperatorSessions::default();
        let token = sessions.open("ada", &hash(), &SystemRandom, at(0));
        let session = sessions.find(&token, at(0)).unwrap();
        assert!(session.is_of(Some(&hash())));
        assert!(!session.is_of(Some(&SecretString::from("$argon2id$2"))));
        assert!(!session.is_of(None));
        sessions.close(&token);
        assert!(sessions.find(&token, at(0)).is_none());
        assert!(sessions.find("", at(0)).is_none());
    }

    fn attempt(name: &str, last: u8) -> SignInAttempt<'_> {
        SignInAttempt {
            name,
            address: Some([192, 0, 2, last].into()),
            browser: None,
        }
    }

    #[test]
    fn a_name_is_locked_out_after_five_failed_tries_from_one_address() {
        let sessions = OperatorSessions::default();
        let (here, there) = (attempt("ada", 1), attempt("ada", 2));
        for _ in 0..5 {
            assert!(sessions.may_try(&here, at(0)));
            sessions.failed(&here, at(0));
        }
        assert!(!sessions.may_try(&here, at(14)));
        assert!(sessions.may_try(&attempt("bob", 1), at(14)));
        assert!(sessions.may_try(&there, at(14)));
        assert!(sessions.may_try(&here, at(15)));
    }

    #[test]
    fn a_name_is_locked_out_after_ten_failed_tries_from_anywhere_but_for_a_browser_that_has_signed_in()
     {
        let sessions = OperatorSessions::default();
        let token = sessions
            .succeeded(&attempt("ada", 1), &SystemRandom, at(0))
            .unwrap();
        let known = |name| SignInAttempt {
            browser: Some(&token),
            ..attempt(name, 1)
        };
        for last in 0..10 {
            assert!(sessions.may_try(&attempt("ada", last), at(0)));
            sessions.failed(&attempt("ada", last), at(0));
        }
        assert!(!sessions.may_try(&attempt("ada", 99), at(14)));
        assert!(sessions.may_try(&attempt("bob", 99), at(14)));
        assert!(sessions.may_try(&known("ada"), at(14)));
        assert_eq!(
            sessions.succeeded(&known("ada"), &SystemRandom, at(14)),
            None
        );
        // It guesses no more often than others, and is known for its own name alone.
        for _ in 0..5 {
            sessions.failed(&known("ada"), at(14));
        }
        assert!(!sessions.may_try(&known("ada"), at(14)));
        for last in 0..10 {
            sessions.failed(&attempt("bob", last), at(14));
        }
        assert!(!sessions.may_try(&known("bob"), at(14)));
        assert!(sessions.may_try(&attempt("ada", 99), at(15)));
    }

    #[test]
    fn an_address_is_locked_out_after_twenty_failed_tries_with_any_names() {
        let sessions = OperatorSessions::default();
        for number in 0..20 {
            sessions.failed(&attempt(&format!("name {number}"), 1), at(0));
        }
        let here = attempt("ada", 1);
        assert!(!sessions.may_try(&here, at(1)));
        sessions.succeeded(&here, &SystemRandom, at(1));
        assert!(!sessions.may_try(&here, at(1)));
    }
}
