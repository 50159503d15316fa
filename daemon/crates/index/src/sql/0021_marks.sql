-- Marks are numbered in the order in which they were set, so that a plan can be about the newest ones. What was in sync
-- when it was marked has `changed`: every plan is about all of that.
ALTER TABLE dirty_local RENAME TO old_dirty_local;
ALTER TABLE dirty_node RENAME TO old_dirty_node;
CREATE TABLE dirty_local (
    mark    INTEGER PRIMARY KEY AUTOINCREMENT,
    folder  INTEGER NOT NULL REFERENCES folders(id) ON DELETE CASCADE,
    local   INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    UNIQUE (folder, local)
);
CREATE INDEX dirty_local_marks ON dirty_local(folder, mark);
CREATE INDEX dirty_local_changed ON dirty_local(folder, local) WHERE changed = 1;
CREATE TABLE dirty_node (
    mark    INTEGER PRIMARY KEY AUTOINCREMENT,
    folder  INTEGER NOT NULL REFERENCES folders(id) ON DELETE CASCADE,
    node    BLOB NOT NULL,
    changed INTEGER NOT NULL,
    UNIQUE (folder, node)
);
CREATE INDEX dirty_node_marks ON dirty_node(folder, mark);
CREATE INDEX dirty_node_changed ON dirty_node(folder, node) WHERE changed = 1;
INSERT INTO dirty_local (folder, local, changed)
    SELECT folder, local, EXISTS (SELECT 1 FROM synced s WHERE s.local = d.local) FROM old_dirty_local d;
INSERT INTO dirty_node (folder, node, changed)
    SELECT folder, node, EXISTS (SELECT 1 FROM synced s WHERE s.node = d.node AND s.folder = d.folder)
    FROM old_dirty_node d;
DROP TABLE old_dirty_local;
DROP TABLE old_dirty_node;
