//! Statements that SQLite words differently. The one writer needs no locks, and times are numbers.

/// The present; $1: clock.
pub(super) const PRESENT: &str = "SELECT $1";

/// $1: order.
pub(super) const LOCK_ORDER: &str = "SELECT true FROM orders WHERE id = $1";

/// $1: order.
pub(super) const LOCKED_ORDER: &str = "SELECT * FROM orders WHERE id = $1";

/// $1: now, $2: limit.
pub(super) const EXPIRED_ORDERS: &str =
    "SELECT id FROM orders INDEXED BY orders_by_expiry WHERE status = 'open' AND expires_at <= $1
     ORDER BY expires_at LIMIT $2";

/// $1: request, $2: fingerprint, $3: end of the claim, $4: clock, $5: milliseconds of the lease. A lease that ends more than
/// a minute after a new one is of a clock that was set back since.
pub(super) const CLAIM_REQUEST: &str = "INSERT INTO requests (id, fingerprint, kept_until, leased_until) VALUES ($1, $2, $3, $4 + $5)
     ON CONFLICT (id) DO UPDATE SET kept_until = excluded.kept_until, leased_until = excluded.leased_until
     WHERE requests.fingerprint = excluded.fingerprint AND requests.status IS NULL
         AND (requests.leased_until <= $4 OR requests.leased_until > $4 + $5 + 60000)
         AND requests.kept_until <> excluded.kept_until
     RETURNING true";

/// $1: now, $2: clock, $3: limit.
pub(super) const DELETE_EXPIRED_REQUESTS: &str =
    "DELETE FROM requests WHERE id IN (SELECT id FROM requests
         WHERE kept_until <= $1 AND (status IS NOT NULL OR leased_until <= $2) LIMIT $3)";

/// $1 to $10: the attempt, $11: clock.
pub(super) const INSERT_ATTEMPT: &str =
    "INSERT INTO attempts (id, order_id, flow, crypto_code, conversion_id, requested_crypto,
         requested_usd, requested_local, local_currency, begun_at, begun_clock, state)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'creating') RETURNING *";

/// $1: clock, $2: milliseconds, $3: limit.
pub(super) const STALE_ATTEMPTS: &str =
    "SELECT id FROM attempts WHERE state = 'creating' AND begun_clock < $1 - $2 LIMIT $3";

/// $1: priority, $2: now, $3: end of the lease, $4: clock, $5: its milliseconds, $6: limit, $7: holder.
pub(super) const LEASE_POLLS: &str =
    "UPDATE polls SET leased_by = $7, leased_until = $3, lease_next_at = $3, next_poll_at = $3,
         poll_seq = poll_seq + 1, polled_at = $2, priority = 'unwatched'
     WHERE attempt_id IN (SELECT attempt_id FROM polls
         WHERE priority = $1 AND next_poll_at <= $2 AND (leased_until IS NULL OR leased_until <= $2)
         ORDER BY next_poll_at LIMIT $6)
     RETURNING attempt_id, order_id, invoice_id, poll_seq,
         (SELECT traceparent FROM orders WHERE orders.id = polls.order_id) AS traceparent";

/// $1: now, $2: milliseconds of the pause, $3: order.
pub(super) const SCHEDULE_POLL: &str =
    "UPDATE polls SET next_poll_at = max($1, coalesce(polled_at, opened_at) + $2),
         priority = CASE priority WHEN 'callback' THEN priority ELSE 'watched' END
     WHERE attempt_id = (SELECT current_attempt FROM orders WHERE id = $3) AND payment_state <> 'settled'
         AND (next_poll_at IS NULL OR next_poll_at > max($1, coalesce(polled_at, opened_at) + $2))";

/// $1: now, $2: milliseconds of the pause, $3: order.
pub(super) const SCHEDULE_POLLS_OF_ORDER: &str =
    "UPDATE polls SET next_poll_at = max($1, coalesce(polled_at, opened_at) + $2),
         priority = CASE priority WHEN 'callback' THEN priority ELSE 'watched' END
     WHERE order_id = $3 AND payment_state <> 'address_changed' AND (next_poll_at IS NULL
         OR next_poll_at > max($1, coalesce(polled_at, opened_at) + $2))";

/// $1: time, $2: invoice, $3: milliseconds between polls that callbacks cause, $4: whether the payment is settled.
pub(super) const POLL_FOR_CALLBACK: &str = "SELECT attempt_id, due_at FROM (
         SELECT *, CASE WHEN NOT $4 AND lease_next_at <= $1 THEN lease_next_at - 1
             ELSE max($1, coalesce(polled_at, 0) + $3) END AS due_at FROM polls) AS polls
     WHERE invoice_id = $2 AND (payment_state = 'settled') = $4
         AND (next_poll_at IS NULL OR next_poll_at > due_at)";

/// $1: store, $2: clock, $3: webhook.
pub(super) const DELIVERIES_IN_PROGRESS: &str =
    "SELECT count(*) FROM outbox WHERE store_id = $1 AND webhook = $3 AND leased_until > $2";

/// $1: now, $2: whether the endpoint accepts other events, $3: store, $4: priority, $5: early from before, $6: limit,
/// $7: webhook.
pub(super) const MAKE_DUE_EARLY: &str = "UPDATE outbox SET next_at = $1, planned_at = $1, early_from = NULL,
         early_tries = early_tries + CASE WHEN $2 OR early_tries > 0 THEN 1 ELSE 0 END
     WHERE (order_id, sequence, webhook) IN (SELECT order_id, sequence, webhook FROM outbox
         WHERE is_head AND early_from IS NOT NULL AND store_id = $3 AND webhook = $7 AND priority = $4 AND early_from < $5
         ORDER BY early_from LIMIT $6)";
