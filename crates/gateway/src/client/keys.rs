//! The key and the secret that calls are signed with.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret as _, SecretString};

use super::{Credentials, SettingsError};

/// Credentials that can sign. The gateway's opinion of them goes with them: a late response to a
/// call from before a reload says nothing about the credentials in force.
pub(super) struct SigningKey {
    /// The header `apikey`.
    pub(super) api_key: HeaderValue,
    pub(super) api_secret: SecretString,
    /// The last call whose key the gateway checked was rejected.
    is_rejected: AtomicBool,
}

/// The credentials in force.
pub(super) struct SigningKeys(Mutex<Arc<SigningKey>>);

impl SigningKey {
    pub(super) fn new(credentials: &Credentials) -> Result<Self, SettingsError> {
        let mut api_key = HeaderValue::from_str(credentials.api_key.expose_secret())
            .map_err(|_| SettingsError::ApiKey)?;
        api_key.set_sensitive(true);
        Ok(Self {
            api_key,
            api_secret: credentials.api_secret.clone(),
            is_rejected: AtomicBool::new(false),
        })
    }

    /// Records whether the gateway rejects calls that are signed with it.
    pub(super) fn set_rejected(&self, is_rejected: bool) {
        self.is_rejected.store(is_rejected, Ordering::Relaxed);
    }

    pub(super) fn is_rejected(&self) -> bool {
        self.is_rejected.load(Ordering::Relaxed)
    }

    fn is_same(&self, other: &Self) -> bool {
        self.api_key == other.api_key
            && self.api_secret.expose_secret() == other.api_secret.expose_secret()
    }
}

impl SigningKeys {
    pub(super) fn new(credentials: &Credentials) -> Result<Self, SettingsError> {
        let key = SigningKey::new(credentials)?;
        Ok(Self(Mutex::new(Arc::new(key))))
    }

    /// The credentials for the next call.
    pub(super) fn current(&self) -> Arc<SigningKey> {
        self.lock().clone()
    }

    /// Signs later calls with these. The same credentials stay as they are.
    pub(super) fn replace(&self, credentials: &Credentials) -> Result<(), SettingsError> {
        let next = SigningKey::new(credentials)?;
        let mut current = self.lock();
        if !current.is_same(&next) {
            *current = Arc::new(next);
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Arc<SigningKey>> {
        // Every change is a whole one, so a panic elsewhere leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(key: &str, secret: &str) -> Credentials {
        Credentials {
            api_key: SecretString::from(key),
            api_secret: SecretString::from(secret),
        }
    }

    #[test]
    fn a_rejection_belongs_to_the_credentials_that_signed_the_call() {
        let keys = SigningKeys::new(&credentials("key", "old")).unwrap();
        let old = keys.current();
        keys.replace(&credentials("key", "new")).unwrap();
        old.set_rejected(true);
        assert!(!keys.current().is_rejected());
        keys.current().set_rejected(true);
        keys.replace(&credentials("key", "new")).unwrap();
        assert!(
            keys.current().is_rejected(),
            "a reload of the same ones proves nothing"
        );
    }
}
