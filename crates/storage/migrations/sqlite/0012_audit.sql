-- What operators decide, who decided it, and which orders wait for a decision.
--
-- decision: an operator ended the order: 'accepted' credited it, 'closed' keeps every payment from crediting it.
-- attention_since: since when the order waits for a person; NULL while it does not, and after a decision until news.
ALTER TABLE orders ADD COLUMN decision TEXT CHECK (decision IN ('accepted', 'closed'));
ALTER TABLE orders ADD COLUMN decided_at INTEGER;
ALTER TABLE orders ADD COLUMN attention_since INTEGER;
-- Late payments that were counted are not news any more.
UPDATE orders SET attention_since = coalesce(reverted_at, late_event_at, settled_at, created_at)
WHERE status IN ('blocked', 'underpaid') OR reverted_at IS NOT NULL OR late_payment = 'second'
    OR (status IN ('failed', 'cancelled', 'expired') AND has_money)
    OR id IN (SELECT order_id FROM attempts WHERE needs_review = 1);
CREATE INDEX orders_waiting_for_a_person ON orders (attention_since, id) WHERE attention_since IS NOT NULL;

-- Who did what, when and why. Nothing of it changes.
CREATE TABLE audit (
    position      INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    at            INTEGER NOT NULL,
    operator      TEXT NOT NULL,
    action        TEXT NOT NULL,
    order_id      TEXT REFERENCES orders (id),
    -- The event or the store, where the action has one.
    subject       TEXT,
    reason        TEXT NOT NULL,
    status_before TEXT,
    status_after  TEXT
) STRICT;
CREATE INDEX audit_by_order ON audit (order_id, position) WHERE order_id IS NOT NULL;

CREATE TRIGGER audit_stays BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'entries of the audit log never change'); END;
CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'entries of the audit log are never deleted'); END;
CREATE TRIGGER accepted_stays_accepted BEFORE UPDATE OF decision ON orders
WHEN OLD.decision = 'accepted' AND NEW.decision IS NOT 'accepted'
BEGIN SELECT RAISE(ABORT, 'an acceptance is not taken back'); END;
CREATE TRIGGER decisions_are_audited BEFORE UPDATE OF decision, decided_at ON orders
WHEN NEW.decision IS NOT NULL AND (NEW.decision IS NOT OLD.decision OR NEW.decided_at IS NOT OLD.decided_at)
    AND NOT EXISTS (SELECT 1 FROM audit WHERE order_id = NEW.id AND at = NEW.decided_at)
BEGIN SELECT RAISE(ABORT, 'a decision needs its entry in the audit log'); END;

-- What people search for.
CREATE INDEX orders_by_time ON orders (created_at DESC, id DESC);
CREATE INDEX orders_by_status_and_time ON orders (status, created_at DESC, id DESC);
CREATE INDEX orders_by_reference ON orders (reference);
CREATE INDEX orders_by_amount ON orders (amount);
CREATE INDEX orders_by_customer_email ON orders (customer_email COLLATE NOCASE) WHERE customer_email IS NOT NULL;
CREATE INDEX orders_by_receipt_email ON orders (receipt_email COLLATE NOCASE) WHERE receipt_email IS NOT NULL;
CREATE INDEX attempts_by_address ON attempts (address COLLATE NOCASE) WHERE address IS NOT NULL;
CREATE INDEX attempts_by_transaction ON attempts (transaction_hash COLLATE NOCASE) WHERE transaction_hash IS NOT NULL;
CREATE INDEX credits_by_time ON credits (credited_at, order_id);
CREATE INDEX outbox_given_up ON outbox (position) WHERE state = 'given_up';
