-- Where `florin-proxy store copy` has copied the database to: this file is not opened again.
ALTER TABLE identity ADD COLUMN moved_to TEXT;
