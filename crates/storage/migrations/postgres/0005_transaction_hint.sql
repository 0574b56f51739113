-- The transaction that the customer's wallet named when it had sent the payment: a hint, never a proof.
ALTER TABLE attempts ADD COLUMN transaction_hint text CHECK (length(transaction_hint) IN (64, 66));
