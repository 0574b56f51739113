-- The database of several proxies. Amounts are decimal text, as agreed with the customer: cast them to numeric in reports.
-- Times that decide about orders come from the proxies; leased_until and begun_clock are this server's clock.
--
-- order:         open → awaiting_payment → checking → processing → paid | overpaid | underpaid
--                                        ↘ expired | failed | cancelled | blocked   (late money leads back to checking …)
-- attempt:       creating → open | refused | unclear | blocked
-- payment_state: what the latest observation said of an open attempt
-- outbox:        pending → delivered | given_up | not_wanted   (redelivery: back to pending)
--
-- Every transaction that writes an order, its attempts or its outbox locks the order's row first.

CREATE TABLE identity (
    id          smallint PRIMARY KEY CHECK (id = 1),
    environment text NOT NULL CHECK (environment IN ('test', 'production'))
);

CREATE TABLE orders (
    id              text PRIMARY KEY,
    store_id        text NOT NULL,
    reference       text NOT NULL,
    amount          text NOT NULL CHECK (amount ~ '^[0-9]+(\.[0-9]+)?$'),
    currency        text NOT NULL,
    price_source    text NOT NULL,
    title           text NOT NULL,
    lines           text NOT NULL,
    customer_email  text,
    receipt_email   text,
    return_url      text,
    metadata        text NOT NULL,
    assets          text NOT NULL,
    flow            text NOT NULL,
    tolerance       text NOT NULL,
    expires_at      timestamptz NOT NULL,
    created_at      timestamptz NOT NULL,
    status          text NOT NULL,
    current_attempt text,
    sequence        bigint NOT NULL DEFAULT 0,
    version         bigint NOT NULL DEFAULT 0,
    settled_at      timestamptz,
    -- The payment state that contradicts the credit, and since when.
    reverted_at     timestamptz,
    reverted_to     text,
    cancelled_at    timestamptz,
    has_money       boolean NOT NULL DEFAULT false,
    late_payment    text,
    late_event_at   timestamptz,
    UNIQUE (store_id, reference)
) WITH (fillfactor = 85);
CREATE INDEX orders_by_store ON orders (store_id, created_at DESC, id DESC);
CREATE INDEX orders_by_status ON orders (store_id, status, created_at DESC, id DESC);
CREATE INDEX orders_untried ON orders (expires_at) WHERE status = 'open';

CREATE TABLE client_tokens (
    hash       bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
    order_id   text NOT NULL REFERENCES orders (id),
    expires_at timestamptz NOT NULL
);
CREATE INDEX client_tokens_over ON client_tokens (expires_at);

-- Requests with an Idempotency-Key. Without a status one is in progress: kept_until names its claim, and leased_until ends it.
CREATE TABLE requests (
    id           bytea PRIMARY KEY CHECK (octet_length(id) = 32),
    fingerprint  bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
    kept_until   timestamptz NOT NULL,
    leased_until timestamptz NOT NULL,
    status       integer,
    body         text
);
CREATE INDEX requests_over ON requests (kept_until);

