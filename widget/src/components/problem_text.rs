//! A problem in the customer's words.

use florin_checkout_api::ErrorCode;

use crate::i18n::I18n;
use crate::state::Problem;

/// The sentence for a problem, and the reference to quote.
pub(crate) fn problem_text(i18n: I18n, problem: &Problem) -> (String, Option<String>) {
    let body = match problem {
        Problem::Network => return (i18n.text("no_network"), None),
        Problem::Unreadable => return (i18n.text("unreadable"), None),
        Problem::Refused(body) => body,
    };
    let text = match body.code {
        Some(ErrorCode::NotFound) => i18n.text("gone"),
        Some(ErrorCode::RateLimited) => i18n.text("too_often"),
        Some(ErrorCode::GatewayUnavailable | ErrorCode::StorageUnavailable) => {
            i18n.text("service_busy")
        }
        Some(ErrorCode::QuoteExpired) => i18n.text("price_moved"),
        Some(ErrorCode::AmountOutOfRange | ErrorCode::AssetUnavailable) => i18n.text("asset_gone"),
        Some(ErrorCode::AttemptInProgress | ErrorCode::RequestInProgress) => {
            i18n.text("in_progress")
        }
        Some(ErrorCode::OrderClosed) => i18n.text("closed"),
        // The rest are mistakes of the shop or of Florin: the proxy's message helps support.
        _ => body.message.clone(),
    };
    let reference = body
        .request_id
        .as_ref()
        .map(|id| i18n.text_with("request", &[("id", id)]));
    (text, reference)
}
