-- A result is stored without a client token: each replay issues a fresh one. Responses of the earlier format, which had
-- the hash of a token in its place, cannot be replayed. The requests that they belong to open orders. Sent again, such a
-- request is executed again and finds its order by the reference, which is derived from the key or named by the store.
DELETE FROM requests WHERE token_hash IS NOT NULL;
ALTER TABLE requests DROP COLUMN order_id;
ALTER TABLE requests DROP COLUMN token_hash;
