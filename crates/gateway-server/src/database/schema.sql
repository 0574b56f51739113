-- The gateway's state, for SQLite and PostgreSQL alike. Times are in milliseconds since 1970, amounts decimal texts.

CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value BIGINT NOT NULL
);

CREATE TABLE facts (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- One for each chain: the next index of the merchant's key, and what the last look saw.
CREATE TABLE chains (
    name TEXT PRIMARY KEY,
    -- Names the merchant's key: another key has other addresses.
    key_id TEXT NOT NULL,
    next_index BIGINT NOT NULL,
    cursor TEXT NOT NULL,
    looks BIGINT NOT NULL,
    tip_height BIGINT NOT NULL,
    tip_hash TEXT NOT NULL,
    tip_time BIGINT NOT NULL,
    -- Invoices with an earlier deadline are not watched any more, for good.
    watched_since BIGINT NOT NULL,
    -- No reorganisation may change blocks up to this height.
    final_height BIGINT NOT NULL
);

CREATE TABLE invoices (
    id TEXT PRIMARY KEY,
    number BIGINT NOT NULL UNIQUE,
    chain TEXT NOT NULL REFERENCES chains (name),
    address_index BIGINT NOT NULL,
    code TEXT NOT NULL,
    status TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (chain, address_index)
);
CREATE INDEX invoices_open ON invoices (chain, status, expires_at);

-- What reached an address of ours, for an invoice or not.
CREATE TABLE transfers (
    chain TEXT NOT NULL,
    id TEXT NOT NULL,
    number BIGINT NOT NULL,
    address_index BIGINT NOT NULL,
    address TEXT NOT NULL,
    code TEXT NOT NULL,
    amount TEXT NOT NULL,
    transaction_hash TEXT NOT NULL,
    -- NULL in the mempool.
    block BIGINT,
    low_fee BIGINT NOT NULL,
    -- 1: the chain no longer has it.
    gone BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (chain, id)
);
CREATE INDEX transfers_address ON transfers (chain, address_index);
CREATE INDEX transfers_block ON transfers (chain, gone, block);

-- Hosted checkouts.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    number BIGINT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX sessions_open ON sessions (status, expires_at);

-- Settlement wallets, merchants and profiles.
CREATE TABLE records (
    merchant TEXT NOT NULL,
    code TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (merchant, code)
);

-- Callbacks that no receiver has accepted yet.
CREATE TABLE callbacks (
    number BIGINT PRIMARY KEY,
    invoice_id TEXT NOT NULL,
    status TEXT NOT NULL,
    url TEXT,
    tries BIGINT NOT NULL,
    -- A process delivers it until then; afterwards another one may.
    claimed_until BIGINT NOT NULL
);
