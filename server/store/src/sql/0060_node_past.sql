-- What a node was until it was moved, renamed, put into the trash or taken out of it. What goes into the trash with its
-- folder has no row of its own: it was there as long as the folder. A trigger writes it, so that no statement can
-- forget it.
CREATE TABLE node_past (
    row      INTEGER PRIMARY KEY,
    space    INTEGER NOT NULL,
    node     BLOB NOT NULL,
    -- As in `nodes`.
    parent   BLOB NOT NULL,
    name     TEXT NOT NULL,
    state    INTEGER NOT NULL,
    until_at INTEGER NOT NULL,
    -- That has ended it, if it is known.
    device   BLOB
) STRICT;

CREATE INDEX node_past_feed ON node_past (space, until_at, row);
CREATE INDEX node_past_node ON node_past (node);

-- Of the time before, nothing is known that is not in `nodes`.
ALTER TABLE spaces ADD COLUMN past_from INTEGER NOT NULL DEFAULT 0;
UPDATE spaces SET past_from = coalesce((SELECT max(n.updated_at) FROM nodes n WHERE n.space = spaces.row), 0);

CREATE TRIGGER nodes_left AFTER UPDATE OF parent, name, state ON nodes
WHEN (OLD.state = 0 AND NEW.state = 0 AND (OLD.parent IS NOT NEW.parent OR OLD.name IS NOT NEW.name))
    OR (OLD.state = 0 AND NEW.state = 1 AND NEW.trash_root = NEW.id)
    OR (OLD.state = 1 AND NEW.state = 0 AND (OLD.trash_root IS NULL OR OLD.trash_root = OLD.id))
BEGIN
    INSERT INTO node_past (space, node, parent, name, state, until_at, device)
    VALUES (OLD.space, OLD.id, OLD.parent, OLD.name, OLD.state, NEW.updated_at, NEW.device);
END;
