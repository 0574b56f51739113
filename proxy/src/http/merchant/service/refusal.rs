//! What a store's server is told when a call was not passed on, or came back without a success.

use std::time::Duration;

use checkout_api::ErrorCode;
use service_api::{CallError, PassageError};

use crate::attempting::log_refusal;
use crate::http::error::ApiError;
use crate::http::said::short;

/// A call that did not leave the house.
pub(super) fn not_passed_on(error: &PassageError) -> ApiError {
    let code = match error {
        PassageError::Query => {
            return ApiError::field("query", &format!("It is refused: {error}."));
        }
        PassageError::TooLarge => ErrorCode::PayloadTooLarge,
        PassageError::OtherMerchant(_) => ErrorCode::ServiceAccessDenied,
        PassageError::NotJson(_) | PassageError::Body(_) | PassageError::NotAnObject => {
            ErrorCode::InvalidRequest
        }
    };
    ApiError::new(code, &format!("The call is refused: {error}."))
}

/// A call without a success. The service's own words go along, but for what is between the operator and the service.
pub(super) fn refused(error: &CallError, changes_something: bool) -> ApiError {
    log_refusal(error, "a store's call of the payment service failed");
    match error {
        CallError::Refused { status: 401, .. } => {
            let message = "The payment service does not accept this proxy's key or signature; the operator \
                           finds the reason in the log. Nothing was done.";
            ApiError::new(ErrorCode::ServiceFailed, message)
        }
        CallError::Refused { status, error } => {
            let message = match error.message.as_deref().or(error.summary.as_deref()) {
                Some(said) => format!("The payment service refused: {}", short(said)),
                None => {
                    format!("The payment service refused with status {status}, without a reason.")
                }
            };
            ApiError::new(ErrorCode::ServiceRefused, &message).said_by_service(*status, error)
        }
        CallError::RateLimited { retry_after }
        | CallError::CircuitOpen { retry_after }
        | CallError::OutOfBudget { retry_after } => unavailable(*retry_after),
        CallError::NotSent(_) => unavailable(Duration::from_secs(5)),
        CallError::Unclear(_) | CallError::Broken { .. } if changes_something => {
            let message = "The payment service gave no clear answer: what you sent may have been done. Look at your \
                           account there before you send it again.";
            ApiError::new(ErrorCode::ServiceFailed, message)
        }
        CallError::Unclear(_) | CallError::Broken { .. } => {
            let message = "The payment service gave no usable answer. Try again shortly.";
            ApiError::new(ErrorCode::ServiceFailed, message)
        }
    }
}

fn unavailable(retry_after: Duration) -> ApiError {
    let message =
        "The payment service cannot be asked at this moment. Nothing was done; try again later.";
    // A part of a second is a second: nobody comes back too early.
    let seconds = u32::try_from(retry_after.as_millis().div_ceil(1000)).unwrap_or(u32::MAX);
    ApiError::new(ErrorCode::ServiceUnavailable, message).retry_after(seconds.max(1))
}
