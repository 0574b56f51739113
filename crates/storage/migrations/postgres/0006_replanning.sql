-- What a clock that was ahead has written is found by its time, at each start: by no scan of a long history.
CREATE INDEX polls_by_opening ON polls (opened_at);
CREATE INDEX polls_by_poll ON polls (coalesce(polled_at, opened_at)) WHERE next_poll_at IS NOT NULL;
CREATE INDEX events_by_time ON events (created_at);
CREATE INDEX deliveries_by_time ON deliveries (tried_at);
