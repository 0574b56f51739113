//! The parts of a client: settings, the keys in force, a clock and randomness.

use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use jiff::Timestamp;
use parking_lot::Mutex;
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret as _, SecretString};
use url::{Host, Url};

use super::NonceRule;

/// Credentials of our account at the gateway.
///
/// Source: payment-service.md, "Authentication".
#[derive(Clone, Debug)]
pub struct Credentials {
    /// Sent with every request.
    pub api_key: SecretString,
    /// Signs every request and is never sent.
    pub api_secret: SecretString,
}

/// Credentials that can sign. The gateway's opinion of them goes with them: a late response to a
/// call from before a reload says nothing about the credentials in force.
pub(super) struct SigningKey {
    pub(super) api_key: HeaderValue,
    pub(super) api_secret: SecretString,
    /// The last call whose key the gateway checked was rejected.
    is_rejected: AtomicBool,
}

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

    pub(super) fn current(&self) -> Arc<SigningKey> {
        self.0.lock().clone()
    }

    /// Signs later calls with these. The same credentials stay as they are.
    pub(super) fn replace(&self, credentials: &Credentials) -> Result<(), SettingsError> {
        let next = SigningKey::new(credentials)?;
        let mut current = self.0.lock();
        if !current.is_same(&next) {
            *current = Arc::new(next);
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// Until there is a connection: name, TCP and TLS.
    pub connect: Duration,
    /// Until the whole response is read.
    pub total: Duration,
}

impl Default for Deadlines {
    /// 3 s to connect, 10 s in all: a customer waits for some of these calls.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(3),
            total: Duration::from_secs(10),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// The environment's base address; the endpoints' paths are appended. `Assumed:` it ends in `/api`, which the
    /// signature names by itself.
    pub base_url: Url,
    pub credentials: Credentials,
    /// Whether the signature of a PUT covers its body, as that of a POST does.
    pub sign_put_body: bool,
    pub deadlines: Deadlines,
    /// The most requests that are sent in a second; twice as many may go at once after a second of
    /// silence. A 429 lowers the rate.
    pub requests_per_second: u32,
    /// Whether the gateway accepts a nonce once. Then at most one request a second is sent.
    pub nonces: NonceRule,
}

/// `Assumed:` the gateway accepts ten requests a second; it publishes no number. A 429 would
/// disprove it, and lowers the rate.
const REQUESTS_PER_SECOND: u32 = 10;

impl Settings {
    /// Settings with everything else at its default.
    pub fn new(base_url: Url, credentials: Credentials) -> Self {
        Self {
            base_url,
            credentials,
            sign_put_body: false,
            deadlines: Deadlines::default(),
            requests_per_second: REQUESTS_PER_SECOND,
            nonces: NonceRule::default(),
        }
    }

    /// The account's name for the row of its limits: the base address. The API key is no part of it,
    /// because processes with the old key and with the new one share the limits.
    pub fn account(&self) -> String {
        self.base_url.as_str().trim_end_matches('/').to_owned()
    }
}

#[async_trait]
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;

    /// Returns after that time.
    async fn sleep(&self, time: Duration);
}

pub trait Random: Send + Sync {
    /// A number from 0 up to but not including `bound`, which is not 0; each as likely as the others.
    fn below(&self, bound: u64) -> u64;
}

/// Settings that no client can work with.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("the base address must be https, or http to this machine")]
    NotHttps,
    #[error("the base address must be scheme, host, port and path alone")]
    NotPlain,
    #[error("the API key has characters that no header may have")]
    ApiKey,
    #[error("TLS cannot be set up")]
    Tls(#[source] reqwest::Error),
}

/// Source: payment-service.md, "Signature", rules: all requests are made over HTTPS. A sandbox on this machine has no
/// certificate and needs none.
pub(super) fn check_base_url(url: &Url) -> Result<(), SettingsError> {
    let loopback = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    if !(url.scheme() == "https" || url.scheme() == "http" && loopback) {
        return Err(SettingsError::NotHttps);
    }
    let user = !url.username().is_empty() || url.password().is_some();
    if user || url.query().is_some() || url.fragment().is_some() {
        return Err(SettingsError::NotPlain);
    }
    Ok(())
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

    #[test]
    fn a_base_address_is_https_or_this_machine_and_carries_nothing_else() {
        let (fine, http, more) = ("fine", "not https", "more than an address");
        for (url, expected) in [
            ("https://pay.example/api", fine),
            ("http://127.0.0.1:8090/api", fine),
            ("http://[::1]/api", fine),
            ("http://localhost:8090/api/", fine),
            ("http://pay.example/api", http),
            ("http://127.0.0.1.example/", http),
            ("ftp://127.0.0.1/", http),
            ("https://me@x.example/", more),
            ("https://:p@x.example/", more),
            ("https://x.example/?a", more),
            ("https://x.example/#a", more),
        ] {
            let found = match check_base_url(&url.parse().unwrap()) {
                Ok(()) => fine,
                Err(SettingsError::NotHttps) => http,
                Err(SettingsError::NotPlain) => more,
                Err(error) => panic!("{error}"),
            };
            assert_eq!(found, expected, "{url}");
        }
    }

    #[test]
    fn an_account_is_its_address_whatever_the_key() {
        let account = |url: &str, key: &str| {
            let credentials = credentials(key, "secret");
            Settings::new(url.parse().unwrap(), credentials).account()
        };
        let before = account("https://pay.example/api/", "old");
        assert_eq!(account("https://pay.example/api", "new"), before);
    }
}
