//! Label values: closed lists.

use axum::http::Method;
use florin_gateway::CallError;
use florin_orders::{EventType, PollPriority};
use florin_storage::DeliveryOutcome;
use strum::{IntoStaticStr, VariantArray};

/// Routes of the public listener, in groups that have the same objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Route {
    /// POST /v1/checkout.
    OpenOrder,
    /// GET /v1/checkout: status reads.
    ShowOrder,
    /// GET /v1/checkout/quotes.
    Quotes,
    /// POST /v1/checkout/attempt and /v1/checkout/session.
    OpenAttempt,
    StoreApi,
    Callback,
    /// Everything else, files and addresses without a route included.
    Other,
}

impl Route {
    pub(crate) fn of(method: &Method, route: &str) -> Self {
        match route {
            "/v1/checkout" if *method == Method::POST => Self::OpenOrder,
            "/v1/checkout" if *method == Method::GET => Self::ShowOrder,
            "/v1/checkout/quotes" => Self::Quotes,
            "/v1/checkout/attempt" | "/v1/checkout/session" => Self::OpenAttempt,
            "/callbacks/{token}" => Self::Callback,
            _ if !route.starts_with("/v1/checkout") && route.starts_with("/v1/") => Self::StoreApi,
            _ => Self::Other,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
pub(crate) enum StatusClass {
    #[strum(serialize = "2xx")]
    Success,
    /// Not modified, or elsewhere.
    #[strum(serialize = "3xx")]
    Elsewhere,
    #[strum(serialize = "4xx")]
    ClientError,
    #[strum(serialize = "5xx")]
    ServerError,
}

impl StatusClass {
    pub(super) fn of(status: u16) -> Self {
        match status {
            0..=299 => Self::Success,
            300..=399 => Self::Elsewhere,
            400..=499 => Self::ClientError,
            _ => Self::ServerError,
        }
    }
}

/// Rate limits. See docs/operations/rate-limits.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Rule {
    /// New orders of an address, and uses of an order token.
    Orders,
    Attempts,
    AttemptsOfOrder,
    StreamsOfOrder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Call {
    Prices,
    /// POST /invoice and POST /checkout.
    Create,
    Poll,
    /// POST /confirm, and what stores forward.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(super) enum CallOutcome {
    Ok,
    /// 400 to 499, except 429.
    Refused,
    /// 429, or within the pause of a `Retry-After`.
    RateLimited,
    /// 500 to 599.
    Failed,
    /// Sent, without a usable response.
    Ambiguous,
    Unreachable,
    /// Not sent: no budget, the circuit is open, or the limits cannot be read.
    HeldBack,
}

impl CallOutcome {
    pub(super) fn of<T>(result: &Result<T, CallError>) -> Self {
        match result {
            Ok(_) => Self::Ok,
            Err(CallError::Refused { .. }) => Self::Refused,
            Err(CallError::RateLimited { .. }) => Self::RateLimited,
            Err(CallError::Broken { .. }) => Self::Failed,
            Err(CallError::Ambiguous(_)) => Self::Ambiguous,
            Err(CallError::NotSent(_)) => Self::Unreachable,
            Err(
                CallError::OutOfBudget { .. }
                | CallError::CircuitOpen { .. }
                | CallError::NoLimits(_),
            ) => Self::HeldBack,
        }
    }
}

/// Outcomes of deliveries.
pub(super) const DELIVERY_OUTCOMES: [&str; 5] =
    ["delivered", "retry", "given_up", "gone", "no_webhook"];

pub(super) fn outcome_of_delivery(outcome: &DeliveryOutcome) -> &'static str {
    match outcome {
        DeliveryOutcome::Delivered => "delivered",
        DeliveryOutcome::Retry(_) => "retry",
        DeliveryOutcome::GivenUp => "given_up",
        DeliveryOutcome::Gone(_) => "gone",
        DeliveryOutcome::NoWebhook => "no_webhook",
    }
}

/// The priority of a poll; the database has older names for two of them.
pub(super) fn priority_name(priority: PollPriority) -> &'static str {
    match priority {
        PollPriority::Unwatched => "unwatched",
        PollPriority::Watched => "watched",
        PollPriority::Callback => "callback",
    }
}

/// `paid` of `order.paid`.
pub(super) fn event_name(event: EventType) -> &'static str {
    let name: &str = event.into();
    name.strip_prefix("order.").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::router::paths;

    #[test]
    fn every_route_of_stores_and_customers_is_in_a_group() {
        let groups: Vec<_> = paths()
            .into_iter()
            .map(|path| (path, Route::of(&Method::GET, path)))
            .collect();
        let of = |group: Route| groups.iter().filter(move |(_, of)| *of == group);
        assert_eq!(of(Route::ShowOrder).count(), 1);
        assert_eq!(of(Route::Quotes).count(), 1);
        assert_eq!(of(Route::OpenAttempt).count(), 2);
        assert_eq!(of(Route::Callback).count(), 1);
        let is_of_store = |path: &str| path.starts_with("/v1/") && !path.contains("/checkout");
        assert!(of(Route::StoreApi).all(|(path, _)| is_of_store(path)));
        assert!(of(Route::Other).all(|(path, _)| !is_of_store(path)));
        let opening = Route::of(&Method::POST, "/v1/checkout");
        assert_eq!(opening, Route::OpenOrder);
    }
}
