-- Whether any look at an attempt saw a payment. The latest look does not say it: a payment may vanish before its invoice
-- fails. Attempts from before are judged by their observations.
ALTER TABLE attempts ADD COLUMN was_seen INTEGER NOT NULL DEFAULT 0 CHECK (was_seen IN (0, 1));
UPDATE attempts SET was_seen = EXISTS (
    SELECT 1 FROM observations WHERE attempt_id = attempts.id
        AND verdict IN ('seen', 'confirming', 'settled', 'short'))
    OR transaction_hash IS NOT NULL OR received_crypto GLOB '*[1-9]*';
