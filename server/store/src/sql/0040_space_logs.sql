-- The signed log of a space (docs/design/format-2.md). A space has one from its first commit on.
CREATE TABLE logs (
    space       INTEGER PRIMARY KEY REFERENCES spaces (row),
    history     BLOB NOT NULL,
    size        INTEGER NOT NULL,
    root        BLOB NOT NULL,
    -- When the service was restored, and to which size; 0 and 0 if it never was.
    restored_at INTEGER NOT NULL DEFAULT 0,
    restored_to INTEGER NOT NULL DEFAULT 0,
    -- The part of the state that grows with members only, as cairn-log writes it.
    core        BLOB NOT NULL
) STRICT;

CREATE TABLE log_leaves (
    space     INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    is_commit INTEGER NOT NULL,
    leaf      BLOB NOT NULL,
    PRIMARY KEY (space, position)
) WITHOUT ROWID, STRICT;

-- Statements and server entries; nothing here is ever changed but for bodies that are pruned.
CREATE TABLE log_items (
    space    INTEGER NOT NULL,
    position INTEGER NOT NULL,
    -- The place among the statements of a commit.
    part     INTEGER NOT NULL,
    -- The node or chain.
    element  BLOB NOT NULL,
    is_entry INTEGER NOT NULL,
    -- The node ends here.
    is_end   INTEGER NOT NULL,
    hash     BLOB NOT NULL,
    -- NULL once it is pruned; never that of a newest one.
    body     BLOB,
    PRIMARY KEY (space, position, part)
) WITHOUT ROWID, STRICT;

CREATE INDEX log_items_element ON log_items (space, element, is_entry, position, part, is_end);

-- The complete subtrees of the tree; level 0 has the leaves' hashes.
CREATE TABLE log_subtrees (
    space INTEGER NOT NULL,
    level INTEGER NOT NULL,
    place INTEGER NOT NULL,
    hash  BLOB NOT NULL,
    PRIMARY KEY (space, level, place)
) WITHOUT ROWID, STRICT;

-- The vouched places of open spaces. The top is an empty blob.
CREATE TABLE log_places (
    space  INTEGER NOT NULL,
    parent BLOB NOT NULL,
    name   BLOB NOT NULL,
    holder BLOB NOT NULL,
    PRIMARY KEY (space, parent, name)
) WITHOUT ROWID, STRICT;

-- `owner` and not `account`: a device that signed stays known when its account goes.
CREATE TABLE log_devices (
    space     INTEGER NOT NULL,
    number    INTEGER NOT NULL,
    owner     BLOB NOT NULL,
    key       BLOB NOT NULL,
    is_listed INTEGER NOT NULL,
    own       INTEGER NOT NULL,
    min_seen  INTEGER NOT NULL,
    -- What its control statements of late have used of their minute, in milliseconds, as of a time.
    used_ms   INTEGER NOT NULL DEFAULT 0,
    used_at   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (space, number)
) WITHOUT ROWID, STRICT;

CREATE INDEX log_devices_owner ON log_devices (space, owner);

CREATE TABLE log_marks (
    space  INTEGER NOT NULL,
    size   INTEGER NOT NULL,
    digest BLOB NOT NULL,
    epoch  INTEGER NOT NULL,
    PRIMARY KEY (space, size)
) WITHOUT ROWID, STRICT;
