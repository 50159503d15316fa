-- Teams: who belongs to them, who was asked to, and the sealed keys that they share.

CREATE TABLE teams (
    id               BLOB PRIMARY KEY,
    name             TEXT NOT NULL,
    space            INTEGER NOT NULL UNIQUE REFERENCES spaces (row),
    -- Raised when a member goes, so that new content is sealed under a key that they never had.
    key_epoch        INTEGER NOT NULL DEFAULT 1,
    created_at       INTEGER NOT NULL,
    storage_limit    INTEGER NOT NULL,
    bandwidth_limit  INTEGER NOT NULL,
    file_count_limit INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE TABLE team_members (
    team      BLOB NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
    account   BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    role      TEXT NOT NULL, -- owner, admin, member
    joined_at INTEGER NOT NULL,
    PRIMARY KEY (team, account)
) WITHOUT ROWID, STRICT;

CREATE INDEX team_members_account ON team_members (account);
CREATE UNIQUE INDEX team_members_owner ON team_members (team) WHERE role = 'owner';

CREATE TABLE team_invitations (
    id          BLOB PRIMARY KEY,
    team        BLOB NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
    email       TEXT NOT NULL COLLATE NOCASE,
    role        TEXT NOT NULL,
    invited_by  BLOB NOT NULL,
    state       TEXT NOT NULL, -- pending, accepted, declined, withdrawn, expired
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE UNIQUE INDEX team_invitations_open ON team_invitations (team, email) WHERE state = 'pending';
CREATE INDEX team_invitations_email ON team_invitations (email, created_at);

CREATE TABLE team_grants (
    team       BLOB NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
    epoch      INTEGER NOT NULL,
    account    BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    -- The space key, sealed to the account's public key and signed by `granted_by`; opaque here.
    sealed     BLOB NOT NULL,
    granted_by BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (team, epoch, account)
) WITHOUT ROWID, STRICT;

CREATE INDEX team_grants_account ON team_grants (account);
