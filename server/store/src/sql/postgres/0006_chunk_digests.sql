-- The first 16 bytes of the BLAKE3 of a chunk as it is stored, to find out whether it still is. NULL for chunks from
-- before, until they are read for the first time.
ALTER TABLE chunks ADD COLUMN digest bytea;

-- Chunks that were found missing, cut short or with other bytes than were stored.
CREATE TABLE damaged_chunks (
    node     bytea NOT NULL,
    id       bytea NOT NULL,
    found_at bigint NOT NULL,
    PRIMARY KEY (node, id)
);

CREATE FUNCTION chunks_forgotten() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM damaged_chunks WHERE node = OLD.node AND id = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER chunks_forgotten AFTER DELETE ON chunks FOR EACH ROW EXECUTE FUNCTION chunks_forgotten();

-- The object from which the check of all that is stored goes on, and when it last did, in ms since 1970; one row at most.
CREATE TABLE scrub (
    row     bigint PRIMARY KEY,
    next    bigint NOT NULL,
    done_at bigint NOT NULL
);
