//! The certificate of the proxy's public address: how long it is valid.

use jiff::Timestamp;
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

/// ACME clients renew a month before the end. With fewer days than this, their renewals have failed for two weeks.
const FEW_DAYS: i64 = 14;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Validity {
    pub(crate) until: Timestamp,
    /// Whole days until then.
    pub(crate) days: i64,
}

impl Validity {
    /// Reads a certificate in DER; `None` for what is none. Source: RFC 5280, section 4.1.2.5.
    pub(crate) fn of(der: &[u8], now: Timestamp) -> Option<Self> {
        let certificate = Certificate::from_der(der).ok()?;
        let until = certificate.tbs_certificate().validity().not_after;
        let seconds = until.to_unix_duration().as_secs();
        let until = Timestamp::from_second(i64::try_from(seconds).ok()?).ok()?;
        let days = until.duration_since(now).as_hours().div_euclid(24);
        Some(Self { until, days })
    }

    /// Returns `true` if it should have been renewed.
    pub(crate) fn is_short(self) -> bool {
        self.days < FEW_DAYS
    }

    /// `1 day`, `20 days`.
    pub(crate) fn text(self) -> String {
        let plural = if self.days == 1 { "" } else { "s" };
        format!("{} day{plural}", self.days)
    }
}
