-- What a clock that was ahead has written is found by its time, at each start: by no scan of a long history.
CREATE INDEX attempts_by_opening ON attempts (opened_at) WHERE state = 'open';
CREATE INDEX attempts_by_poll ON attempts (coalesce(looked_at, opened_at)) WHERE next_poll_at IS NOT NULL;
CREATE INDEX events_by_time ON events (created_at);
CREATE INDEX deliveries_by_time ON deliveries (tried_at);
