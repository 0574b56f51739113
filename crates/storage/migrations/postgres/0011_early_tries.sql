-- Tries ahead of the schedule, which show that an endpoint is back.
--
-- retry_at: the next try by the schedule, after a failed one; NULL before the first failure. A try before it is early.
-- early_from: set while a failed event waits: an acceptance by the endpoint after this time makes the event due.
-- wakes: how often an acceptance has made it due.
ALTER TABLE outbox ADD COLUMN retry_at timestamptz;
ALTER TABLE outbox ADD COLUMN early_from timestamptz;
ALTER TABLE outbox ADD COLUMN wakes bigint NOT NULL DEFAULT 0;
UPDATE outbox SET retry_at = next_at, early_from = planned_at WHERE state = 'pending' AND tries > 0;
CREATE INDEX outbox_waiting ON outbox (store_id, priority, early_from) WHERE is_head AND early_from IS NOT NULL;

-- accepted_at: when the store's endpoint last accepted an event while others waited.
-- probe_at: before it, no waiting event with money is tried early.
ALTER TABLE store_deliveries ADD COLUMN accepted_at timestamptz;
ALTER TABLE store_deliveries ADD COLUMN probe_at timestamptz;
