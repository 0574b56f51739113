-- The database of several proxies. Amounts are decimal text, as agreed with the customer: cast them to numeric in reports.
-- Times that decide about orders come from the proxies; leased_until and begun_clock are this server's clock.
-- The tables and columns of sqlite/0001_schema.sql have the same names.
--
-- order:         open → awaiting_payment → checking → processing → paid | overpaid | underpaid
--                                        ↘ expired | failed | cancelled | blocked   (late money leads back to checking …)
-- attempt:       creating → open | refused | outcome_unknown | blocked
-- payment_state: what the latest observation said of an open attempt
-- outbox:        pending → delivered | given_up | no_webhook   (redelivery: back to pending)
--                unwanted: the webhook asked for other events (redelivery: pending)
--
-- Every transaction that writes an order, its attempts or its outbox locks the order's row first.

CREATE TABLE identity (
    id          smallint PRIMARY KEY CHECK (id = 1),
    environment text NOT NULL CHECK (environment IN ('test', 'production'))
);

-- Which programs may use this schema. min_schema: the lowest schema that a program has to know. A migration that only adds
-- (expand) leaves it: programs of the version before run on. One that removes or renames (contract) sets it to the first
-- schema whose program does without what is removed.
CREATE TABLE schema_compatibility (
    id         smallint PRIMARY KEY CHECK (id = 1),
    min_schema bigint NOT NULL
);
INSERT INTO schema_compatibility (id, min_schema) VALUES (1, 1);

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
    -- Where the customer goes from an order that is not paid; NULL for where customers go afterwards.
    cancel_url      text,
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
    -- The asset of the payment that came late last, and where the customer wants money back.
    late_crypto_code text,
    refund_address  text,
    -- How an operator ended the order: 'accepted' credited it, 'closed' keeps every payment from crediting it.
    decision        text CHECK (decision IN ('accepted', 'closed')),
    decided_at      timestamptz,
    -- Since when the order waits for a person; NULL while it does not, and after a decision until news.
    attention_since timestamptz,
    -- When the store's latest refund was recorded; NULL before the first.
    refunded_at     timestamptz,
    -- The trace that the store's request, or the proxy, opened the order in (W3C Trace Context).
    traceparent     text CHECK (length(traceparent) = 55),
    UNIQUE (store_id, reference)
) WITH (fillfactor = 85);
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
    hash       bytea PRIMARY KEY CHECK (length(hash) = 32),
    order_id   text NOT NULL REFERENCES orders (id),
    expires_at timestamptz NOT NULL
);
CREATE INDEX client_tokens_by_expiry ON client_tokens (expires_at);

-- Requests with an Idempotency-Key. Without a status one is in progress: kept_until names its claim, and leased_until ends it.
CREATE TABLE requests (
    id           bytea PRIMARY KEY CHECK (length(id) = 32),
    fingerprint  bytea NOT NULL CHECK (length(fingerprint) = 32),
    kept_until   timestamptz NOT NULL,
    leased_until timestamptz NOT NULL,
    status       integer,
    body         text
);
CREATE INDEX requests_by_expiry ON requests (kept_until);

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
    -- The transaction that the customer's wallet named when it had sent the payment: a hint, never a proof.
    transaction_hint       text CHECK (length(transaction_hint) IN (64, 66)),
    paid_in                text,
    was_detected           boolean NOT NULL DEFAULT false,
    -- How much of it the store was told of as a late payment.
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
-- Payments that may have credited nothing. The condition is that of the statement that lists them.
CREATE INDEX attempts_uncredited ON attempts (state_since, id)
    WHERE payment_state IN ('underpaid', 'cancelled') OR late_amount_notified IS NOT NULL;
CREATE INDEX attempts_by_address ON attempts (lower(address)) WHERE address IS NOT NULL;
CREATE INDEX attempts_by_transaction ON attempts (lower(transaction_hash)) WHERE transaction_hash IS NOT NULL;
ALTER TABLE orders ADD FOREIGN KEY (current_attempt) REFERENCES attempts (id) DEFERRABLE;

