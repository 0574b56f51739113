//! Sessions of operators on the pages of the admin listener, and the lock-out after failed tries.
//!
//! Both are in the memory of the process: a restart ends every session, and each of several proxies has its own. A session is
//! named by a random token, of which the hash alone is kept.

use std::collections::HashMap;
use std::net::IpAddr;

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::clock::RandomBytes;

/// A session ends after so long without a request.
const IDLE: SignedDuration = SignedDuration::from_mins(30);
/// And after so long in any case.
const LONGEST: SignedDuration = SignedDuration::from_hours(12);
/// More sessions than operators will ever have. The oldest one ends for a new one.
const MAX_SESSIONS: usize = 200;
/// Failed tries with one name from one address before the two are locked out.
const TRIES: u32 = 5;
/// Failed tries from one address, with any names, before it is locked out.
const TRIES_PER_ADDRESS: u32 = 20;
/// How long.
const LOCKED: SignedDuration = SignedDuration::from_mins(15);
/// Counts of failed tries. Above this number no name may try: the pages are for a few people.
const MAX_COUNTS: usize = 10_000;

/// The sessions and failed tries of a process.
#[derive(Debug, Default)]
pub(crate) struct OperatorSessions {
    sessions: Mutex<HashMap<[u8; 32], Session>>,
    failures: Mutex<HashMap<FailureKey, Failures>>,
}

/// A name from an address, or one of both alone.
type FailureKey = (Option<String>, Option<IpAddr>);

/// One signed-in operator.
#[derive(Clone, Debug)]
struct Session {
    operator: String,
    /// The digest of the password's hash: another password ends the session.
    password: [u8; 32],
    csrf: String,
    since: Timestamp,
    used_at: Timestamp,
}

#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u32,
    latest: Timestamp,
}

/// A session as a request found it.
#[derive(Clone, Debug)]
pub(crate) struct OpenSession {
    /// The operator's name.
    pub(crate) operator: String,
    password: [u8; 32],
    /// What each form must send back.
    pub(crate) csrf: String,
}

impl OpenSession {
    /// Returns `true` while the operator has the password with which the session was opened.
    pub(crate) fn is_of(&self, password_hash: Option<&SecretString>) -> bool {
        password_hash.is_some_and(|hash| digest(hash.expose_secret()).ct_eq(&self.password).into())
    }
}

/// 256 random bits as hexadecimal digits.
pub(crate) fn random_token(random: &dyn RandomBytes) -> String {
    let mut bits = [0; 32];
    random.fill(&mut bits);
    hex::encode(bits)
}

/// Compares two tokens in constant time.
pub(crate) fn is_same(expected: &str, given: &str) -> bool {
    let (expected, given) = (digest(expected), digest(given));
    expected.ct_eq(&given).into()
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn is_over(session: &Session, now: Timestamp) -> bool {
    now.duration_since(session.used_at) >= IDLE || now.duration_since(session.since) >= LONGEST
}

impl OperatorSessions {
    /// Opens a session and returns its token.
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
        if sessions.len() >= MAX_SESSIONS {
            let oldest = sessions.iter().min_by_key(|(_, session)| session.used_at);
            if let Some(oldest) = oldest.map(|(key, _)| *key) {
                sessions.remove(&oldest);
            }
        }
        sessions.insert(digest(&token), session);
        token
    }

    /// The session of a token, used now; `None` for an unknown or expired one.
    pub(crate) fn find(&self, token: &str, now: Timestamp) -> Option<OpenSession> {
        let key = digest(token);
        let mut sessions = self.sessions.lock();
        let session = sessions.get_mut(&key)?;
        if is_over(session, now) {
            sessions.remove(&key);
            return None;
        }
        session.used_at = now;
        Some(OpenSession {
            operator: session.operator.clone(),
            password: session.password,
            csrf: session.csrf.clone(),
        })
    }

    /// Ends a session.
    pub(crate) fn close(&self, token: &str) {
        self.sessions.lock().remove(&digest(token));
    }

    /// Returns `true` if a name may try to sign in from an address.
    pub(crate) fn may_try(&self, name: &str, address: Option<IpAddr>, now: Timestamp) -> bool {
        let failures = self.failures.lock();
        let count = |key: &(Option<String>, Option<IpAddr>)| {
            let found = failures.get(key);
            let found = found.filter(|found| now.duration_since(found.latest) < LOCKED);
            found.map_or(0, |found| found.count)
        };
        failures.len() < MAX_COUNTS
            && count(&(Some(name.to_owned()), address)) < TRIES
            && count(&(None, address)) < TRIES_PER_ADDRESS
    }

    /// Counts a failed try.
    pub(crate) fn failed(&self, name: &str, address: Option<IpAddr>, now: Timestamp) {
        let mut failures = self.failures.lock();
        failures.retain(|_, found| now.duration_since(found.latest) < LOCKED);
        for key in [(Some(name.to_owned()), address), (None, address)] {
            let found = failures.entry(key).or_insert(Failures {
                count: 0,
                latest: now,
            });
            found.count += 1;
            found.latest = now;
        }
    }

    /// Forgets the failed tries with a name that has signed in.
    pub(crate) fn succeeded(&self, name: &str, address: Option<IpAddr>) {
        let mut failures = self.failures.lock();
        failures.remove(&(Some(name.to_owned()), address));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemRandom;

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
    fn another_password_ends_the_session() {
        let sessions = OperatorSessions::default();
        let token = sessions.open("ada", &hash(), &SystemRandom, at(0));
        let session = sessions.find(&token, at(0)).unwrap();
        assert!(session.is_of(Some(&hash())));
        assert!(!session.is_of(Some(&SecretString::from("$argon2id$2"))));
        assert!(!session.is_of(None));
    }

    #[test]
    fn a_closed_session_is_over() {
        let sessions = OperatorSessions::default();
        let token = sessions.open("ada", &hash(), &SystemRandom, at(0));
        sessions.close(&token);
        assert!(sessions.find(&token, at(0)).is_none());
        assert!(sessions.find("", at(0)).is_none());
    }

    #[test]
    fn a_name_is_locked_out_after_five_failed_tries_from_one_address() {
        let sessions = OperatorSessions::default();
        let (here, there) = (Some([192, 0, 2, 1].into()), Some([192, 0, 2, 2].into()));
        for _ in 0..5 {
            assert!(sessions.may_try("ada", here, at(0)));
            sessions.failed("ada", here, at(0));
        }
        assert!(!sessions.may_try("ada", here, at(14)));
        assert!(sessions.may_try("bob", here, at(14)));
        assert!(sessions.may_try("ada", there, at(14)));
        assert!(sessions.may_try("ada", here, at(15)));
    }

    #[test]
    fn an_address_is_locked_out_after_twenty_failed_tries_with_any_names() {
        let sessions = OperatorSessions::default();
        let here = Some([192, 0, 2, 1].into());
        for number in 0..20 {
            sessions.failed(&format!("name {number}"), here, at(0));
        }
        assert!(!sessions.may_try("ada", here, at(1)));
        sessions.succeeded("ada", here);
        assert!(!sessions.may_try("ada", here, at(1)));
    }
}
