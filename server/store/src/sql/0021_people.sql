-- What an account is to others and hears from them: profiles, following, notifications, mails,
-- e-mail preferences, the audit log of its keys, and its own end.

ALTER TABLE accounts ADD COLUMN deletion_requested_at INTEGER;

-- A verifier of the recovery key that this server made; the client's own stands in `recovery`.
ALTER TABLE key_bundles ADD COLUMN reset_verifier BLOB;
ALTER TABLE key_bundles ADD COLUMN recovery_set_at INTEGER;

CREATE TABLE profiles (
    account    BLOB PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    bio        TEXT NOT NULL DEFAULT '',
    avatar_url TEXT,
    username   TEXT UNIQUE COLLATE NOCASE,
    vanity_url TEXT UNIQUE COLLATE NOCASE,
    visibility TEXT NOT NULL DEFAULT 'public', -- public, private, followers_only
    verified   INTEGER NOT NULL DEFAULT 0,
    tip_jar    BLOB NOT NULL UNIQUE
) WITHOUT ROWID, STRICT;

CREATE TABLE follows (
    follower   BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    followee   BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (follower, followee)
) WITHOUT ROWID, STRICT;

CREATE INDEX follows_followee ON follows (followee, created_at);

CREATE TABLE blocks (
    blocker    BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    blocked    BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (blocker, blocked)
) WITHOUT ROWID, STRICT;

CREATE INDEX blocks_blocked ON blocks (blocked);

CREATE TABLE mutes (
    muter      BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    muted      BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (muter, muted)
) WITHOUT ROWID, STRICT;

CREATE INDEX mutes_muted ON mutes (muted);

CREATE TABLE reports (
    id         BLOB PRIMARY KEY,
    reporter   BLOB NOT NULL,
    reported   BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    reason     TEXT NOT NULL,
    details    TEXT NOT NULL,
    state      TEXT NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE INDEX reports_reported ON reports (reported);

-- What followers may see in their feed.
CREATE TABLE activities (
    row        INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE,
    account    BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,
    data       TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX activities_account ON activities (account, row);

CREATE TABLE notifications (
    row        INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE,
    account    BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,
    title      TEXT NOT NULL,
    data       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    read_at    INTEGER
) STRICT;

CREATE INDEX notifications_account ON notifications (account, row);

CREATE TABLE email_preferences (
    account              BLOB PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    share_notifications  INTEGER NOT NULL,
    follow_notifications INTEGER NOT NULL,
    system_announcements INTEGER NOT NULL,
    marketing_emails     INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE TABLE encryption_audit (
    row        INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE,
    account    BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,
    version    INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX encryption_audit_account ON encryption_audit (account, row);
