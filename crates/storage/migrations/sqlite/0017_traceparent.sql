-- The trace that the store's request, or the proxy, opened the order in (W3C Trace Context); NULL without one.
ALTER TABLE orders ADD COLUMN traceparent TEXT CHECK (length(traceparent) = 55);
