//! Why a request brought no result.

use florin_checkout_api::{ErrorBody, ErrorCode, Refusal};

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// There is no response, or one of a server in between: a reverse proxy without its backend, a captive portal.
    Network,
    /// The proxy refused.
    Refused(ErrorBody),
    /// The proxy's response is not of this contract: the page is older or newer than the proxy.
    Unreadable,
}

impl Problem {
    /// What a response says whose status is not of success. `refusal`: its body, `None` if it is not the proxy's. Refusals have
    /// one form in all versions of the proxy.
    pub fn of_refusal(status: u16, refusal: Option<Refusal>) -> Self {
        match refusal {
            Some(Refusal { mut error, .. }) => {
                error.code = error.code.or_else(|| passing_failure(status));
                Self::Refused(error)
            }
            None => Self::Network,
        }
    }

    /// Why a successful response cannot be read. `request_id`: its header `x-request-id`, which marks the proxy's responses.
    pub fn of_unread(request_id: Option<&str>) -> Self {
        match request_id {
            Some(id) if id.starts_with("req_") => Self::Unreadable,
            _ => Self::Network,
        }
    }

    /// The refusal's code.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused(body) => body.code,
            Self::Network | Self::Unreadable => None,
        }
    }

    /// Returns `true` if the same request may succeed after a while. A page that is older than the proxy reads the
    /// answer no better then, but a proxy that is older than the page is about to be replaced.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Network | Self::Unreadable => true,
            Self::Refused(body) => matches!(
                body.code,
                Some(
                    ErrorCode::RateLimited
                        | ErrorCode::GatewayUnavailable
                        | ErrorCode::StorageUnavailable
                        | ErrorCode::Internal
                        | ErrorCode::RequestInProgress
                        | ErrorCode::AttemptInProgress
                )
            ),
        }
    }

    /// Returns `true` if the request may have been executed, or still is: the same one is at work, or a proxy that was
    /// killed left it so for a while.
    pub fn is_undecided(&self) -> bool {
        matches!(
            self.code(),
            Some(ErrorCode::RequestInProgress | ErrorCode::AttemptInProgress)
        ) || *self == Self::Network
    }

    /// Returns `true` if the proxy refused the amount of a donation: the customer corrects it in its field.
    pub fn is_about_amount(&self) -> bool {
        matches!(
            self.code(),
            Some(ErrorCode::DonationOutOfRange | ErrorCode::InvalidRequest)
        )
    }

    /// Returns `true` if the proxy refused an address for a refund: the customer corrects it in its field.
    pub fn is_about_address(&self) -> bool {
        matches!(self, Self::Refused(body) if body.field.as_deref() == Some("address"))
    }

    /// Returns `true` if prices in the order's currency cannot be paid.
    pub fn is_about_currency(&self) -> bool {
        self.code() == Some(ErrorCode::CurrencyUnavailable)
    }

    /// For the shop's page: the event `florin-error`.
    pub fn message(&self) -> &str {
        match self {
            Self::Refused(body) => &body.message,
            Self::Network => "no response",
            Self::Unreadable => "a response that this page does not understand",
        }
    }
}

/// What a code that this page does not know means, by its status; `None` where a later try changes nothing.
///
/// Source: RFC 9110, section 15; RFC 6585, section 4; RFC 8470, section 5.2.
fn passing_failure(status: u16) -> Option<ErrorCode> {
    match status {
        429 => Some(ErrorCode::RateLimited),
        503 => Some(ErrorCode::GatewayUnavailable),
        408 | 425 | 500..=599 => Some(ErrorCode::Internal),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_refusal(status: u16, json: &str) -> Problem {
        Problem::of_refusal(status, serde_json::from_str(json).ok())
    }

    fn refusal(code: &str) -> String {
        format!(r#"{{"error":{{"code":"{code}","message":"Later.","request_id":"req_1"}}}}"#)
    }

    #[test]
    fn a_response_of_a_server_in_between_is_the_network() {
        for (status, body) in [
            (502, "<html><h1>502 Bad Gateway</h1></html>"),
            (503, ""),
            (504, "upstream request timeout"),
            (429, r#"{"message":"API rate limit exceeded"}"#),
            (404, r#"{"error":{"code":404,"message":"no such app"}}"#),
            (403, "<!doctype html><title>Sign in to the WLAN"),
        ] {
            assert_eq!(of_refusal(status, body), Problem::Network, "{body}");
        }
        for id in [None, Some(""), Some("7f3a5c0e9d"), Some("5b1c.req_1")] {
            assert_eq!(Problem::of_unread(id), Problem::Network, "{id:?}");
        }
    }

    #[test]
    fn a_response_of_another_version_of_the_proxy_is_unreadable() {
        assert_eq!(
            Problem::of_unread(Some("req_0123456789abcdef")),
            Problem::Unreadable
        );
    }

    #[test]
    fn a_known_code_counts_whatever_its_status() {
        for code in ErrorCode::ALL {
            let problem = of_refusal(503, &refusal(code.as_str()));
            assert_eq!(problem.code(), Some(*code));
        }
    }

    #[test]
    fn an_unknown_code_counts_by_its_status() {
        for (status, code) in [
            (408, Some(ErrorCode::Internal)),
            (425, Some(ErrorCode::Internal)),
            (429, Some(ErrorCode::RateLimited)),
            (500, Some(ErrorCode::Internal)),
            (502, Some(ErrorCode::Internal)),
            (503, Some(ErrorCode::GatewayUnavailable)),
            (504, Some(ErrorCode::Internal)),
            (520, Some(ErrorCode::Internal)),
            (400, None),
            (404, None),
            (409, None),
            (422, None),
        ] {
            let problem = of_refusal(status, &refusal("of_a_later_version"));
            assert_eq!(problem.code(), code, "{status}");
            assert_eq!(problem.is_temporary(), code.is_some(), "{status}");
            assert_eq!(problem.message(), "Later.");
        }
    }

    #[test]
    fn a_request_is_sent_again_only_while_its_result_is_open() {
        let undecided: Vec<_> = ErrorCode::ALL
            .iter()
            .filter(|code| of_refusal(0, &refusal(code.as_str())).is_undecided())
            .collect();
        assert_eq!(
            undecided,
            [&ErrorCode::AttemptInProgress, &ErrorCode::RequestInProgress]
        );
        assert!(Problem::Network.is_undecided());
        assert!(!Problem::Unreadable.is_undecided());
    }
}