-- The schedule of an open attempt, apart from it: a narrow row that changes with every poll.
CREATE TABLE polls (
    attempt_id    text PRIMARY KEY REFERENCES attempts (id),
    order_id      text NOT NULL REFERENCES orders (id),
    invoice_id    text NOT NULL UNIQUE,
    payment_state text NOT NULL DEFAULT 'waiting',
    priority      text NOT NULL DEFAULT 'unwatched' CHECK (priority IN ('unwatched', 'watched', 'callback')),
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
-- What a clock that was ahead has written is found by its time, at each start: by no scan of a long history.
CREATE INDEX polls_by_opening ON polls (opened_at);
CREATE INDEX polls_by_poll ON polls (coalesce(polled_at, opened_at)) WHERE next_poll_at IS NOT NULL;

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
    -- Of the members that are assessed.
    digest        bytea NOT NULL,
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
CREATE INDEX credits_by_time ON credits (credited_at, order_id);

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
    order_id      text NOT NULL,
    sequence      bigint NOT NULL,
    -- A webhook of the store; `default` of one without any.
    webhook       text NOT NULL,
    position      bigint NOT NULL,
    store_id      text NOT NULL,
    state         text NOT NULL DEFAULT 'pending',
    tries         bigint NOT NULL DEFAULT 0,
    next_at       timestamptz NOT NULL,
    -- When next_at was planned: what a clock that was ahead has planned is found by it, whatever its event's time is.
    planned_at    timestamptz NOT NULL,
    -- The next try by the schedule, after a failed one; NULL before the first failure. A try before it is early.
    retry_at      timestamptz,
    -- Set while a failed event waits: an acceptance by the endpoint after this time makes the event due.
    early_from    timestamptz,
    -- How often an acceptance has made it due.
    early_tries   bigint NOT NULL DEFAULT 0,
    -- Events of orders with money (0) are delivered before all others (1).
    priority      smallint NOT NULL DEFAULT 1 CHECK (priority IN (0, 1)),
    -- Delivered before a redelivery was requested: no later event waits for it.
    was_delivered boolean NOT NULL DEFAULT false,
    -- No earlier pending event of the same order waits for the webhook's first acceptance. Only a head is delivered.
    is_head       boolean NOT NULL,
    leased_by     text,
    leased_until  timestamptz,
    PRIMARY KEY (order_id, sequence, webhook),
    FOREIGN KEY (order_id, sequence) REFERENCES events (order_id, sequence)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX outbox_heads ON outbox (store_id, webhook, priority, next_at, position) WHERE is_head;
CREATE INDEX outbox_waiting ON outbox (store_id, webhook, priority, early_from) WHERE is_head AND early_from IS NOT NULL;
CREATE INDEX outbox_pending ON outbox (store_id, webhook, position) WHERE state = 'pending';
CREATE INDEX outbox_by_plan ON outbox (planned_at) WHERE state = 'pending';
CREATE INDEX outbox_leased ON outbox (store_id, webhook, leased_until) WHERE leased_until IS NOT NULL;
CREATE INDEX outbox_given_up ON outbox (position) WHERE state = 'given_up';
CREATE INDEX outbox_given_up_by_store ON outbox (store_id, position) WHERE state = 'given_up';

-- The webhooks of the stores: rows to lock, while their deliveries in progress are counted.
CREATE TABLE webhooks (
    store_id      text NOT NULL,
    webhook       text NOT NULL,
    -- Events that happen are for it.
    is_configured boolean NOT NULL DEFAULT false,
    -- The types that it asks for, each between blanks; NULL for all.
    events        text,
    -- When it last accepted an event while others waited.
    accepted_at   timestamptz,
    -- Before it, no waiting event with money is tried early.
    probe_at      timestamptz,
    PRIMARY KEY (store_id, webhook)
);

CREATE TABLE deliveries (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id    text NOT NULL REFERENCES events (id),
    store_id    text NOT NULL,
    webhook     text NOT NULL,
    number      bigint NOT NULL,
    tried_at    timestamptz NOT NULL,
    took_ms     bigint NOT NULL,
    http_status integer,
    note        text NOT NULL,
    UNIQUE (event_id, number)
);
CREATE INDEX deliveries_by_store ON deliveries (store_id, id DESC);

-- Disabled webhooks: nothing is sent to one until it is enabled again.
CREATE TABLE disabled_endpoints (
    store_id text NOT NULL,
    webhook  text NOT NULL,
    endpoint bytea NOT NULL CHECK (length(endpoint) = 32),
    event_id text NOT NULL REFERENCES events (id),
    since    timestamptz NOT NULL,
    PRIMARY KEY (store_id, webhook)
);

-- Who did what, when and why. Nothing of it changes.
CREATE TABLE audit (
    position      bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    id            text NOT NULL UNIQUE,
    at            timestamptz NOT NULL,
    operator      text NOT NULL,
    -- The store whose staff did it; NULL for an operator.
    staff_of      text,
    action        text NOT NULL,
    order_id      text REFERENCES orders (id),
    -- The event, the store or the refunded amount, where the action has one.
    subject       text,
    reason        text NOT NULL,
    status_before text,
    status_after  text
);
CREATE INDEX audit_by_order ON audit (order_id, position) WHERE order_id IS NOT NULL;

-- What a store has sent back. id is that of its entry in the audit log, which names who recorded it.
CREATE TABLE refunds (
    id               text PRIMARY KEY REFERENCES audit (id),
    order_id         text NOT NULL REFERENCES orders (id),
    crypto_code      text NOT NULL,
    amount_in_crypto text NOT NULL,
    -- What of the price it takes back, in the order's currency.
    amount           text NOT NULL,
    transaction_hash text,
    refunded_at      timestamptz NOT NULL
);
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
    hash            bytea PRIMARY KEY CHECK (length(hash) = 32),
    state           text NOT NULL CHECK (state IN ('link', 'session')),
    store_id        text NOT NULL,
    secret_key      bytea NOT NULL CHECK (length(secret_key) = 32),
    person          text NOT NULL,
    may_decide      boolean NOT NULL,
    session_seconds bigint NOT NULL CHECK (session_seconds > 0),
    expires_at      timestamptz NOT NULL
);
CREATE INDEX staff_access_by_expiry ON staff_access (expires_at);
CREATE INDEX staff_access_by_store ON staff_access (store_id, expires_at DESC);

