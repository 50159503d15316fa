-- Nodes and chains of control statements have names of their own: a class beside the id, 0 for nodes and else the
-- least kind of the chain's statements (docs/design/format-2.md).
ALTER TABLE log_items ADD COLUMN class INTEGER NOT NULL DEFAULT 0;
UPDATE log_items SET class = unicode(CAST(substr(body, 1, 1) AS TEXT))
    WHERE is_entry = 0 AND unicode(CAST(substr(body, 1, 1) AS TEXT)) >= 32;
UPDATE log_items SET class = 32 WHERE class IN (33, 34, 36);
DROP INDEX log_items_element;
CREATE INDEX log_items_element ON log_items (space, element, class, is_entry, position, part, is_end);

-- What names an object that a commit has named: a statement (position u64, part u32), or a manifest (its id) that the
-- object lies within. An object without any goes, and with a manifest what it alone names.
CREATE TABLE log_uses (
    space INTEGER NOT NULL,
    user  BLOB NOT NULL,
    id    BLOB NOT NULL,
    PRIMARY KEY (space, user, id)
) WITHOUT ROWID, STRICT;

-- Nodes that were deleted for good and whose statements still name objects, with the last position that was worked off.
CREATE TABLE log_ended (
    space   INTEGER NOT NULL,
    element BLOB NOT NULL,
    reached INTEGER NOT NULL DEFAULT -1,
    PRIMARY KEY (space, element)
) WITHOUT ROWID, STRICT;

ALTER TABLE log_objects ADD COLUMN uses INTEGER NOT NULL DEFAULT 0;
-- Named before uses were counted: stays as long as its space.
ALTER TABLE log_objects ADD COLUMN is_kept INTEGER NOT NULL DEFAULT 0;
-- Its bytes were found missing or changed: whoever has them may send them again.
ALTER TABLE log_objects ADD COLUMN is_damaged INTEGER NOT NULL DEFAULT 0;
UPDATE log_objects SET is_kept = 1 WHERE named_at IS NOT NULL;
CREATE INDEX log_objects_unused ON log_objects (space, id)
    WHERE named_at IS NOT NULL AND uses = 0 AND is_kept = 0;

CREATE TRIGGER log_uses_added AFTER INSERT ON log_uses BEGIN
    UPDATE log_objects SET uses = uses + 1
        WHERE space = NEW.space AND id = NEW.id AND named_at IS NOT NULL;
END;
CREATE TRIGGER log_uses_removed AFTER DELETE ON log_uses BEGIN
    UPDATE log_objects SET uses = uses - 1
        WHERE space = OLD.space AND id = OLD.id AND named_at IS NOT NULL;
END;

-- The log counts for the storage of its space: bodies and leaves, and for each row what its keys and indices take.
UPDATE spaces SET storage_used = storage_used
    + coalesce((SELECT sum(coalesce(length(body), 0) + 160) FROM log_items WHERE space = row), 0)
    + coalesce((SELECT sum(length(leaf) + 160) FROM log_leaves WHERE space = row), 0);
CREATE TRIGGER log_items_stored AFTER INSERT ON log_items BEGIN
    UPDATE spaces SET storage_used = storage_used + coalesce(length(NEW.body), 0) + 160 WHERE row = NEW.space;
END;
CREATE TRIGGER log_items_pruned AFTER UPDATE OF body ON log_items BEGIN
    UPDATE spaces SET storage_used = storage_used + coalesce(length(NEW.body), 0) - coalesce(length(OLD.body), 0)
        WHERE row = NEW.space;
END;
CREATE TRIGGER log_items_deleted AFTER DELETE ON log_items BEGIN
    UPDATE spaces SET storage_used = storage_used - coalesce(length(OLD.body), 0) - 160 WHERE row = OLD.space;
END;
CREATE TRIGGER log_leaves_stored AFTER INSERT ON log_leaves BEGIN
    UPDATE spaces SET storage_used = storage_used + length(NEW.leaf) + 160 WHERE row = NEW.space;
END;
CREATE TRIGGER log_leaves_deleted AFTER DELETE ON log_leaves BEGIN
    UPDATE spaces SET storage_used = storage_used - length(OLD.leaf) - 160 WHERE row = OLD.space;
END;
CREATE TRIGGER log_uses_stored AFTER INSERT ON log_uses BEGIN
    UPDATE spaces SET storage_used = storage_used + 100 WHERE row = NEW.space;
END;
CREATE TRIGGER log_uses_deleted AFTER DELETE ON log_uses BEGIN
    UPDATE spaces SET storage_used = storage_used - 100 WHERE row = OLD.space;
END;
