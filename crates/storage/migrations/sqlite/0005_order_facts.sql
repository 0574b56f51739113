-- What follows from all attempts of an order is decided in code and stored with the order: whether a payment was detected
-- on any attempt, whether a late payment paid it or came on top, and when the latest late payment was reported.
DROP VIEW orders_with_money;
ALTER TABLE orders ADD COLUMN has_money INTEGER NOT NULL DEFAULT 0 CHECK (has_money IN (0, 1));
ALTER TABLE orders ADD COLUMN late_payment TEXT;
ALTER TABLE orders ADD COLUMN late_event_at INTEGER;
UPDATE orders SET
    has_money = status = 'underpaid' OR EXISTS (
        SELECT 1 FROM attempts WHERE order_id = orders.id AND state = 'open'
            AND (standing IN ('seen', 'confirming', 'short', 'settled')
                OR standing <> 'failed' AND received_crypto GLOB '*[1-9]*')),
    late_payment = CASE WHEN settled_at IS NULL THEN NULL
        WHEN EXISTS (SELECT 1 FROM events WHERE order_id = orders.id AND type LIKE '%.late_payment' AND sequence >
            (SELECT min(sequence) FROM events WHERE order_id = orders.id AND type LIKE '%.paid')) THEN 'second'
        WHEN EXISTS (SELECT 1 FROM attempts JOIN events USING (order_id) WHERE attempts.id = current_attempt
            AND told_late IS NOT NULL AND type LIKE '%.late_payment' AND events.created_at >= attempts.expires_at)
            THEN 'counted' END,
    late_event_at = (SELECT max(created_at) FROM events WHERE order_id = orders.id AND type LIKE '%.late_payment');
