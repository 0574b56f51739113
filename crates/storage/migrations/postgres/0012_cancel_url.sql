-- Where the customer goes from an order that is not paid; NULL for where customers go afterwards.
ALTER TABLE orders ADD COLUMN cancel_url text;
