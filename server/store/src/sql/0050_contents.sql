-- Contents are sealed under keys that follow from their nodes: none is stored, and none is handed out by a
-- link. A revision's list of chunks says of each which node it was stored for.
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
