-- The highest sequence of a verified seal that this device has seen of the node; 0: none.
ALTER TABLE remote ADD COLUMN seen INTEGER NOT NULL DEFAULT 0;

-- Nodes with a change that waits for a person, and where the service has them.
CREATE TABLE unaccepted (
    node   BLOB PRIMARY KEY,
    parent BLOB NOT NULL,
    name   TEXT NOT NULL
) WITHOUT ROWID;
