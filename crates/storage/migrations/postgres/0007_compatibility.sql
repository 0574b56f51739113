-- Which programs may use this schema, and which files were copied into it.
--
-- min_schema: the lowest schema that a program has to know. A migration that only adds (expand) leaves it: programs of the
-- version before run on. One that removes or renames (contract) sets it to the first schema whose program does without
-- what is removed.
CREATE TABLE schema_compatibility (
    id         smallint PRIMARY KEY CHECK (id = 1),
    min_schema bigint NOT NULL
);
INSERT INTO schema_compatibility (id, min_schema) VALUES (1, 7);

-- Files that `florin-proxy store copy` has copied: id is the SHA-256 of all that was copied. A row is committed with the
-- copy, before the file is marked.
CREATE TABLE file_copies (
    id        text PRIMARY KEY,
    copied_at timestamptz NOT NULL DEFAULT now()
);
