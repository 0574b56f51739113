//! Label values: closed lists; and the sentence of every metric.

use axum::http::Method;
use florin_gateway_client::CallError;
use florin_orders::{EventType, PollPriority};
use florin_storage::DeliveryOutcome;
use prometheus_client::registry::{Metric, Registry};
use strum::{IntoStaticStr, VariantArray};

/// Routes of the public listener, in groups that have the same objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Route {
    OpenOrder,
    ShowOrder,
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

pub(super) fn event_name(event: EventType) -> &'static str {
    let name: &str = event.into();
    name.strip_prefix("order.").unwrap_or(name)
}

// Every metric of the proxy with its sentence: those of docs/operations/metrics.md.

/// Names, without the endings of their types, and sentences.
const FAMILIES: &str = "
florin_build Version of the proxy
florin_http_requests Requests of the public listener by route and class of the status
florin_http_request_seconds Time from a request's head to its response's head, by route
florin_rate_limited_requests Requests that a rate limit refused, by rule
florin_order_events Events of orders by type, those of donations included
florin_credits Credited orders by store and currency
florin_payment_reviews Responses of the gateway that began a review
florin_gateway_calls Calls of the gateway by kind and outcome; retries are part of their call
florin_gateway_call_seconds Time of calls that were sent, retries included, by kind
florin_webhook_deliveries Deliveries by outcome
florin_webhook_delivery_seconds Time of deliveries
florin_storage_outages Times that orders could not be stored
florin_ready 1 while orders can be stored, the gateway asks for no excessive pause, and the process is not ending
florin_storage_failing 1 while orders cannot be stored
florin_reload_refused 1 after a reload of the configuration that was refused, until one is not
florin_spans_lost Spans that did not reach the collector, because it was away or too many waited
florin_gateway_up 1 while the gateway answers: the last poll was answered, and the circuit is closed
florin_gateway_circuit_open 1 while the circuit is open
florin_gateway_retry_after_seconds Rest of the pause that the gateway asked for by Retry-After
florin_gateway_budget_calls_per_minute Calls a minute that the budget allows at present
florin_gateway_key_rejected 1 while the gateway rejects the key: the last call whose key it checked was answered with 401
florin_gateway_clock_ahead_seconds How far the gateway's clock is ahead of this machine's; absent before its first response
florin_streams Open event streams of checkouts
florin_connections Open connections of the public listener
florin_connections_limit Connections that the public listener may hold
florin_connections_rejected Connections that were refused because their address had too many
florin_connections_closed Waiting connections that were closed to make room for another one
florin_poll_lag_seconds How late the longest waiting poll of the gateway is, by priority
florin_polls_due Polls that are due, 1000 of each priority at most
florin_poll_stretch_percent Factor of the poll intervals; 100 is as planned
florin_watched_poll_stretch_percent Factor of the poll intervals of watched orders; 100 is as planned
florin_orders_needing_person What waits for a person, by cause: of the 100 orders and the 100 events that wait longest, and webhooks
florin_events_waiting Events that wait for the store to accept them
florin_events_oldest_seconds Age of the oldest event that waits
florin_webhook_disabled 1 while the store's webhook is disabled, because it answered 410
florin_payments_needing_review Payments that need review by a person: their latest response was not clear, and they are polled on
florin_storage_free_bytes Bytes that may still be written to the database's volume
florin_storage_wal_bytes Size of the database file's write-ahead log
florin_storage_writer_wait_seconds Time that transactions waited for the one writer of a file
florin_storage_commit_seconds Time of commits to the disk
florin_storage_transactions Transactions that were committed; those that wait at the same time share a commit
process_resident_memory_bytes Resident memory
process_open_fds Open files, sockets included
process_max_fds Files that may be open
process_start_time_seconds Start of the process as Unix time
process_cpu_seconds Time on a processor, of user and system
florin_database_connections Connections to the database server that are in use, by pool
florin_database_connections_limit Connections to the database server that may be open, by pool
florin_database_connection_timeouts Requests that waited in vain for a connection to the database server, by pool
florin_database_clock_ahead_seconds How far the database server's clock is ahead of this machine's, rounded
florin_database_oldest_write_seconds Age of the oldest open transaction that has written to the database, of any program: GET /v1/events lists no later event; absent for a role that may not see it
florin_database_standbys Standbys of the database server: connected ones, and those that commits wait for; absent for a role that may not see them
";

pub(super) fn register(registry: &mut Registry, name: &'static str, metric: impl Metric) {
    registry.register(name, sentence(name), metric);
}

fn sentence(name: &str) -> &'static str {
    let sentence = |line: &'static str| line.strip_prefix(name)?.strip_prefix(' ');
    FAMILIES.lines().find_map(sentence).unwrap_or_default()
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
