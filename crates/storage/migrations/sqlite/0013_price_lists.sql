-- GET /prices of the gateway, as JSON: a quote that was shown before a restart is honoured after it.
CREATE TABLE price_lists (
    id         INTEGER PRIMARY KEY,
    fetched_at INTEGER NOT NULL,
    body       TEXT NOT NULL
) STRICT;
CREATE INDEX price_lists_by_time ON price_lists (fetched_at);