CREATE TABLE attempts (
    id                     text PRIMARY KEY,
    order_id               text NOT NULL REFERENCES orders (id),
    flow                   text NOT NULL,
    crypto_code            text,
    conversion_id          text,
    requested_crypto       text,
    requested_usd          text,
    requested_local        text,
    local_currency         text,
    begun_at               timestamptz NOT NULL,
    begun_clock            timestamptz NOT NULL,
    state                  text NOT NULL,
    invoice_id             text UNIQUE,
    address                text,
    qr_string              text,
    warnings               text,
    page_url               text,
    opened_at              timestamptz,
    expires_at             timestamptz,
    marked_as_paid_at      timestamptz,
    payment_state          text NOT NULL DEFAULT 'waiting',
    state_since            timestamptz,
    received_crypto        text NOT NULL DEFAULT '0',
    received_usd           text NOT NULL DEFAULT '0',
    received_local         text NOT NULL DEFAULT '0',
    confirmations          bigint,
    confirmations_required bigint,
    transaction_hash       text,
    paid_in                text,
    was_seen               boolean NOT NULL DEFAULT false,
    late_amount_notified   text,
    observed_at            timestamptz,
    -- A person has to check the latest response.
    needs_review           boolean NOT NULL DEFAULT false,
    CHECK (CASE flow
        WHEN 'custom' THEN crypto_code IS NOT NULL AND conversion_id IS NOT NULL AND requested_crypto IS NOT NULL
            AND requested_usd IS NOT NULL AND requested_local IS NOT NULL AND local_currency IS NOT NULL
            AND page_url IS NULL
        WHEN 'hosted' THEN crypto_code IS NULL AND requested_crypto IS NULL AND address IS NULL AND qr_string IS NULL
        ELSE false END),
    CHECK (state <> 'open' OR (invoice_id IS NOT NULL AND coalesce(address, page_url) IS NOT NULL))
) WITH (fillfactor = 85);
CREATE INDEX attempts_by_order ON attempts (order_id);
CREATE INDEX attempts_creating ON attempts (begun_clock) WHERE state = 'creating';
CREATE INDEX attempts_needing_review ON attempts (id) WHERE needs_review;
ALTER TABLE orders ADD FOREIGN KEY (current_attempt) REFERENCES attempts (id) DEFERRABLE;

