-- Directories on which another file system is mounted: one that is not mounted any more looks like a
-- directory from which everything was deleted.
CREATE TABLE mounts (
    local INTEGER PRIMARY KEY
) WITHOUT ROWID;
