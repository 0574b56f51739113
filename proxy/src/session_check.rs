//! The checks that a hosted session must pass before a customer is sent to its page.

use jiff::{SignedDuration, Timestamp};
use ledger::{Invoice, InvoiceId, Place};
use service_api::CheckoutSession;
use url::Url;

use crate::config::is_encrypted_or_loopback;

/// How long a session is offered. `Assumed:` the specification states no lifetime; an hour is longer than customers take
/// and shorter than prices hold. A page that still shows a code later would disprove it, at no cost: what is paid there
/// is found and credited as a late payment.
const SESSION_LIFETIME: SignedDuration = SignedDuration::from_hours(1);

/// Why a customer is not sent to a session's page. Whoever answers there takes the customer's money.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SuspiciousPage {
    /// No web address, or one that is not encrypted.
    #[error("payment_process_url is {0:?}: no https address")]
    NotEncrypted(String),
    /// Not on the configured checkout address.
    #[error("payment_process_url is {found:?}, which is not on service.checkout_url {expected}")]
    Elsewhere {
        /// Where it leads.
        found: String,
        /// Where the service's page is.
        expected: String,
    },
    /// It names another session, or none, or several.
    #[error("payment_process_url is {found:?}, whose id is not the session_id {expected:?}")]
    OtherSession {
        /// The address.
        found: String,
        /// The session that was opened.
        expected: String,
    },
    /// The service's id does not have the shape of an id.
    #[error("{0}")]
    Id(#[from] ledger::InvalidId),
}

/// Turns the service's answer into a session that a customer may be sent to.
///
/// Source: payment-service.md, "Checkout session": the address ends in a query parameter `id` equal to `session_id`, and
/// the page is at the service's checkout address.
pub(crate) fn check(
    answer: &CheckoutSession,
    checkout_url: &Url,
    now: Timestamp,
) -> Result<Invoice, SuspiciousPage> {
    let id = InvoiceId::parse(answer.session_id.as_str())?;
    let found = || answer.payment_process_url.chars().take(200).collect();
    let url = Url::parse(&answer.payment_process_url).ok();
    let url = url.filter(is_encrypted_or_loopback);
    let url = url.ok_or_else(|| SuspiciousPage::NotEncrypted(found()))?;
    let has_user = !url.username().is_empty() || url.password().is_some();
    if has_user || url.origin() != checkout_url.origin() || !is_below(&url, checkout_url) {
        return Err(SuspiciousPage::Elsewhere {
            found: found(),
            expected: checkout_url.to_string(),
        });
    }
    let mut ids = url.query_pairs().filter(|(name, _)| name == "id");
    let (first, second) = (ids.next(), ids.next());
    if second.is_some() || first.is_none_or(|(_, value)| value != id.as_str()) {
        return Err(SuspiciousPage::OtherSession {
            found: found(),
            expected: id.to_string(),
        });
    }
    let url = String::from(url);
    Ok(Invoice::opened(
        id,
        Place::Page { url },
        now,
        now + SESSION_LIFETIME,
    ))
}

/// Whether a path is the checkout address's own, or below it.
fn is_below(url: &Url, checkout_url: &Url) -> bool {
    let base = checkout_url.path().trim_end_matches('/');
    let rest = url.path().strip_prefix(base);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(page: &str, base: &str) -> Result<Invoice, SuspiciousPage> {
        let answer = CheckoutSession {
            session_id: service_api::InvoiceId::parse("ses_1").unwrap(),
            payment_process_url: page.into(),
        };
        check(&answer, &Url::parse(base).unwrap(), Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn a_page_at_the_checkout_address_is_taken_as_it_is() {
        for (page, base) in [
            (
                "https://checkout.example/?id=ses_1",
                "https://checkout.example",
            ),
            (
                "https://checkout.example/pay?lang=de&id=ses_1",
                "https://checkout.example/pay",
            ),
            (
                "https://checkout.example/pay/de?id=ses_1",
                "https://checkout.example/pay/",
            ),
            (
                "http://127.0.0.1:8090/checkout?id=ses_1",
                "http://127.0.0.1:8090/checkout",
            ),
        ] {
            let session = checked(page, base).unwrap();
            assert_eq!((session.page(), session.id.as_str()), (Some(page), "ses_1"));
        }
    }

    #[test]
    fn a_page_that_is_not_encrypted_is_refused() {
        for page in [
            "http://checkout.example/?id=ses_1",
            "javascript:alert(1)",
            "/?id=ses_1",
            "",
        ] {
            let refused = checked(page, "https://checkout.example");
            assert!(
                matches!(refused, Err(SuspiciousPage::NotEncrypted(_))),
                "{page}"
            );
        }
    }

    #[test]
    fn a_page_elsewhere_is_refused() {
        for page in [
            "https://checkout.example.evil.example/pay?id=ses_1",
            "https://checkout.example@evil.example/pay?id=ses_1",
            "https://me:secret@checkout.example/pay?id=ses_1",
            "https://checkout.example:444/pay?id=ses_1",
            "https://checkout.example/payment?id=ses_1",
            "https://checkout.example/?id=ses_1",
        ] {
            let refused = checked(page, "https://checkout.example/pay");
            assert!(
                matches!(refused, Err(SuspiciousPage::Elsewhere { .. })),
                "{page}"
            );
        }
    }

    #[test]
    fn a_page_of_another_session_is_refused() {
        for query in [
            "",
            "?id=",
            "?id=ses_2",
            "?id=ses_1&id=ses_2",
            "?ID=ses_1",
            "#?id=ses_1",
        ] {
            let page = format!("https://checkout.example/{query}");
            let refused = checked(&page, "https://checkout.example");
            assert!(
                matches!(refused, Err(SuspiciousPage::OtherSession { .. })),
                "{page}"
            );
        }
    }
}
