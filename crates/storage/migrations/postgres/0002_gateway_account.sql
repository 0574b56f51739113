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
