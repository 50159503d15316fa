-- Ids of the service are 16-byte blobs. The zero blob as a parent is the top of the space; the
-- number 0 as a local parent is the root of the folder (neither is a row of its own).

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE folders (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    root        TEXT NOT NULL UNIQUE,
    remote_path TEXT NOT NULL,
    -- Null until the remote folder was found or made; the zero blob is the top of the space.
    remote_node BLOB,
    -- Device and inode of the root directory: another one there means that it is not mounted.
    root_device INTEGER,
    root_inode  INTEGER,
    settings    TEXT NOT NULL
);

CREATE TABLE local (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    folder     INTEGER NOT NULL REFERENCES folders(id) ON DELETE CASCADE,
    parent     INTEGER NOT NULL,
    name       TEXT NOT NULL,
    key        TEXT NOT NULL,
    kind       INTEGER NOT NULL,
    size       INTEGER NOT NULL,
    mtime      INTEGER NOT NULL,
    ctime      INTEGER NOT NULL,
    device     INTEGER NOT NULL,
    inode      INTEGER NOT NULL,
    birth      INTEGER,
    executable INTEGER NOT NULL,
    -- Of the bytes that the stat columns describe; null where those were not read.
    hash       BLOB,
    held       INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX local_name ON local(folder, parent, name);
CREATE INDEX local_key ON local(folder, parent, key);
CREATE INDEX local_file ON local(folder, inode);

CREATE TABLE remote (
    node       BLOB PRIMARY KEY,
    parent     BLOB NOT NULL,
    name       TEXT NOT NULL,
    key        TEXT NOT NULL,
    kind       INTEGER NOT NULL,
    revision   BLOB,
    size       INTEGER NOT NULL,
    modified   INTEGER,
    executable INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    content_key BLOB,
    seal       BLOB,
    source_node BLOB,
    source_revision BLOB,
    device     BLOB,
    -- Of the revision's plaintext, once its manifest was opened.
    hash       BLOB,
    -- Place of the revision in the node's history, from its manifest.
    number     INTEGER
) WITHOUT ROWID;
CREATE INDEX remote_key ON remote(parent, key);

CREATE TABLE synced (
    folder     INTEGER NOT NULL REFERENCES folders(id) ON DELETE CASCADE,
    node       BLOB NOT NULL,
    local      INTEGER NOT NULL,
    parent     BLOB NOT NULL,
    name       TEXT NOT NULL,
    kind       INTEGER NOT NULL,
    revision   BLOB,
    hash       BLOB,
    size       INTEGER NOT NULL,
    executable INTEGER NOT NULL,
    -- Deleted on the service by a device whose person had agreed: nobody is asked again.
    deletion_agreed INTEGER NOT NULL DEFAULT 0,
    -- The node first: it is looked up alone as often as with its folder.
    PRIMARY KEY (node, folder)
) WITHOUT ROWID;
CREATE UNIQUE INDEX synced_local ON synced(local);

-- What has to be looked at by the planner.
CREATE TABLE dirty_local (
    folder INTEGER NOT NULL REFERENCES folders(id) ON DELETE CASCADE,
    local  INTEGER NOT NULL,
    PRIMARY KEY (folder, local)
) WITHOUT ROWID;
CREATE TABLE dirty_node (
    folder INTEGER NOT NULL REFERENCES folders(id) ON DELETE CASCADE,
    node   BLOB NOT NULL,
    PRIMARY KEY (folder, node)
) WITHOUT ROWID;

-- Uploads in progress: what must be the same after a crash for the upload to go on.
CREATE TABLE journal (
    local INTEGER PRIMARY KEY,
    node  BLOB NOT NULL,
    state BLOB NOT NULL,
    size  INTEGER NOT NULL,
    mtime INTEGER NOT NULL,
    ctime INTEGER NOT NULL
);

CREATE TABLE activity (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    at     INTEGER NOT NULL,
    folder INTEGER,
    kind   TEXT NOT NULL,
    path   TEXT NOT NULL,
    device TEXT,
    bytes  INTEGER NOT NULL
);

CREATE TABLE conflicts (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    folder INTEGER NOT NULL REFERENCES folders(id) ON DELETE CASCADE,
    -- The conflict copy; the conflict is over when that file is gone or renamed by a person.
    copy   INTEGER NOT NULL UNIQUE,
    node   BLOB,
    kind   TEXT NOT NULL,
    device TEXT NOT NULL,
    at     INTEGER NOT NULL
);

-- Questions about mass deletions.
CREATE TABLE questions (
    folder INTEGER NOT NULL REFERENCES folders(id) ON DELETE CASCADE,
    -- 'local': the service wants to delete here; 'remote': this device wants to delete there.
    side   TEXT NOT NULL,
    files  INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    -- 'asked' or 'agreed'.
    answer TEXT NOT NULL,
    PRIMARY KEY (folder, side)
) WITHOUT ROWID;

-- Remote folders that this device left out, by id, so that a rename does not bring them back.
CREATE TABLE excluded (
    folder INTEGER NOT NULL REFERENCES folders(id) ON DELETE CASCADE,
    node   BLOB NOT NULL,
    PRIMARY KEY (folder, node)
) WITHOUT ROWID;
