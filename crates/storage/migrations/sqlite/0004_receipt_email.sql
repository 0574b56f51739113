-- Where the customer wants the receipt; the payment service is told with POST /confirm, and nobody else.
ALTER TABLE orders ADD COLUMN receipt_email TEXT;
