//! Every metric of the proxy with its sentence: those of docs/operations/metrics.md.

use prometheus_client::registry::{Metric, Registry};

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

pub(super) fn sentence(name: &str) -> &'static str {
    let sentence = |line: &'static str| line.strip_prefix(name)?.strip_prefix(' ');
    FAMILIES.lines().find_map(sentence).unwrap_or_default()
}
