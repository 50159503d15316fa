-- The identity provider. Codes and tokens are stored as their SHA-256 only.

-- One login of one client; its tokens live and die with it.
CREATE TABLE grants (
    id         BLOB PRIMARY KEY,
    account    BLOB NOT NULL,
    client     TEXT NOT NULL,
    scope      TEXT NOT NULL,
    -- When the person showed who they are.
    auth_time  INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) WITHOUT ROWID, STRICT;

CREATE INDEX grants_account ON grants (account);

CREATE TABLE authorization_codes (
    hash         BLOB PRIMARY KEY,
    account      BLOB NOT NULL,
    client       TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    challenge    TEXT NOT NULL,
    scope        TEXT NOT NULL,
    nonce        TEXT,
    auth_time    INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    -- Set once it has been redeemed.
    grant_id     BLOB
) WITHOUT ROWID, STRICT;

CREATE TABLE refresh_tokens (
    hash        BLOB PRIMARY KEY,
    grant_id    BLOB NOT NULL,
    expires_at  INTEGER NOT NULL,
    -- The token that came in its place: NULL for the current one, empty for one that was never used
    -- and given up.
    replaced_by BLOB
) WITHOUT ROWID, STRICT;

CREATE INDEX refresh_tokens_grant ON refresh_tokens (grant_id);
CREATE INDEX refresh_tokens_expiry ON refresh_tokens (expires_at);

CREATE TABLE device_codes (
    hash       BLOB PRIMARY KEY,
    user_code  TEXT NOT NULL UNIQUE,
    client     TEXT NOT NULL,
    scope      TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    interval_s INTEGER NOT NULL,
    polled_at  INTEGER,
    -- 0 pending, 1 allowed, 2 denied
    state      INTEGER NOT NULL,
    account    BLOB,
    auth_time  INTEGER
) WITHOUT ROWID, STRICT;

CREATE TABLE service_accounts (
    id           BLOB PRIMARY KEY,
    account      BLOB NOT NULL,
    name         TEXT NOT NULL,
    secret       BLOB NOT NULL,
    scope        TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    deleted_at   INTEGER
) WITHOUT ROWID, STRICT;

CREATE INDEX service_accounts_account ON service_accounts (account, created_at);
