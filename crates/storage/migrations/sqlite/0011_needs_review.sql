-- Whether the latest response about an attempt needs review by a person: counted without reading observations.
ALTER TABLE attempts ADD COLUMN needs_review INTEGER NOT NULL DEFAULT 0 CHECK (needs_review IN (0, 1));
UPDATE attempts SET needs_review = 1 WHERE next_poll_at IS NOT NULL AND (
    SELECT verdict GLOB 'needs_review:*' OR verdict GLOB 'held:*' OR verdict GLOB 'frozen:*' FROM observations
    WHERE attempt_id = attempts.id ORDER BY look DESC LIMIT 1);
-- Those that are still polled: the others are over.
CREATE INDEX attempts_needing_review ON attempts (needs_review) WHERE needs_review = 1 AND next_poll_at IS NOT NULL;
