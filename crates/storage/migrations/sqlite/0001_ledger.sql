-- The ledger. Times are Unix milliseconds, amounts decimal text, words those of docs/architecture.md.
--
-- order:    open → awaiting_payment → checking → processing → paid | overpaid | underpaid
--                                   ↘ expired | failed | cancelled | blocked   (late money leads back to checking …)
-- attempt:  creating → open | refused | unclear | blocked
-- standing: what the latest observation said of an open attempt
-- outbox:   pending → delivered | given_up | not_wanted   (redelivery: back to pending)

CREATE TABLE identity (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    environment TEXT NOT NULL CHECK (environment IN ('test', 'production'))
) STRICT;

CREATE TABLE orders (
    id              TEXT PRIMARY KEY,
    store_id        TEXT NOT NULL,
    reference       TEXT NOT NULL,
    amount          TEXT NOT NULL,
    currency        TEXT NOT NULL,
    price_source    TEXT NOT NULL,
    title           TEXT NOT NULL,
    customer_email  TEXT,
    return_url      TEXT,
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
    -- What the service says against the credit, and since when.
    reverted_at     INTEGER,
    reverted_to     TEXT,
    cancelled_at    INTEGER,
    UNIQUE (store_id, reference)
) STRICT;
CREATE INDEX orders_by_store ON orders (store_id, created_at DESC, id DESC);

CREATE INDEX orders_untried ON orders (expires_at) WHERE status = 'open';

