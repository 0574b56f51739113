-- When a delivery was planned: what a clock that was ahead has planned, or leased, is found by it, whatever its event's time is.
-- Version 9 finds it by the times of events and deliveries, so that their indices stay until the next version.
ALTER TABLE outbox ADD COLUMN planned_at timestamptz NOT NULL DEFAULT now();
UPDATE outbox SET planned_at = greatest(
    (SELECT created_at FROM events WHERE (events.order_id, events.sequence) = (outbox.order_id, outbox.sequence)),
    (SELECT max(tried_at + took_ms * interval '1 ms') FROM deliveries JOIN events ON events.id = event_id
        WHERE (events.order_id, events.sequence) = (outbox.order_id, outbox.sequence)))
    WHERE state = 'pending';
CREATE INDEX outbox_by_plan ON outbox (planned_at) WHERE state = 'pending';
