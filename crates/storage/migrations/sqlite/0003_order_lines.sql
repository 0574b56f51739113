-- What an order is made of, for show: a JSON array of {title, quantity, unit_amount, amount, image_url}.
ALTER TABLE orders ADD COLUMN lines TEXT NOT NULL DEFAULT '[]';
CREATE TRIGGER orders_keep_their_lines BEFORE UPDATE OF lines ON orders
BEGIN SELECT RAISE(ABORT, 'the lines of an order never change'); END;
