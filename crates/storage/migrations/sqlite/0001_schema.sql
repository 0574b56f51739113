-- The database of one proxy. Times are Unix milliseconds, amounts decimal text, words those of docs/architecture.md.
-- The tables and columns of postgres/0001_schema.sql have the same names.
--
-- order:         open → awaiting_payment → checking → processing → paid | overpaid | underpaid
--                                        ↘ expired | failed | cancelled | blocked   (late money leads back to checking …)
-- attempt:       creating → open | refused | outcome_unknown | blocked
-- payment_state: what the latest observation said of an open attempt
-- outbox:        pending → delivered | given_up | no_webhook   (redelivery: back to pending)
--                unwanted: the webhook asked for other events (redelivery: pending)

CREATE TABLE identity (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    environment TEXT NOT NULL CHECK (environment IN ('test', 'production')),
    -- Where `florin-proxy store copy` has copied the orders to.
    moved_to    TEXT
) STRICT;

CREATE TABLE orders (
    id              TEXT PRIMARY KEY,
    store_id        TEXT NOT NULL,
    reference       TEXT NOT NULL,
    amount          TEXT NOT NULL,
    currency        TEXT NOT NULL,
    price_source    TEXT NOT NULL,
    title           TEXT NOT NULL,
    lines           TEXT NOT NULL,
    customer_email  TEXT,
    receipt_email   TEXT,
    return_url      TEXT,
    -- Where the customer goes from an order that is not paid; NULL for where customers go afterwards.
    cancel_url      TEXT,
    metadata        TEXT NOT NULL,
    assets          TEXT NOT NULL,
    flow            TEXT NOT NULL,
    tolerance       TEXT NOT NULL,
    expires_at      INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    status          TEXT NOT NULL,
    current_attempt TEXT REFERENCES attempts (id),
    sequence        INTEGER NOT NULL DEFAULT 0,
    version         INTEGER NOT NULL DEFAULT 0,
    settled_at      INTEGER,
    -- The payment state that contradicts the credit, and since when.
    reverted_at     INTEGER,
    reverted_to     TEXT,
    cancelled_at    INTEGER,
    has_money       INTEGER NOT NULL DEFAULT 0 CHECK (has_money IN (0, 1)),
    late_payment    TEXT,
    late_event_at   INTEGER,
    -- The asset of the payment that came late last, and where the customer wants money back.
    late_crypto_code TEXT,
    refund_address  TEXT,
    -- How an operator ended the order: 'accepted' credited it, 'closed' keeps every payment from crediting it.
    decision        TEXT CHECK (decision IN ('accepted', 'closed')),
    decided_at      INTEGER,
    -- Since when the order waits for a person; NULL while it does not, and after a decision until news.
    attention_since INTEGER,
    -- When the store's latest refund was recorded; NULL before the first.
    refunded_at     INTEGER,
    -- The trace that the store's request, or the proxy, opened the order in (W3C Trace Context).
    traceparent     TEXT CHECK (length(traceparent) = 55),
    UNIQUE (store_id, reference)
) STRICT;
CREATE INDEX orders_by_store ON orders (store_id, created_at DESC, id DESC);
CREATE INDEX orders_by_status ON orders (store_id, status, created_at DESC, id DESC);
CREATE INDEX orders_by_expiry ON orders (expires_at) WHERE status = 'open';
CREATE INDEX orders_by_settlement ON orders (store_id, settled_at, id) WHERE settled_at IS NOT NULL;
CREATE INDEX orders_for_attention ON orders (attention_since, id) WHERE attention_since IS NOT NULL;
CREATE INDEX store_orders_for_attention ON orders (store_id, attention_since, id) WHERE attention_since IS NOT NULL;
-- What people search for.
CREATE INDEX orders_by_time ON orders (created_at DESC, id DESC);
CREATE INDEX orders_by_status_and_time ON orders (status, created_at DESC, id DESC);
CREATE INDEX orders_by_reference ON orders (reference);
CREATE INDEX orders_by_amount ON orders (amount);
CREATE INDEX orders_by_customer_email ON orders (lower(customer_email)) WHERE customer_email IS NOT NULL;
CREATE INDEX orders_by_receipt_email ON orders (lower(receipt_email)) WHERE receipt_email IS NOT NULL;

