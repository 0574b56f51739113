-- Events of orders with money are delivered before all others: priority 0. A flood of unpaid orders delays none of them.
ALTER TABLE outbox ADD COLUMN priority INTEGER NOT NULL DEFAULT 1 CHECK (priority IN (0, 1));
UPDATE outbox SET priority = 0 WHERE state = 'pending' AND order_id IN (
    SELECT order_id FROM events WHERE substr(type, instr(type, '.') + 1) IN (
        'payment_seen', 'processing', 'paid', 'overpaid', 'underpaid', 'failed', 'late_payment', 'reverted'));
DROP INDEX outbox_heads;
CREATE INDEX outbox_heads ON outbox (store_id, priority, next_at, position) WHERE is_head;

ALTER TABLE attempts RENAME COLUMN told_late TO late_amount_notified;
