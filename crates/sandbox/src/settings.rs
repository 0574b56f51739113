//! What a sandbox is started with.

use core::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use florin_money::{Amount, Currency};

use crate::{Clock, SystemClock};

/// How a sandbox behaves. [`Settings::default`] is a service with test credentials that anybody may know.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where ids, addresses and prices come from.
    pub seed: u64,
    /// The key that callers name in `apikey`.
    pub api_key: String,
    /// The secret that callers sign with.
    pub api_secret: ApiSecret,
    /// Where COMPLETED and FAILED are told; `None` tells nobody.
    ///
    /// `Assumed:` invoices of POST /invoice, which name no URL themselves, use one of the account. Disproved by a
    /// service that sends callbacks for hosted checkouts only.
    pub callback_url: Option<String>,
    /// Where browsers reach the sandbox, for the pages it links to; `None` names the address it listens on.
    pub public_url: Option<String>,
    /// Where POST /confirm sends the customer.
    pub merchant_website: String,
    /// The currency of `amount_in_local_currency`.
    pub local_currency: Currency,
    /// Units of the local currency for one US dollar.
    pub local_per_usd: Amount,
    /// Minutes until an invoice runs out.
    pub invoice_minutes: u32,
    /// Seconds until a `conversion_id` of GET /prices lapses. `Assumed:` 120; the specification gives no number.
    pub conversion_seconds: u32,
    /// Seconds by which a nonce may differ from the clock. `Assumed:` 300; the specification gives no number.
    pub nonce_tolerance_seconds: u32,
    /// Whether each nonce must be larger than every one before. `Assumed:` no, since a nonce is a Unix time in whole
    /// seconds, and a merchant calls more than once a second.
    pub strict_nonce: bool,
    /// Whether GET /prices also offers `USDTSOL`, an asset that the specification does not list.
    pub unknown_asset: bool,
    /// Where every request and every event is appended, one JSON object per line; `None` keeps the last ones in
    /// memory alone.
    pub log_file: Option<PathBuf>,
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 1,
            api_key: "florin_sandbox_key".to_owned(),
            api_secret: ApiSecret::new("florin_sandbox_secret"),
            callback_url: None,
            public_url: None,
            merchant_website: "http://127.0.0.1:8081/thanks".to_owned(),
            local_currency: Currency::USD,
            local_per_usd: Amount::ONE,
            invoice_minutes: 15,
            conversion_seconds: 120,
            nonce_tolerance_seconds: 300,
            strict_nonce: false,
            unknown_asset: false,
            log_file: None,
            clock: Arc::new(SystemClock),
        }
    }
}

/// The secret behind the signatures. Its Debug shows nothing of it.
#[derive(Clone)]
pub struct ApiSecret(String);

impl ApiSecret {
    /// Takes the text as it is.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// The secret, at the point of use.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&str> for ApiSecret {
    fn from(secret: &str) -> Self {
        Self::new(secret)
    }
}

impl From<String> for ApiSecret {
    fn from(secret: String) -> Self {
        Self::new(secret)
    }
}

impl fmt::Debug for ApiSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_do_not_print_the_secret() {
        let settings = Settings {
            api_secret: "swordfish".into(),
            ..Settings::default()
        };
        let printed = format!("{settings:?}");
        assert!(printed.contains("api_secret: [redacted]"), "{printed}");
        assert!(!printed.contains("swordfish"), "{printed}");
    }
}