CREATE TABLE client_tokens (
    hash       BLOB PRIMARY KEY CHECK (length(hash) = 32),
    order_id   TEXT NOT NULL REFERENCES orders (id),
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX client_tokens_by_expiry ON client_tokens (expires_at);

-- Requests with an Idempotency-Key. Without a status one is in progress: kept_until names its claim, and leased_until ends it.
CREATE TABLE requests (
    id           BLOB PRIMARY KEY CHECK (length(id) = 32),
    fingerprint  BLOB NOT NULL CHECK (length(fingerprint) = 32),
    kept_until   INTEGER NOT NULL,
    leased_until INTEGER NOT NULL,
    status       INTEGER,
    body         TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_by_expiry ON requests (kept_until);

CREATE TABLE attempts (
    id                     TEXT PRIMARY KEY,
    order_id               TEXT NOT NULL REFERENCES orders (id),
    flow                   TEXT NOT NULL,
    crypto_code            TEXT,
    conversion_id          TEXT,
    requested_crypto       TEXT,
    requested_usd          TEXT,
    requested_local        TEXT,
    local_currency         TEXT,
    begun_at               INTEGER NOT NULL,
    begun_clock            INTEGER NOT NULL,
    state                  TEXT NOT NULL,
    invoice_id             TEXT UNIQUE,
    address                TEXT,
    qr_string              TEXT,
    warnings               TEXT,
    page_url               TEXT,
    opened_at              INTEGER,
    expires_at             INTEGER,
    marked_as_paid_at      INTEGER,
    payment_state          TEXT NOT NULL DEFAULT 'waiting',
    state_since            INTEGER,
    received_crypto        TEXT NOT NULL DEFAULT '0',
    received_usd           TEXT NOT NULL DEFAULT '0',
    received_local         TEXT NOT NULL DEFAULT '0',
    confirmations          INTEGER,
    confirmations_required INTEGER,
    transaction_hash       TEXT,
    -- The transaction that the customer's wallet named when it had sent the payment: a hint, never a proof.
    transaction_hint       TEXT CHECK (length(transaction_hint) IN (64, 66)),
    paid_in                TEXT,
    was_detected           INTEGER NOT NULL DEFAULT 0 CHECK (was_detected IN (0, 1)),
    -- How much of it the store was told of as a late payment.
    late_amount_notified   TEXT,
    observed_at            INTEGER,
    -- A person has to check the latest response.
    needs_review           INTEGER NOT NULL DEFAULT 0 CHECK (needs_review IN (0, 1)),
    CHECK (CASE flow
        WHEN 'custom' THEN crypto_code IS NOT NULL AND conversion_id IS NOT NULL AND requested_crypto IS NOT NULL
            AND requested_usd IS NOT NULL AND requested_local IS NOT NULL AND local_currency IS NOT NULL
            AND page_url IS NULL
        WHEN 'hosted' THEN crypto_code IS NULL AND requested_crypto IS NULL AND address IS NULL AND qr_string IS NULL
        ELSE 0 END),
    CHECK (state <> 'open' OR (invoice_id IS NOT NULL AND coalesce(address, page_url) IS NOT NULL))
) STRICT;
CREATE INDEX attempts_by_order ON attempts (order_id);
CREATE INDEX attempts_creating ON attempts (begun_clock) WHERE state = 'creating';
CREATE INDEX attempts_needing_review ON attempts (id) WHERE needs_review;
-- Payments that may have credited nothing. The condition is that of the statement that lists them.
CREATE INDEX attempts_uncredited ON attempts (state_since, id)
    WHERE payment_state IN ('underpaid', 'cancelled') OR late_amount_notified IS NOT NULL;
CREATE INDEX attempts_by_address ON attempts (lower(address)) WHERE address IS NOT NULL;
CREATE INDEX attempts_by_transaction ON attempts (lower(transaction_hash)) WHERE transaction_hash IS NOT NULL;

-- The schedule of an open attempt, apart from it: a narrow row that changes with every poll.
CREATE TABLE polls (
    attempt_id    TEXT PRIMARY KEY REFERENCES attempts (id),
    order_id      TEXT NOT NULL REFERENCES orders (id),
    invoice_id    TEXT NOT NULL UNIQUE,
    payment_state TEXT NOT NULL DEFAULT 'waiting',
    priority      TEXT NOT NULL DEFAULT 'unwatched' CHECK (priority IN ('unwatched', 'watched', 'callback')),
    opened_at     INTEGER NOT NULL,
    next_poll_at  INTEGER,
    polled_at     INTEGER,
    -- The fencing number of the latest poll, and of the latest that was recorded.
    poll_seq      INTEGER NOT NULL DEFAULT 0,
    recorded_seq  INTEGER NOT NULL DEFAULT 0,
    -- leased_until ends the lease; lease_next_at is what next_poll_at became with it, by the clock of the lease's holder.
    leased_by     TEXT,
    leased_until  INTEGER,
    lease_next_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX polls_due ON polls (priority, next_poll_at) WHERE next_poll_at IS NOT NULL;
CREATE INDEX polls_by_order ON polls (order_id);
CREATE INDEX polls_leased ON polls (leased_by) WHERE leased_by IS NOT NULL;
-- What a clock that was ahead has written is found by its time, at each start: by no scan of a long history.
CREATE INDEX polls_by_opening ON polls (opened_at);
CREATE INDEX polls_by_poll ON polls (coalesce(polled_at, opened_at)) WHERE next_poll_at IS NOT NULL;

-- A row for each response that differs from the one before. times counts its repetitions.
CREATE TABLE observations (
    id            INTEGER PRIMARY KEY,
    attempt_id    TEXT NOT NULL REFERENCES attempts (id),
    poll_seq      INTEGER NOT NULL,
    last_poll_seq INTEGER NOT NULL,
    observed_at   INTEGER NOT NULL,
    last_at       INTEGER NOT NULL,
    times         INTEGER NOT NULL DEFAULT 1,
    raw           TEXT NOT NULL,
    assessment    TEXT NOT NULL,
    -- Of the members that are assessed.
    digest        BLOB NOT NULL,
    UNIQUE (attempt_id, poll_seq)
) STRICT;

-- At most one credit per order, ever: the primary key says so.
CREATE TABLE credits (
    order_id       TEXT PRIMARY KEY REFERENCES orders (id),
    attempt_id     TEXT NOT NULL REFERENCES attempts (id),
    observation_id INTEGER NOT NULL REFERENCES observations (id),
    amount         TEXT NOT NULL,
    currency       TEXT NOT NULL,
    credited_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX credits_by_time ON credits (credited_at, order_id);

CREATE TABLE events (
    order_id   TEXT NOT NULL REFERENCES orders (id),
    sequence   INTEGER NOT NULL,
    id         TEXT NOT NULL UNIQUE,
    store_id   TEXT NOT NULL,
    type       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    payload    TEXT NOT NULL,
    position   INTEGER PRIMARY KEY,
    UNIQUE (order_id, sequence)
) STRICT;
CREATE INDEX events_by_store ON events (store_id, position);

CREATE TABLE outbox (
    order_id      TEXT NOT NULL,
    sequence      INTEGER NOT NULL,
    -- A webhook of the store; `default` of one without any.
    webhook       TEXT NOT NULL,
    position      INTEGER NOT NULL,
    store_id      TEXT NOT NULL,
    state         TEXT NOT NULL DEFAULT 'pending',
    tries         INTEGER NOT NULL DEFAULT 0,
    next_at       INTEGER NOT NULL,
    -- When next_at was planned: what a clock that was ahead has planned is found by it, whatever its event's time is.
    planned_at    INTEGER NOT NULL,
    -- The next try by the schedule, after a failed one; NULL before the first failure. A try before it is early.
    retry_at      INTEGER,
    -- Set while a failed event waits: an acceptance by the endpoint after this time makes the event due.
    early_from    INTEGER,
    -- How often an acceptance has made it due.
    early_tries   INTEGER NOT NULL DEFAULT 0,
    -- Events of orders with money (0) are delivered before all others (1).
    priority      INTEGER NOT NULL DEFAULT 1 CHECK (priority IN (0, 1)),
    -- Delivered before a redelivery was requested: no later event waits for it.
    was_delivered INTEGER NOT NULL DEFAULT 0 CHECK (was_delivered IN (0, 1)),
    -- No earlier pending event of the same order waits for the webhook's first acceptance. Only a head is delivered.
    is_head       INTEGER NOT NULL CHECK (is_head IN (0, 1)),
    leased_by     TEXT,
    leased_until  INTEGER,
    PRIMARY KEY (order_id, sequence, webhook),
    FOREIGN KEY (order_id, sequence) REFERENCES events (order_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_heads ON outbox (store_id, webhook, priority, next_at, position) WHERE is_head;
CREATE INDEX outbox_waiting ON outbox (store_id, webhook, priority, early_from) WHERE is_head AND early_from IS NOT NULL;
CREATE INDEX outbox_pending ON outbox (store_id, webhook, position) WHERE state = 'pending';
CREATE INDEX outbox_by_plan ON outbox (planned_at) WHERE state = 'pending';
CREATE INDEX outbox_leased ON outbox (store_id, webhook, leased_until) WHERE leased_until IS NOT NULL;
CREATE INDEX outbox_given_up ON outbox (position) WHERE state = 'given_up';
CREATE INDEX outbox_given_up_by_store ON outbox (store_id, position) WHERE state = 'given_up';

-- The webhooks of the stores: rows to lock, while their deliveries in progress are counted.
CREATE TABLE webhooks (
    store_id      TEXT NOT NULL,
    webhook       TEXT NOT NULL,
    -- Events that happen are for it.
    is_configured INTEGER NOT NULL DEFAULT 0 CHECK (is_configured IN (0, 1)),
    -- The types that it asks for, each between blanks; NULL for all.
    events        TEXT,
    -- When it last accepted an event while others waited.
    accepted_at   INTEGER,
    -- Before it, no waiting event with money is tried early.
    probe_at      INTEGER,
    PRIMARY KEY (store_id, webhook)
) STRICT, WITHOUT ROWID;

CREATE TABLE deliveries (
    id          INTEGER PRIMARY KEY,
    event_id    TEXT NOT NULL REFERENCES events (id),
    store_id    TEXT NOT NULL,
    webhook     TEXT NOT NULL,
    number      INTEGER NOT NULL,
    tried_at    INTEGER NOT NULL,
    took_ms     INTEGER NOT NULL,
    http_status INTEGER,
    note        TEXT NOT NULL,
    UNIQUE (event_id, number)
) STRICT;
CREATE INDEX deliveries_by_store ON deliveries (store_id, id DESC);

-- Disabled webhooks: nothing is sent to one until it is enabled again.
CREATE TABLE disabled_endpoints (
    store_id TEXT NOT NULL,
    webhook  TEXT NOT NULL,
    endpoint BLOB NOT NULL CHECK (length(endpoint) = 32),
    event_id TEXT NOT NULL REFERENCES events (id),
    since    INTEGER NOT NULL,
    PRIMARY KEY (store_id, webhook)
) STRICT;

-- Who did what, when and why. Nothing of it changes.
CREATE TABLE audit (
    position      INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    at            INTEGER NOT NULL,
    operator      TEXT NOT NULL,
    -- The store whose staff did it; NULL for an operator.
    staff_of      TEXT,
    action        TEXT NOT NULL,
    order_id      TEXT REFERENCES orders (id),
    -- The event, the store or the refunded amount, where the action has one.
    subject       TEXT,
    reason        TEXT NOT NULL,
    status_before TEXT,
    status_after  TEXT
) STRICT;
CREATE INDEX audit_by_order ON audit (order_id, position) WHERE order_id IS NOT NULL;

-- What a store has sent back. id is that of its entry in the audit log, which names who recorded it.
CREATE TABLE refunds (
    id               TEXT PRIMARY KEY REFERENCES audit (id),
    order_id         TEXT NOT NULL REFERENCES orders (id),
    crypto_code      TEXT NOT NULL,
    amount_in_crypto TEXT NOT NULL,
    -- What of the price it takes back, in the order's currency.
    amount           TEXT NOT NULL,
    transaction_hash TEXT,
    refunded_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX refunds_by_order ON refunds (order_id, refunded_at, id);
CREATE INDEX refunds_by_time ON refunds (refunded_at, id);

-- Links that stores make for their staff, and the sessions that those open.
--
-- hash: SHA-256 of the token. Opening a link replaces it by that of the session, so that a link opens one session.
--
--   link ─opened→ session ─expires_at, sign-out→ deleted
--     └─expires_at→ deleted
--
-- secret_key: a digest of the store's key with which the link was made: the session ends with that key.
CREATE TABLE staff_access (
    hash            BLOB PRIMARY KEY CHECK (length(hash) = 32),
    state           TEXT NOT NULL CHECK (state IN ('link', 'session')),
    store_id        TEXT NOT NULL,
    secret_key      BLOB NOT NULL CHECK (length(secret_key) = 32),
    person          TEXT NOT NULL,
    may_decide      INTEGER NOT NULL CHECK (may_decide IN (0, 1)),
    session_seconds INTEGER NOT NULL CHECK (session_seconds > 0),
    expires_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX staff_access_by_expiry ON staff_access (expires_at);
CREATE INDEX staff_access_by_store ON staff_access (store_id, expires_at DESC);

-- GET /prices of the gateway, as JSON: every proxy honours what one of them has quoted.
CREATE TABLE price_lists (
    id         INTEGER PRIMARY KEY,
    fetched_at INTEGER NOT NULL,
    body       TEXT NOT NULL
) STRICT;
CREATE INDEX price_lists_by_time ON price_lists (fetched_at);

-- Files of the checkout, named by their content: a proxy of another version serves a page that was loaded here.
CREATE TABLE static_files (
    name    TEXT PRIMARY KEY,
    -- Before the contents: SQLite walks the pages of what stands before a column.
    used_at INTEGER NOT NULL,
    whole   BLOB NOT NULL,
    brotli  BLOB
) STRICT;

-- The row that the check of writing replaces.
CREATE TABLE write_checks (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    written_at INTEGER NOT NULL
) STRICT;

-- What was written stays as it was written, whatever a statement says.
CREATE TRIGGER orders_keep_their_terms BEFORE UPDATE OF
    id, store_id, reference, amount, currency, price_source, tolerance, flow, created_at ON orders
BEGIN SELECT RAISE(ABORT, 'the terms of an order never change'); END;
CREATE TRIGGER orders_keep_their_lines BEFORE UPDATE OF lines ON orders
BEGIN SELECT RAISE(ABORT, 'the lines of an order never change'); END;
CREATE TRIGGER orders_stay BEFORE DELETE ON orders
BEGIN SELECT RAISE(ABORT, 'orders are never deleted'); END;
CREATE TRIGGER paid_stays_paid BEFORE UPDATE OF status ON orders
WHEN OLD.status IN ('paid', 'overpaid') AND NEW.status <> OLD.status
BEGIN SELECT RAISE(ABORT, 'a paid order stays paid'); END;
CREATE TRIGGER cancelled_stays_cancelled BEFORE UPDATE OF cancelled_at ON orders
WHEN OLD.cancelled_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a cancellation is not taken back'); END;
CREATE TRIGGER attempts_keep_their_invoice BEFORE UPDATE OF
    order_id, flow, crypto_code, requested_crypto, requested_usd, requested_local, local_currency, invoice_id, address,
    qr_string, page_url ON attempts
WHEN OLD.state <> 'creating'
BEGIN SELECT RAISE(ABORT, 'an invoice never changes'); END;
CREATE TRIGGER observations_stay BEFORE UPDATE OF id, attempt_id, poll_seq, observed_at, raw, assessment, digest ON observations
BEGIN SELECT RAISE(ABORT, 'observations never change'); END;
CREATE TRIGGER observations_are_counted BEFORE UPDATE OF last_poll_seq, last_at, times ON observations
WHEN NEW.times <> OLD.times + 1 OR NEW.last_poll_seq <= OLD.last_poll_seq
BEGIN SELECT RAISE(ABORT, 'a repeated observation is counted'); END;
CREATE TRIGGER observations_are_kept BEFORE DELETE ON observations
BEGIN SELECT RAISE(ABORT, 'observations are never deleted'); END;
CREATE TRIGGER credits_stay BEFORE UPDATE ON credits
BEGIN SELECT RAISE(ABORT, 'credits never change'); END;
CREATE TRIGGER credits_are_kept BEFORE DELETE ON credits
BEGIN SELECT RAISE(ABORT, 'credits are never deleted'); END;
CREATE TRIGGER refunds_stay BEFORE UPDATE ON refunds
BEGIN SELECT RAISE(ABORT, 'refunds never change'); END;
CREATE TRIGGER refunds_are_kept BEFORE DELETE ON refunds
BEGIN SELECT RAISE(ABORT, 'refunds are never deleted'); END;
CREATE TRIGGER events_stay BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events never change'); END;
CREATE TRIGGER events_are_kept BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;

CREATE TRIGGER paid_has_a_credit BEFORE UPDATE OF status ON orders
WHEN NEW.status IN ('paid', 'overpaid') AND NOT EXISTS (SELECT 1 FROM credits WHERE order_id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'an order is paid only with its credit'); END;

CREATE TRIGGER audit_stays BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'entries of the audit log never change'); END;
CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'entries of the audit log are never deleted'); END;
CREATE TRIGGER accepted_stays_accepted BEFORE UPDATE OF decision ON orders
WHEN OLD.decision = 'accepted' AND NEW.decision IS NOT 'accepted'
BEGIN SELECT RAISE(ABORT, 'an acceptance is not taken back'); END;
CREATE TRIGGER decisions_are_audited BEFORE UPDATE OF decision, decided_at ON orders
WHEN NEW.decision IS NOT NULL AND (NEW.decision IS NOT OLD.decision OR NEW.decided_at IS NOT OLD.decided_at)
    AND NOT EXISTS (SELECT 1 FROM audit WHERE order_id = NEW.id AND at = NEW.decided_at)
BEGIN SELECT RAISE(ABORT, 'a decision needs its entry in the audit log'); END;
