-- Nodes of the service that can't be recorded as they are, such as under a name that doesn't open, and the folders
-- that they are in: those folders hold something that this device doesn't know.
CREATE TABLE impossible (
    node BLOB PRIMARY KEY,
    parent BLOB NOT NULL
) WITHOUT ROWID;

-- An earlier version has noted none of them: everything is listed once.
INSERT OR REPLACE INTO meta (key, value) SELECT 'list_again', x'31'
    WHERE EXISTS (SELECT 1 FROM meta WHERE key = 'cursor');
