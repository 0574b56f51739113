-- What several proxies share beside orders. The unlogged tables are empty after a crash of the server, which costs nothing.

-- GET /prices of the gateway, as JSON: every proxy honours what one of them has quoted.
CREATE TABLE price_lists (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fetched_at timestamptz NOT NULL,
    body       text NOT NULL
);
CREATE INDEX price_lists_by_time ON price_lists (fetched_at);

-- Until when a key of a rate limit, such as a client address, has used its minute. key is a SHA-256.
CREATE UNLOGGED TABLE rate_limits (
    key        bytea PRIMARY KEY CHECK (octet_length(key) = 32),
    used_until timestamptz NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX rate_limits_over ON rate_limits (used_until);

-- Proxies that find payments later than planned, until they report it again.
CREATE UNLOGGED TABLE delays (
    holder text PRIMARY KEY,
    until  timestamptz NOT NULL
);

-- Files of the checkout, named by their content: a proxy of another version serves a page that was loaded here.
CREATE TABLE assets (
    name    text PRIMARY KEY,
    whole   bytea NOT NULL,
    brotli  bytea,
    used_at timestamptz NOT NULL
);
