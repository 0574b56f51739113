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

-- The store whose staff did it; NULL for an operator.
ALTER TABLE audit ADD COLUMN staff_of text;

-- What a store's staff lists.
CREATE INDEX store_orders_waiting_for_a_person ON orders (store_id, attention_since, id) WHERE attention_since IS NOT NULL;
CREATE INDEX outbox_given_up_by_store ON outbox (store_id, position) WHERE state = 'given_up';
