-- Files of the checkout, named by their content: after an upgrade or a roll-back, a page that was loaded before asks for them.
-- used_at stands before the contents, so that it is read without them.
CREATE TABLE assets (
    name    TEXT PRIMARY KEY NOT NULL,
    used_at INTEGER NOT NULL,
    whole   BLOB NOT NULL,
    brotli  BLOB
) STRICT;
