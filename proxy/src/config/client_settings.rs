//! The configuration as the service's client takes it.

use service_api::{Credentials, NonceRule, PutBody, Settings, Signing};

use super::Service;

/// Requests a second towards the service when nothing is said.
pub(super) const REQUESTS_PER_SECOND: u64 = 10;

/// Whether the service takes one nonce for several requests.
pub(super) fn nonce_rule(word: Option<&str>) -> Result<NonceRule, String> {
    match word {
        None | Some("may_repeat") => Ok(NonceRule::MayRepeat),
        Some("must_increase") => Ok(NonceRule::MustIncrease),
        Some(other) => Err(format!(
            "{other:?} is no rule: write may_repeat or must_increase"
        )),
    }
}

impl Service {
    /// What a client of this service must be told.
    pub fn client_settings(&self) -> Settings {
        let credentials = Credentials {
            api_key: self.api_key.clone(),
            api_secret: self.api_secret.clone(),
        };
        let put_body = if self.sign_put_body {
            PutBody::Signed
        } else {
            PutBody::Unsigned
        };
        Settings {
            requests_per_second: self.requests_per_second,
            nonces: self.nonces,
            signing: Signing { put_body },
            ..Settings::new(self.url.clone(), credentials)
        }
    }
}