CREATE TABLE client_tokens (
    hash       BLOB PRIMARY KEY CHECK (length(hash) = 32),
    order_id   TEXT NOT NULL REFERENCES orders (id),
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX client_tokens_over ON client_tokens (expires_at);

-- Requests that came with an Idempotency-Key. Without a status one is being carried out, and kept_until is its lease.
CREATE TABLE requests (
    id          BLOB PRIMARY KEY CHECK (length(id) = 32),
    fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
    kept_until  INTEGER NOT NULL,
    status      INTEGER,
    body        TEXT,
    order_id    TEXT REFERENCES orders (id),
    token_hash  BLOB CHECK (length(token_hash) = 32)
) STRICT;
CREATE INDEX requests_over ON requests (kept_until);

-- A custom attempt asks for an invoice in one asset; a hosted one for a session on the service's page.
CREATE TABLE attempts (
    id                TEXT PRIMARY KEY,
    order_id          TEXT NOT NULL REFERENCES orders (id),
    flow              TEXT NOT NULL,
    crypto_code       TEXT,
    conversion_id     TEXT,
    asked_crypto      TEXT,
    asked_usd         TEXT,
    asked_local       TEXT,
    local_currency    TEXT,
    begun_at          INTEGER NOT NULL,
    state             TEXT NOT NULL,
    invoice_id        TEXT UNIQUE,
    address           TEXT,
    qr_string         TEXT,
    warnings          TEXT,
    page_url          TEXT,
    opened_at         INTEGER,
    expires_at        INTEGER,
    marked_as_paid_at INTEGER,
    standing          TEXT NOT NULL DEFAULT 'waiting',
    standing_since    INTEGER,
    received_crypto   TEXT NOT NULL DEFAULT '0',
    received_usd      TEXT NOT NULL DEFAULT '0',
    received_local    TEXT NOT NULL DEFAULT '0',
    confirmations     INTEGER,
    confirmations_required INTEGER,
    transaction_hash  TEXT,
    paid_in           TEXT,
    -- How much of it the store was told of as a late payment.
    told_late         TEXT,
    observed_at       INTEGER,
    next_poll_at      INTEGER,
    urgency           TEXT NOT NULL DEFAULT 'planned' CHECK (urgency IN ('planned', 'watched', 'hinted')),
    looked_at         INTEGER,
    lease_until       INTEGER NOT NULL DEFAULT 0,
    look              INTEGER NOT NULL DEFAULT 0,
    recorded_look     INTEGER NOT NULL DEFAULT 0,
    CHECK (CASE flow
        WHEN 'custom' THEN crypto_code IS NOT NULL AND conversion_id IS NOT NULL AND asked_crypto IS NOT NULL
            AND asked_usd IS NOT NULL AND asked_local IS NOT NULL AND local_currency IS NOT NULL AND page_url IS NULL
        WHEN 'hosted' THEN crypto_code IS NULL AND asked_crypto IS NULL AND address IS NULL AND qr_string IS NULL
        ELSE 0 END),
    CHECK (state <> 'open' OR (invoice_id IS NOT NULL AND coalesce(address, page_url) IS NOT NULL))
) STRICT;
CREATE INDEX attempts_by_order ON attempts (order_id);
CREATE INDEX attempts_due ON attempts (urgency, next_poll_at) WHERE next_poll_at IS NOT NULL;
CREATE INDEX attempts_creating ON attempts (begun_at) WHERE state = 'creating';

-- Money that was seen on any attempt, current or replaced: nothing more is asked for while there is some. What arrived
-- stays money when the service calls the payment cancelled afterwards, and what fell short is still short. A payment
-- that failed has gone back to whoever sent it. A late payment that was told before the order was paid is the one that
-- paid it; one that was told afterwards is a second payment.
CREATE VIEW orders_with_money AS SELECT *, status = 'underpaid' OR EXISTS (
    SELECT 1 FROM attempts WHERE order_id = orders.id AND state = 'open'
        AND (standing IN ('seen', 'confirming', 'short', 'settled') OR standing <> 'failed' AND received_crypto GLOB '*[1-9]*')) AS has_money,
    CASE WHEN settled_at IS NULL THEN NULL
        WHEN EXISTS (SELECT 1 FROM events WHERE order_id = orders.id AND type LIKE '%.late_payment' AND sequence >
            (SELECT min(sequence) FROM events WHERE order_id = orders.id AND type LIKE '%.paid')) THEN 'second'
        WHEN EXISTS (SELECT 1 FROM attempts JOIN events USING (order_id) WHERE attempts.id = current_attempt
            AND told_late IS NOT NULL AND type LIKE '%.late_payment' AND events.created_at >= attempts.expires_at)
            THEN 'counted' END AS late_payment
FROM orders;

CREATE TABLE observations (
    id          INTEGER PRIMARY KEY,
    attempt_id  TEXT NOT NULL REFERENCES attempts (id),
    look        INTEGER NOT NULL,
    observed_at INTEGER NOT NULL,
    raw         TEXT NOT NULL,
    verdict     TEXT NOT NULL,
    UNIQUE (attempt_id, look)
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

CREATE TABLE events (
    position   INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    store_id   TEXT NOT NULL,
    order_id   TEXT NOT NULL REFERENCES orders (id),
    sequence   INTEGER NOT NULL,
    type       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    payload    TEXT NOT NULL,
    UNIQUE (order_id, sequence)
) STRICT;
CREATE INDEX events_by_store ON events (store_id, position);

CREATE TABLE outbox (
    position   INTEGER PRIMARY KEY REFERENCES events (position),
    order_id   TEXT NOT NULL,
    store_id   TEXT NOT NULL,
    state      TEXT NOT NULL DEFAULT 'pending',
    tries      INTEGER NOT NULL DEFAULT 0,
    next_at    INTEGER NOT NULL,
    -- Delivered before it was asked for again: no later event waits for it.
    was_taken  INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX outbox_due ON outbox (store_id, next_at) WHERE state = 'pending';
CREATE INDEX outbox_by_order ON outbox (order_id, position) WHERE state = 'pending' AND NOT was_taken;

CREATE TABLE deliveries (
    id          INTEGER PRIMARY KEY,
    event_id    TEXT NOT NULL REFERENCES events (id),
    store_id    TEXT NOT NULL,
    number      INTEGER NOT NULL,
    tried_at    INTEGER NOT NULL,
    took_ms     INTEGER NOT NULL,
    http_status INTEGER,
    note        TEXT NOT NULL,
    UNIQUE (event_id, number)
) STRICT;
CREATE INDEX deliveries_by_store ON deliveries (store_id, id DESC);

-- Endpoints that said they are gone: nothing is sent to the store until a person, or another address, says otherwise.
CREATE TABLE gone_endpoints (
    store_id TEXT PRIMARY KEY,
    endpoint BLOB NOT NULL CHECK (length(endpoint) = 32),
    event_id TEXT NOT NULL REFERENCES events (id),
    since    INTEGER NOT NULL
) STRICT;

-- What was written stays as it was written, whatever a statement says.
CREATE TRIGGER orders_keep_their_terms BEFORE UPDATE OF
    id, store_id, reference, amount, currency, price_source, tolerance, flow, created_at ON orders
BEGIN SELECT RAISE(ABORT, 'the terms of an order never change'); END;
CREATE TRIGGER orders_stay BEFORE DELETE ON orders
BEGIN SELECT RAISE(ABORT, 'orders are never deleted'); END;
CREATE TRIGGER paid_stays_paid BEFORE UPDATE OF status ON orders
WHEN OLD.status IN ('paid', 'overpaid') AND NEW.status <> OLD.status
BEGIN SELECT RAISE(ABORT, 'a paid order stays paid'); END;
CREATE TRIGGER cancelled_stays_cancelled BEFORE UPDATE OF cancelled_at ON orders
WHEN OLD.cancelled_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a cancellation is not taken back'); END;
CREATE TRIGGER paid_has_a_credit BEFORE UPDATE OF status ON orders
WHEN NEW.status IN ('paid', 'overpaid') AND NOT EXISTS (SELECT 1 FROM credits WHERE order_id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'an order is paid only with its credit'); END;
CREATE TRIGGER attempts_keep_their_invoice BEFORE UPDATE OF
    order_id, flow, crypto_code, asked_crypto, asked_usd, asked_local, local_currency, invoice_id, address, qr_string,
    page_url ON attempts
WHEN OLD.state <> 'creating'
BEGIN SELECT RAISE(ABORT, 'an invoice never changes'); END;
CREATE TRIGGER observations_stay BEFORE UPDATE ON observations
BEGIN SELECT RAISE(ABORT, 'observations never change'); END;
CREATE TRIGGER observations_are_kept BEFORE DELETE ON observations
BEGIN SELECT RAISE(ABORT, 'observations are never deleted'); END;
CREATE TRIGGER credits_stay BEFORE UPDATE ON credits
BEGIN SELECT RAISE(ABORT, 'credits never change'); END;
CREATE TRIGGER credits_are_kept BEFORE DELETE ON credits
BEGIN SELECT RAISE(ABORT, 'credits are never deleted'); END;
CREATE TRIGGER events_stay BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events never change'); END;
CREATE TRIGGER events_are_kept BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
