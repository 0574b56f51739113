-- What an order leaves behind is bounded, and no list reads more rows than it returns.

-- The row that the check of writing replaces.
CREATE TABLE write_checks (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    written_at INTEGER NOT NULL
) STRICT;

-- An observation is a row when it differs from the one before: look and observed_at are those of its first response,
-- last_look and last_at of its latest, times counts them. facts is a digest of the members that are understood; rows of
-- earlier versions have none.
DROP TRIGGER observations_stay;
DROP TRIGGER observations_are_kept;
ALTER TABLE observations ADD COLUMN facts BLOB;
ALTER TABLE observations ADD COLUMN last_look INTEGER NOT NULL DEFAULT 0;
ALTER TABLE observations ADD COLUMN last_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE observations ADD COLUMN times INTEGER NOT NULL DEFAULT 1;

-- Rows that repeat the one before become its count. The observation of a credit stays a row.
CREATE TABLE repetitions (id INTEGER PRIMARY KEY, of_id INTEGER NOT NULL);
INSERT INTO repetitions (id, of_id)
SELECT id, max(first) OVER (PARTITION BY attempt_id ORDER BY look) FROM (
    SELECT id, attempt_id, look, CASE
        WHEN raw IS NOT lag(raw) OVER previous OR verdict IS NOT lag(verdict) OVER previous
            OR id IN (SELECT observation_id FROM credits) THEN id END AS first
    FROM observations WINDOW previous AS (PARTITION BY attempt_id ORDER BY look));
UPDATE observations SET last_look = latest.look, last_at = latest.at, times = latest.times FROM (
    SELECT of_id, max(look) AS look, max(observed_at) AS at, count(*) AS times
    FROM repetitions JOIN observations USING (id) GROUP BY of_id) AS latest
WHERE id = latest.of_id;
-- The foreign key of a credit is looked up for each row that is deleted.
CREATE INDEX credits_by_observation ON credits (observation_id);
DELETE FROM observations WHERE id IN (SELECT id FROM repetitions WHERE id <> of_id);
DROP INDEX credits_by_observation;
DROP TABLE repetitions;
-- 1024 characters have 4096 bytes at most.
UPDATE observations SET raw = substr(raw, 1, 1024) WHERE length(CAST(raw AS BLOB)) > 4096;

CREATE TRIGGER observations_stay BEFORE UPDATE OF id, attempt_id, look, observed_at, raw, verdict, facts ON observations
BEGIN SELECT RAISE(ABORT, 'observations never change'); END;
CREATE TRIGGER observations_are_counted BEFORE UPDATE OF last_look, last_at, times ON observations
WHEN NEW.times <> OLD.times + 1 OR NEW.last_look <= OLD.last_look
BEGIN SELECT RAISE(ABORT, 'a repeated observation is counted'); END;
CREATE TRIGGER observations_are_kept BEFORE DELETE ON observations
BEGIN SELECT RAISE(ABORT, 'observations are never deleted'); END;

-- Leases of a process that ended are found without reading every attempt.
CREATE INDEX attempts_leased ON attempts (lease_until) WHERE lease_until > 0;

CREATE INDEX orders_by_status ON orders (store_id, status, created_at DESC, id DESC);

-- is_head: no earlier pending event of the same order waits for the store's first acceptance. Only a head is delivered.
ALTER TABLE outbox ADD COLUMN is_head INTEGER NOT NULL DEFAULT 0 CHECK (is_head IN (0, 1));
UPDATE outbox SET is_head = 1 WHERE state = 'pending' AND NOT EXISTS (
    SELECT 1 FROM outbox AS earlier WHERE earlier.order_id = outbox.order_id AND earlier.state = 'pending'
        AND NOT earlier.was_taken AND earlier.position < outbox.position);
DROP INDEX outbox_due;
DROP INDEX outbox_by_order;
CREATE INDEX outbox_heads ON outbox (store_id, next_at, position) WHERE is_head;
CREATE INDEX outbox_by_order ON outbox (order_id, position);
CREATE INDEX outbox_pending ON outbox (store_id, position) WHERE state = 'pending';

-- How many events wait, without counting them.
CREATE TABLE waiting_events (
    store_id TEXT PRIMARY KEY,
    events   INTEGER NOT NULL
) STRICT;
INSERT INTO waiting_events (store_id, events)
SELECT store_id, count(*) FROM outbox WHERE state = 'pending' GROUP BY store_id;
CREATE TRIGGER waiting_events_begin AFTER INSERT ON outbox WHEN NEW.state = 'pending'
BEGIN
    INSERT INTO waiting_events (store_id, events) VALUES (NEW.store_id, 1)
    ON CONFLICT (store_id) DO UPDATE SET events = events + 1;
END;
CREATE TRIGGER waiting_events_change AFTER UPDATE OF state ON outbox
WHEN (NEW.state = 'pending') <> (OLD.state = 'pending')
BEGIN
    UPDATE waiting_events SET events = events + iif(NEW.state = 'pending', 1, -1) WHERE store_id = NEW.store_id;
END;
