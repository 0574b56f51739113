//! The keys and secrets that calls are signed with: one pair, or two while the first replaces the second.
//!
//! A call begins with the pair that the gateway accepted last. A pair that it rejects is followed by the other one, so that
//! an exchange at the gateway costs no call, whenever it happens. A pair that is rejected begins no call after that, also if
//! the budget did not allow to try the other one at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret as _, SecretString};

use super::{Credentials, SettingsError};

/// Which credentials the gateway accepts, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyInUse {
    /// The first, or the gateway has not answered yet.
    #[default]
    First,
    /// The second, because it rejected the first.
    Second,
    /// None: it rejected the last call with each of them (401).
    Rejected,
}

/// A pair that can sign.
pub(super) struct SigningKey {
    /// The header `apikey`.
    pub(super) api_key: HeaderValue,
    pub(super) api_secret: SecretString,
    /// It is the first of the configuration.
    is_first: bool,
}

impl SigningKey {
    fn is_same(&self, other: &Self) -> bool {
        self.is_first == other.is_first
            && self.api_key == other.api_key
            && self.api_secret.expose_secret() == other.api_secret.expose_secret()
    }
}

/// The pairs of a client.
pub(super) struct SigningKeys(Mutex<State>);

struct State {
    /// The one that the next call begins with is the first.
    keys: Vec<Arc<SigningKey>>,
    /// The gateway accepted the second of the configuration after it had rejected the first.
    is_second_in_use: bool,
    /// The last call whose key the gateway checked was rejected with all of them.
    are_all_rejected: bool,
}

impl SigningKeys {
    pub(super) fn new(
        first: &Credentials,
        second: Option<&Credentials>,
    ) -> Result<Self, SettingsError> {
        Ok(Self(Mutex::new(State::new(first, second)?)))
    }

    /// Exchanges all of them. The next call begins with the first one. The same pairs stay as they are.
    pub(super) fn replace(
        &self,
        first: &Credentials,
        second: Option<&Credentials>,
    ) -> Result<(), SettingsError> {
        let next = State::new(first, second)?;
        let mut state = self.lock();
        if !state.has_keys_of(&next) {
            *state = next;
        }
        Ok(())
    }

    /// Returns the pair to sign with after the `rejected` ones, or `None` if the gateway rejected all.
    pub(super) fn next(&self, rejected: &[Arc<SigningKey>]) -> Option<Arc<SigningKey>> {
        let is_rejected =
            |key: &Arc<SigningKey>| rejected.iter().any(|known| Arc::ptr_eq(known, key));
        let state = self.lock();
        state.keys.iter().find(|key| !is_rejected(key)).cloned()
    }

    /// Begins later calls with the other pair.
    pub(super) fn reject(&self, rejected: &Arc<SigningKey>) {
        let mut state = self.lock();
        // Else a call beside this one was faster, or a reload has removed the pair.
        if state.begins_with(rejected) {
            state.keys.rotate_left(1);
        }
    }

    /// Records that the gateway rejected a call with each of them.
    pub(super) fn reject_all(&self) {
        self.lock().are_all_rejected = true;
    }

    /// Records that the gateway accepted a pair, and logs a change of the pair in use.
    pub(super) fn accept(&self, accepted: &Arc<SigningKey>) {
        let mut state = self.lock();
        state.are_all_rejected = false;
        let is_second = !accepted.is_first;
        // A response to a call that began before the exchange says nothing about later calls.
        if state.is_second_in_use == is_second || !state.begins_with(accepted) {
            return;
        }
        state.is_second_in_use = is_second;
        drop(state);
        if is_second {
            tracing::warn!(
                "the gateway rejects the first of the two in gateway.api_key and gateway.api_secret: calls are signed with the second. \
                 Exchange the key at the gateway, or correct the first and reload"
            );
        } else {
            tracing::info!(
                "the gateway accepts the first of the two in gateway.api_key and gateway.api_secret: remove the second, and reload"
            );
        }
    }

    /// Which pair the gateway accepts.
    pub(super) fn in_use(&self) -> KeyInUse {
        let state = self.lock();
        if state.are_all_rejected {
            KeyInUse::Rejected
        } else if state.is_second_in_use {
            KeyInUse::Second
        } else {
            KeyInUse::First
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change of the state is a whole one, so a panic elsewhere leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn new(first: &Credentials, second: Option<&Credentials>) -> Result<Self, SettingsError> {
        Ok(Self {
            keys: signing_keys(first, second)?,
            is_second_in_use: false,
            are_all_rejected: false,
        })
    }

    fn has_keys_of(&self, other: &Self) -> bool {
        let is_in_other = |key: &Arc<SigningKey>| other.keys.iter().any(|one| one.is_same(key));
        self.keys.len() == other.keys.len() && self.keys.iter().all(is_in_other)
    }

    fn begins_with(&self, key: &Arc<SigningKey>) -> bool {
        self.keys.first().is_some_and(|next| Arc::ptr_eq(next, key))
    }
}

fn signing_keys(
    first: &Credentials,
    second: Option<&Credentials>,
) -> Result<Vec<Arc<SigningKey>>, SettingsError> {
    let pairs = [(first, true)]
        .into_iter()
        .chain(second.map(|second| (second, false)));
    let keys = pairs.map(|(credentials, is_first)| {
        let mut api_key = HeaderValue::from_str(credentials.api_key.expose_secret())
            .map_err(|_| SettingsError::ApiKey)?;
        api_key.set_sensitive(true);
        Ok(Arc::new(SigningKey {
            api_key,
            api_secret: credentials.api_secret.clone(),
            is_first,
        }))
    });
    keys.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str) -> Credentials {
        Credentials {
            api_key: SecretString::from(format!("{name}_key")),
            api_secret: SecretString::from(format!("{name}_secret")),
        }
    }

    #[test]
    fn a_late_response_to_a_rejected_pair_changes_nothing() {
        let keys = SigningKeys::new(&pair("new"), Some(&pair("old"))).unwrap();
        let new = keys.next(&[]).unwrap();
        keys.reject(&new);
        let old = keys.next(&[]).unwrap();
        assert_eq!(old.api_key, "old_key");
        keys.accept(&old);
        assert_eq!(keys.in_use(), KeyInUse::Second);
        // Calls that began before the gateway exchanged the pair.
        keys.accept(&new);
        keys.reject(&new);
        assert_eq!(keys.in_use(), KeyInUse::Second);
        assert_eq!(keys.next(&[]).unwrap().api_key, "old_key");
    }

    #[test]
    fn a_pair_that_a_reload_has_removed_changes_nothing() {
        let keys = SigningKeys::new(&pair("old"), None).unwrap();
        let old = keys.next(&[]).unwrap();
        keys.replace(&pair("new"), Some(&pair("old"))).unwrap();
        keys.reject(&old);
        keys.accept(&old);
        assert_eq!(keys.next(&[]).unwrap().api_key, "new_key");
        assert_eq!(keys.in_use(), KeyInUse::First);
        // The call that was rejected tries the new ones.
        assert_eq!(keys.next(&[old]).unwrap().api_key, "new_key");
    }
}
