-- Contents are sealed under keys that follow from their nodes: none is stored, and none is handed out by a
-- link. `revisions.chunks` says of each chunk which node it was stored for: id, size, and the id of that
-- node, 56 bytes together.
DROP TABLE link_keys;
DROP TRIGGER revisions_stored;
DROP TRIGGER revisions_deleted;
ALTER TABLE revisions DROP COLUMN content_key;
CREATE TRIGGER revisions_stored AFTER INSERT ON revisions BEGIN
    UPDATE spaces SET storage_used = storage_used + length(NEW.manifest) WHERE row = NEW.space;
END;
CREATE TRIGGER revisions_deleted AFTER DELETE ON revisions BEGIN
    UPDATE spaces SET storage_used = storage_used - length(OLD.manifest) WHERE row = OLD.space;
END;

-- The other nodes whose chunks a node's revisions use: originals of copies.
CREATE TABLE borrowed (
    node   BLOB NOT NULL,
    holder BLOB NOT NULL,
    PRIMARY KEY (node, holder)
) WITHOUT ROWID, STRICT;

-- Accounts that have sent the same bytes for a chunk as the one that stored it, before a revision had it.
CREATE TABLE compared_chunks (
    node    BLOB NOT NULL,
    chunk   BLOB NOT NULL,
    account BLOB NOT NULL,
    PRIMARY KEY (node, chunk, account)
) WITHOUT ROWID, STRICT;
CREATE TRIGGER chunks_compared AFTER DELETE ON chunks BEGIN
    DELETE FROM compared_chunks WHERE node = OLD.node AND chunk = OLD.id;
END;
