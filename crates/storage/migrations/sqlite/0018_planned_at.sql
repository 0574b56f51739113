-- When a delivery was planned: what a clock that was ahead has planned, or leased, is found by it, whatever its event's time is.
ALTER TABLE outbox ADD COLUMN planned_at INTEGER NOT NULL DEFAULT 0;
UPDATE outbox SET planned_at = max(
    (SELECT created_at FROM events WHERE events.position = outbox.position),
    coalesce((SELECT max(tried_at + took_ms) FROM deliveries JOIN events ON events.id = event_id
        WHERE events.position = outbox.position), 0))
    WHERE state = 'pending';
CREATE INDEX outbox_by_plan ON outbox (planned_at) WHERE state = 'pending';
DROP INDEX events_by_time;
DROP INDEX deliveries_by_time;
