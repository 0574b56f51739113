//! How strict the service is, as far as that can be changed while it runs.

use serde::{Deserialize, Serialize};

use crate::Settings;

/// The service's habits. POST /sandbox/rules changes those that it names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Rules {
    /// Seconds by which a nonce may differ from the service's clock.
    pub(crate) nonce_tolerance_seconds: u32,
    /// Whether each nonce must be larger than every one before.
    pub(crate) strict_nonce: bool,
    /// Seconds by which the service's clock runs ahead: in the header Date, and where it looks at nonces.
    pub(crate) clock_skew_seconds: i64,
    /// Whether the body of a PUT is part of the signed message. `Assumed:` no; "for POST requests only".
    pub(crate) put_signs_body: bool,
    /// Minutes until an invoice runs out, for those that are opened from now on.
    pub(crate) invoice_minutes: u32,
    /// Seconds until a conversion id lapses.
    pub(crate) conversion_seconds: u32,
    /// Whether the account is a platform's: POST /checkout then needs the id of a merchant that was onboarded.
    pub(crate) platform: bool,
    /// Calls a minute beyond which the service answers 429; `None` for no limit. `Assumed:` the specification gives
    /// no number.
    pub(crate) calls_per_minute: Option<u32>,
}

/// What POST /sandbox/rules takes: any of the rules.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangedRules {
    nonce_tolerance_seconds: Option<u32>,
    strict_nonce: Option<bool>,
    clock_skew_seconds: Option<i32>,
    put_signs_body: Option<bool>,
    invoice_minutes: Option<u32>,
    conversion_seconds: Option<u32>,
    platform: Option<bool>,
    /// 0 takes the limit away.
    calls_per_minute: Option<u32>,
}

impl Rules {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            nonce_tolerance_seconds: settings.nonce_tolerance_seconds,
            strict_nonce: settings.strict_nonce,
            clock_skew_seconds: 0,
            put_signs_body: false,
            invoice_minutes: settings.invoice_minutes,
            conversion_seconds: settings.conversion_seconds,
            platform: false,
            calls_per_minute: None,
        }
    }

    pub(crate) fn change(&mut self, changed: &ChangedRules) {
        fn set<T: Copy>(rule: &mut T, changed: Option<T>) {
            *rule = changed.unwrap_or(*rule);
        }
        set(
            &mut self.nonce_tolerance_seconds,
            changed.nonce_tolerance_seconds,
        );
        set(&mut self.strict_nonce, changed.strict_nonce);
        set(
            &mut self.clock_skew_seconds,
            changed.clock_skew_seconds.map(i64::from),
        );
        set(&mut self.put_signs_body, changed.put_signs_body);
        set(&mut self.invoice_minutes, changed.invoice_minutes);
        set(&mut self.conversion_seconds, changed.conversion_seconds);
        set(&mut self.platform, changed.platform);
        let limit = changed
            .calls_per_minute
            .map(|calls| Some(calls).filter(|calls| *calls > 0));
        set(&mut self.calls_per_minute, limit);
    }
}
