-- Share links, comments, retention, the assistant's use, outgoing mail, the index of texts.

CREATE TABLE shares (
    row            INTEGER PRIMARY KEY,
    id             BLOB NOT NULL UNIQUE,
    code           TEXT NOT NULL UNIQUE,
    account        BLOB NOT NULL,
    node           BLOB NOT NULL,
    storage_type   TEXT NOT NULL,
    is_active      INTEGER NOT NULL,
    access_mode    TEXT NOT NULL,
    -- bcrypt of the gate value.
    gate           TEXT,
    -- How a password becomes the gate value, as JSON.
    kdf            TEXT,
    expires_at     INTEGER,
    download_limit INTEGER,
    download_count INTEGER NOT NULL DEFAULT 0,
    access_count   INTEGER NOT NULL DEFAULT 0,
    -- JSON list.
    allowed_emails TEXT NOT NULL,
    active_from    INTEGER,
    active_until   INTEGER,
    notify         INTEGER NOT NULL,
    key_blob       BLOB,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL
) STRICT;

CREATE INDEX shares_account ON shares (account, row);
CREATE INDEX shares_node ON shares (node);

CREATE TABLE share_files (
    share    INTEGER NOT NULL REFERENCES shares (row) ON DELETE CASCADE,
    node     BLOB NOT NULL,
    revision BLOB NOT NULL,
    sealed   BLOB NOT NULL,
    PRIMARY KEY (share, node)
) WITHOUT ROWID, STRICT;

CREATE INDEX share_files_revision ON share_files (revision);

-- Each is an entry of the access log, and (with a token) a permission to fetch chunks.
CREATE TABLE share_visits (
    row        INTEGER PRIMARY KEY,
    share      INTEGER NOT NULL REFERENCES shares (row) ON DELETE CASCADE,
    -- SHA-256 of the token; NULL for a visitor who was turned away.
    token      BLOB UNIQUE,
    -- opened, downloaded, denied
    action     TEXT NOT NULL,
    email      TEXT,
    masked_ip  TEXT NOT NULL,
    bytes      INTEGER NOT NULL DEFAULT 0,
    at         INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX share_visits_share ON share_visits (share, at);

CREATE TABLE share_settings (
    account  BLOB PRIMARY KEY,
    -- JSON objects.
    defaults TEXT NOT NULL DEFAULT '{}',
    theme    TEXT NOT NULL DEFAULT '{}'
) WITHOUT ROWID, STRICT;

CREATE TABLE mails (
    row       INTEGER PRIMARY KEY,
    recipient TEXT NOT NULL,
    subject   TEXT NOT NULL,
    body      TEXT NOT NULL,
    at        INTEGER NOT NULL
) STRICT;

CREATE TABLE comments (
    row        INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE,
    node       BLOB NOT NULL,
    parent     BLOB,
    account    BLOB NOT NULL,
    -- NULL once it is deleted.
    body       TEXT,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX comments_node ON comments (node, row);

CREATE TABLE retention_rules (
    row           INTEGER PRIMARY KEY,
    id            BLOB NOT NULL UNIQUE,
    account       BLOB NOT NULL,
    folder        BLOB NOT NULL,
    days          INTEGER NOT NULL,
    name          TEXT NOT NULL,
    deleted_files INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE ai_usage (
    account  BLOB NOT NULL,
    -- `2026-01`
    month    TEXT NOT NULL,
    -- chat, classify
    kind     TEXT NOT NULL,
    requests INTEGER NOT NULL,
    files    INTEGER NOT NULL,
    tokens   INTEGER NOT NULL,
    PRIMARY KEY (account, month, kind)
) WITHOUT ROWID, STRICT;

-- The row is the node's. A search first takes in what changed since the last one, so that uploads
-- don't pay for it.
CREATE VIRTUAL TABLE node_text USING fts5 (
    name, description, labels, tags, comments,
    tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
);

CREATE TABLE node_text_state (
    space INTEGER PRIMARY KEY,
    -- The feed position up to which its nodes are in node_text.
    seq   INTEGER NOT NULL
) STRICT;