-- GET /prices of the gateway, as JSON: every proxy honours what one of them has quoted.
CREATE TABLE price_lists (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fetched_at timestamptz NOT NULL,
    body       text NOT NULL
);
CREATE INDEX price_lists_by_time ON price_lists (fetched_at);

-- Files of the checkout, named by their content: a proxy of another version serves a page that was loaded here.
CREATE TABLE static_files (
    name    text PRIMARY KEY,
    used_at timestamptz NOT NULL,
    whole   bytea NOT NULL,
    brotli  bytea
);

-- The row that the check of writing replaces.
CREATE TABLE write_checks (
    id         smallint PRIMARY KEY CHECK (id = 1),
    written_at timestamptz NOT NULL
);

-- Files that `florin-proxy store copy` has copied: id is the SHA-256 of all that was copied. A row is committed with the
-- copy, before the file is marked.
CREATE TABLE file_copies (
    id        text PRIMARY KEY,
    copied_at timestamptz NOT NULL DEFAULT now()
);

-- What all proxies and `florin-proxy gateway` may send to the gateway: one row for an account. `state` is JSON that the
-- gateway's client reads and writes: rate and budget, the end of a Retry-After pause, the circuit and its probe, retries,
-- the last nonce. Its times are this server's clock.
--
-- Each change locks the row, for a few round trips. The row changes often: room for its versions, and early vacuuming.
CREATE TABLE gateway_accounts (
    account    text PRIMARY KEY,
    state      jsonb,
    version    bigint NOT NULL DEFAULT 0,
    -- The process that made this version.
    changed_by text,
    changed_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 10, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0);

-- The unlogged tables are empty after a crash of the server, which costs nothing.

-- Until when a key of a rate limit, such as a client address, has used its minute. key is a SHA-256.
CREATE UNLOGGED TABLE rate_limits (
    key        bytea PRIMARY KEY CHECK (length(key) = 32),
    used_until timestamptz NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX rate_limits_by_expiry ON rate_limits (used_until);

-- Proxies that find payments later than planned, until they report it again.
CREATE UNLOGGED TABLE delays (
    holder text PRIMARY KEY,
    until  timestamptz NOT NULL
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
CREATE TRIGGER observations_stay BEFORE UPDATE OF id, attempt_id, poll_seq, observed_at, raw, assessment, digest ON observations
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
CREATE TRIGGER refunds_stay BEFORE UPDATE ON refunds
FOR EACH ROW EXECUTE FUNCTION refuse('refunds never change');
CREATE TRIGGER refunds_are_kept BEFORE DELETE ON refunds
FOR EACH ROW EXECUTE FUNCTION refuse('refunds are never deleted');
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
CREATE TRIGGER refunds_are_not_emptied BEFORE TRUNCATE ON refunds
FOR EACH STATEMENT EXECUTE FUNCTION refuse('refunds are never deleted');
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

CREATE TRIGGER audit_stays BEFORE UPDATE ON audit
FOR EACH ROW EXECUTE FUNCTION refuse('entries of the audit log never change');
CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit
FOR EACH ROW EXECUTE FUNCTION refuse('entries of the audit log are never deleted');
CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION refuse('entries of the audit log are never deleted');
CREATE TRIGGER accepted_stays_accepted BEFORE UPDATE OF decision ON orders
FOR EACH ROW WHEN (OLD.decision = 'accepted' AND NEW.decision IS DISTINCT FROM 'accepted')
EXECUTE FUNCTION refuse('an acceptance is not taken back');
CREATE FUNCTION refuse_unaudited_decision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM audit WHERE order_id = NEW.id AND at = NEW.decided_at) THEN
        RAISE EXCEPTION 'a decision needs its entry in the audit log';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER decisions_are_audited BEFORE UPDATE OF decision, decided_at ON orders
FOR EACH ROW WHEN (NEW.decision IS NOT NULL
    AND (NEW.decision IS DISTINCT FROM OLD.decision OR NEW.decided_at IS DISTINCT FROM OLD.decided_at))
EXECUTE FUNCTION refuse_unaudited_decision();
