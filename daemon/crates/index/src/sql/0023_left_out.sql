-- Folders of the service that were not recorded when nodes in them were, such as one that waits for a person: those
-- nodes were left out, and no later change brings them. Once such a folder is recorded, everything is listed again.
CREATE TABLE left_out (
    folder BLOB PRIMARY KEY
) WITHOUT ROWID;

-- An earlier version has noted none of them: everything is listed once.
INSERT OR REPLACE INTO meta (key, value) SELECT 'list_again', x'31'
    WHERE EXISTS (SELECT 1 FROM meta WHERE key = 'cursor');
