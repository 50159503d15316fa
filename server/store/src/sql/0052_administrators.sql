-- The time at which an account was made an administrator of the others.
ALTER TABLE accounts ADD COLUMN admin_since INTEGER;

-- Changes that administrators made to accounts. No column is named `account`: an entry outlives both of its accounts.
CREATE TABLE admin_events (
    row        INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE,
    -- NULL for the command line of the server.
    actor      BLOB,
    -- NULL for an address that has no account yet.
    subject    BLOB,
    action     TEXT NOT NULL,
    -- JSON
    data       TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
