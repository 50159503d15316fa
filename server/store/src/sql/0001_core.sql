-- Ids are the 16 bytes of a UUID, times are milliseconds since 1970-01-01 UTC.

CREATE TABLE settings (
    key   TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID, STRICT;

CREATE TABLE spaces (
    row          INTEGER PRIMARY KEY,
    id           BLOB NOT NULL UNIQUE,
    kind         TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    -- Plaintext bytes and number of files, active and trashed; kept by every change of a node.
    storage_used INTEGER NOT NULL DEFAULT 0,
    file_count   INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE accounts (
    id               BLOB PRIMARY KEY,
    email            TEXT NOT NULL UNIQUE COLLATE NOCASE,
    display_name     TEXT NOT NULL,
    password         TEXT NOT NULL,
    space            INTEGER NOT NULL REFERENCES spaces (row),
    created_at       INTEGER NOT NULL,
    storage_limit    INTEGER NOT NULL,
    bandwidth_limit  INTEGER NOT NULL,
    file_count_limit INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE UNIQUE INDEX accounts_space ON accounts (space);

CREATE TABLE bandwidth (
    account BLOB NOT NULL,
    -- `2026-01`
    month   TEXT NOT NULL,
    bytes   INTEGER NOT NULL,
    PRIMARY KEY (account, month)
) WITHOUT ROWID, STRICT;

CREATE TABLE api_keys (
    id           BLOB PRIMARY KEY,
    account      BLOB NOT NULL,
    name         TEXT NOT NULL,
    prefix       TEXT NOT NULL,
    -- SHA-256 of the whole key; the key itself is stored nowhere.
    hash         BLOB NOT NULL UNIQUE,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    last_used_at INTEGER,
    revoked_at   INTEGER
) WITHOUT ROWID, STRICT;

CREATE INDEX api_keys_account ON api_keys (account, created_at);

CREATE TABLE devices (
    account    BLOB NOT NULL,
    id         BLOB NOT NULL,
    name       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account, id)
) WITHOUT ROWID, STRICT;

CREATE TABLE key_bundles (
    account    BLOB PRIMARY KEY,
    version    INTEGER NOT NULL,
    bundle     TEXT NOT NULL,
    -- SHA-256 of AUTH and of the recovery key's verifier.
    auth       BLOB NOT NULL,
    recovery   BLOB,
    updated_at INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

-- One row per transaction that moved the feed: the last position it gave out, and a number that
-- another history of this database can't have at the same position.
CREATE TABLE commits (
    seq   INTEGER PRIMARY KEY,
    nonce TEXT NOT NULL
) STRICT;

CREATE TABLE nodes (
    row         INTEGER PRIMARY KEY,
    id          BLOB NOT NULL UNIQUE,
    space       INTEGER NOT NULL,
    -- Empty at the top of the space: an empty blob takes part in the unique index, NULL would not.
    parent      BLOB NOT NULL,
    kind        INTEGER NOT NULL, -- 0 file, 1 folder
    name        TEXT NOT NULL,
    name_key    TEXT NOT NULL,
    size        INTEGER NOT NULL,
    state       INTEGER NOT NULL, -- 0 active, 1 trashed, 2 deleted
    -- The node whose trashing brought this one into the trash.
    trash_root  BLOB,
    revision    BLOB,
    version     INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    created_seq INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    modified_at INTEGER,
    executable  INTEGER NOT NULL,
    favorite    INTEGER NOT NULL DEFAULT 0,
    description TEXT NOT NULL DEFAULT '',
    labels      TEXT,
    tags        TEXT,
    seal        BLOB,
    device      BLOB
) STRICT;

CREATE UNIQUE INDEX nodes_name ON nodes (space, parent, name_key) WHERE state = 0;
CREATE INDEX nodes_feed ON nodes (space, seq);
CREATE INDEX nodes_state ON nodes (space, state);
CREATE INDEX nodes_trash ON nodes (trash_root) WHERE trash_root IS NOT NULL;

CREATE TABLE revisions (
    row             INTEGER PRIMARY KEY,
    id              BLOB NOT NULL UNIQUE,
    node            BLOB NOT NULL,
    number          INTEGER NOT NULL,
    size            INTEGER NOT NULL,
    content_key     BLOB NOT NULL,
    -- Where the content was sealed, if not here.
    source_node     BLOB,
    source_revision BLOB,
    created_at      INTEGER NOT NULL,
    modified_at     INTEGER,
    executable      INTEGER NOT NULL,
    device          BLOB,
    account         BLOB NOT NULL,
    -- Distinct chunks in file order, as `rows.rs` packs them.
    chunks          BLOB NOT NULL,
    manifest        BLOB NOT NULL
) STRICT;

CREATE INDEX revisions_node ON revisions (node, number);

CREATE TABLE objects (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    -- Chunks that lie in it.
    refs INTEGER NOT NULL
) STRICT;

-- Sealed chunks belong to the node they were sealed for.
CREATE TABLE chunks (
    node   BLOB NOT NULL,
    id     BLOB NOT NULL,
    object INTEGER NOT NULL REFERENCES objects (id),
    start  INTEGER NOT NULL,
    size   INTEGER NOT NULL,
    -- Revisions that use it, copies included; 0 while only an upload knows it.
    refs   INTEGER NOT NULL,
    PRIMARY KEY (node, id)
) WITHOUT ROWID, STRICT;

CREATE TABLE uploads (
    id         BLOB PRIMARY KEY,
    space      INTEGER NOT NULL,
    account    BLOB NOT NULL,
    node       BLOB NOT NULL,
    revision   BLOB NOT NULL,
    expires_at INTEGER NOT NULL,
    done       INTEGER NOT NULL,
    -- The request as JSON, chunks aside.
    request    TEXT NOT NULL,
    chunks     BLOB NOT NULL
) WITHOUT ROWID, STRICT;

CREATE INDEX uploads_node ON uploads (node);
CREATE INDEX uploads_expiry ON uploads (expires_at);

CREATE TABLE idempotency (
    account    BLOB NOT NULL,
    key        TEXT NOT NULL,
    -- SHA-256 of method, path and body: the same key can't stand for another request.
    request    BLOB NOT NULL,
    status     INTEGER NOT NULL,
    headers    TEXT NOT NULL,
    body       BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account, key)
) WITHOUT ROWID, STRICT;

CREATE INDEX idempotency_age ON idempotency (created_at);
