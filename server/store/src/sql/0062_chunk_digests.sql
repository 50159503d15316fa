-- The first 16 bytes of the BLAKE3 of a chunk as it is stored, to find out whether it still is. NULL for chunks from
-- before, until they are read for the first time.
ALTER TABLE chunks ADD COLUMN digest BLOB;

-- Chunks that were found missing, cut short or with other bytes than were stored.
CREATE TABLE damaged_chunks (
    node     BLOB NOT NULL,
    id       BLOB NOT NULL,
    found_at INTEGER NOT NULL,
    PRIMARY KEY (node, id)
) WITHOUT ROWID, STRICT;

CREATE TRIGGER chunks_forgotten AFTER DELETE ON chunks BEGIN
    DELETE FROM damaged_chunks WHERE node = OLD.node AND id = OLD.id;
END;

-- The object from which the check of all that is stored goes on, and when it last did, in ms since 1970; one row at most.
CREATE TABLE scrub (
    row     INTEGER PRIMARY KEY,
    next    INTEGER NOT NULL,
    done_at INTEGER NOT NULL
) STRICT;