-- The schedule of an open attempt, apart from it: a narrow row that changes with every poll.
CREATE TABLE polls (
    attempt_id    text PRIMARY KEY REFERENCES attempts (id),
    order_id      text NOT NULL REFERENCES orders (id),
    invoice_id    text NOT NULL UNIQUE,
    payment_state text NOT NULL DEFAULT 'waiting',
    priority      text NOT NULL DEFAULT 'planned' CHECK (priority IN ('planned', 'watched', 'hinted')),
    opened_at     timestamptz NOT NULL,
    next_poll_at  timestamptz,
    polled_at     timestamptz,
    -- The fencing number of the latest poll, and of the latest that was recorded, in which transaction.
    poll_seq      bigint NOT NULL DEFAULT 0,
    recorded_seq  bigint NOT NULL DEFAULT 0,
    recorded_tx   xid8,
    -- leased_until ends the lease; lease_next_at is what next_poll_at became with it, by the clock of the lease's holder.
    leased_by     text,
    leased_until  timestamptz,
    lease_next_at timestamptz
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX polls_due ON polls (priority, next_poll_at) WHERE next_poll_at IS NOT NULL;
CREATE INDEX polls_by_order ON polls (order_id);
CREATE INDEX polls_leased ON polls (leased_by) WHERE leased_by IS NOT NULL;

-- A row for each response that differs from the one before. times counts its repetitions.
CREATE TABLE observations (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    attempt_id    text NOT NULL REFERENCES attempts (id),
    poll_seq      bigint NOT NULL,
    last_poll_seq bigint NOT NULL,
    observed_at   timestamptz NOT NULL,
    last_at       timestamptz NOT NULL,
    times         bigint NOT NULL DEFAULT 1,
    raw           text NOT NULL,
    assessment    text NOT NULL,
    facts         bytea,
    UNIQUE (attempt_id, poll_seq)
);

-- At most one credit per order, ever: the primary key says so.
CREATE TABLE credits (
    order_id       text PRIMARY KEY REFERENCES orders (id),
    attempt_id     text NOT NULL REFERENCES attempts (id),
    observation_id bigint NOT NULL REFERENCES observations (id),
    amount         text NOT NULL,
    currency       text NOT NULL,
    credited_at    timestamptz NOT NULL
);

-- Transactions commit in another order than they take their numbers: position alone would let a reader skip an event.
-- Readers page by (tx, position), below every transaction that still runs.
CREATE TABLE events (
    order_id   text NOT NULL REFERENCES orders (id),
    sequence   bigint NOT NULL,
    id         text NOT NULL UNIQUE,
    store_id   text NOT NULL,
    type       text NOT NULL,
    created_at timestamptz NOT NULL,
    payload    text NOT NULL,
    tx         xid8 NOT NULL DEFAULT pg_current_xact_id(),
    position   bigint GENERATED BY DEFAULT AS IDENTITY,
    PRIMARY KEY (order_id, sequence)
);
CREATE INDEX events_by_store ON events (store_id, tx, position);
CREATE INDEX events_by_position ON events (position);

CREATE TABLE outbox (
    order_id     text NOT NULL,
    sequence     bigint NOT NULL,
    position     bigint NOT NULL,
    store_id     text NOT NULL,
    state        text NOT NULL DEFAULT 'pending',
    tries        bigint NOT NULL DEFAULT 0,
    next_at      timestamptz NOT NULL,
    -- Events of orders with money (0) are delivered before all others (1).
    priority     smallint NOT NULL DEFAULT 1 CHECK (priority IN (0, 1)),
    -- Delivered before a redelivery was requested: no later event waits for it.
    was_taken    boolean NOT NULL DEFAULT false,
    -- No earlier pending event of the same order waits for the store's first acceptance. Only a head is delivered.
    is_head      boolean NOT NULL,
    leased_by    text,
    leased_until timestamptz,
    PRIMARY KEY (order_id, sequence),
    FOREIGN KEY (order_id, sequence) REFERENCES events (order_id, sequence)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX outbox_heads ON outbox (store_id, priority, next_at, position) WHERE is_head;
CREATE INDEX outbox_pending ON outbox (store_id, position) WHERE state = 'pending';
CREATE INDEX outbox_leased ON outbox (store_id, leased_until) WHERE leased_until IS NOT NULL;

-- A row to lock for each store, while its deliveries in progress are counted.
CREATE TABLE store_deliveries (
    store_id text PRIMARY KEY
);

CREATE TABLE deliveries (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id    text NOT NULL REFERENCES events (id),
    store_id    text NOT NULL,
    number      bigint NOT NULL,
    tried_at    timestamptz NOT NULL,
    took_ms     bigint NOT NULL,
    http_status integer,
    note        text NOT NULL,
    UNIQUE (event_id, number)
);
CREATE INDEX deliveries_by_store ON deliveries (store_id, id DESC);

-- Disabled webhooks: nothing is sent to the store until it is enabled again.
CREATE TABLE gone_endpoints (
    store_id text PRIMARY KEY,
    endpoint bytea NOT NULL CHECK (octet_length(endpoint) = 32),
    event_id text NOT NULL REFERENCES events (id),
    since    timestamptz NOT NULL
);

-- The row that the check of writing replaces.
CREATE TABLE write_checks (
    id         smallint PRIMARY KEY CHECK (id = 1),
    written_at timestamptz NOT NULL
);

-- What was written stays as it was written, whatever a statement says.
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0];
END $$;

CREATE TRIGGER orders_keep_their_terms BEFORE UPDATE OF
    id, store_id, reference, amount, currency, price_source, tolerance, flow, created_at ON orders
FOR EACH ROW EXECUTE FUNCTION refuse('the terms of an order never change');
CREATE TRIGGER orders_keep_their_lines BEFORE UPDATE OF lines ON orders
FOR EACH ROW EXECUTE FUNCTION refuse('the lines of an order never change');
CREATE TRIGGER orders_stay BEFORE DELETE ON orders
FOR EACH ROW EXECUTE FUNCTION refuse('orders are never deleted');
CREATE TRIGGER paid_stays_paid BEFORE UPDATE OF status ON orders
FOR EACH ROW WHEN (OLD.status IN ('paid', 'overpaid') AND NEW.status <> OLD.status)
EXECUTE FUNCTION refuse('a paid order stays paid');
CREATE TRIGGER cancelled_stays_cancelled BEFORE UPDATE OF cancelled_at ON orders
FOR EACH ROW WHEN (OLD.cancelled_at IS NOT NULL)
EXECUTE FUNCTION refuse('a cancellation is not taken back');
CREATE TRIGGER attempts_keep_their_invoice BEFORE UPDATE OF
    order_id, flow, crypto_code, requested_crypto, requested_usd, requested_local, local_currency, invoice_id, address,
    qr_string, page_url ON attempts
FOR EACH ROW WHEN (OLD.state <> 'creating')
EXECUTE FUNCTION refuse('an invoice never changes');
CREATE TRIGGER observations_stay BEFORE UPDATE OF id, attempt_id, poll_seq, observed_at, raw, assessment, facts ON observations
FOR EACH ROW EXECUTE FUNCTION refuse('observations never change');
CREATE TRIGGER observations_are_counted BEFORE UPDATE OF last_poll_seq, last_at, times ON observations
FOR EACH ROW WHEN (NEW.times <> OLD.times + 1 OR NEW.last_poll_seq <= OLD.last_poll_seq)
EXECUTE FUNCTION refuse('a repeated observation is counted');
CREATE TRIGGER observations_are_kept BEFORE DELETE ON observations
FOR EACH ROW EXECUTE FUNCTION refuse('observations are never deleted');
CREATE TRIGGER credits_stay BEFORE UPDATE ON credits
FOR EACH ROW EXECUTE FUNCTION refuse('credits never change');
CREATE TRIGGER credits_are_kept BEFORE DELETE ON credits
FOR EACH ROW EXECUTE FUNCTION refuse('credits are never deleted');
-- Their place in the list may be numbered anew: a restored database counts its transactions from the start.
CREATE TRIGGER events_stay BEFORE UPDATE OF
    order_id, sequence, id, store_id, type, created_at, payload ON events
FOR EACH ROW EXECUTE FUNCTION refuse('events never change');
CREATE TRIGGER events_are_kept BEFORE DELETE ON events
FOR EACH ROW EXECUTE FUNCTION refuse('events are never deleted');
CREATE TRIGGER orders_are_not_emptied BEFORE TRUNCATE ON orders
FOR EACH STATEMENT EXECUTE FUNCTION refuse('orders are never deleted');
CREATE TRIGGER observations_are_not_emptied BEFORE TRUNCATE ON observations
FOR EACH STATEMENT EXECUTE FUNCTION refuse('observations are never deleted');
CREATE TRIGGER credits_are_not_emptied BEFORE TRUNCATE ON credits
FOR EACH STATEMENT EXECUTE FUNCTION refuse('credits are never deleted');
CREATE TRIGGER events_are_not_emptied BEFORE TRUNCATE ON events
FOR EACH STATEMENT EXECUTE FUNCTION refuse('events are never deleted');

CREATE FUNCTION refuse_paid_without_credit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM credits WHERE order_id = NEW.id) THEN
        RAISE EXCEPTION 'an order is paid only with its credit';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER paid_has_a_credit BEFORE UPDATE OF status ON orders
FOR EACH ROW WHEN (NEW.status IN ('paid', 'overpaid'))
EXECUTE FUNCTION refuse_paid_without_credit();

-- A transaction that took its number before it locked the order could commit a later event with a lower number, and
-- readers would see the order's events in the wrong order. Such a transaction is repeated, with a new number.
CREATE FUNCTION refuse_event_out_of_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM events WHERE order_id = NEW.order_id AND tx > NEW.tx) THEN
        RAISE EXCEPTION 'a later transaction has written an event of this order' USING ERRCODE = 'serialization_failure';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER events_follow_their_order BEFORE INSERT ON events
FOR EACH ROW EXECUTE FUNCTION refuse_event_out_of_order();
