-- The way of a mail to the mail server. Those of before are kept as they are: nobody waits for them any more.
ALTER TABLE mails ADD COLUMN state TEXT NOT NULL DEFAULT 'kept';
ALTER TABLE mails ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE mails ADD COLUMN due_at INTEGER NOT NULL DEFAULT 0;
-- After this it is no news any more.
ALTER TABLE mails ADD COLUMN give_up_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE mails ADD COLUMN error TEXT;
-- The account that had it sent to somebody else.
ALTER TABLE mails ADD COLUMN sender BLOB;
CREATE INDEX mails_due ON mails (due_at) WHERE state = 'waiting';
CREATE INDEX mails_at ON mails (at);
CREATE INDEX mails_sender ON mails (sender, at) WHERE sender IS NOT NULL;

-- The time at which somebody has proved to receive mail at the account's address.
ALTER TABLE accounts ADD COLUMN email_verified_at INTEGER;

-- Codes that were sent by mail and prove that somebody reads what is sent there.
CREATE TABLE mail_codes (
    -- What the code is for, and the address that it was sent to.
    purpose    TEXT NOT NULL,
    email      TEXT NOT NULL COLLATE NOCASE,
    -- SHA-256.
    hash       BLOB NOT NULL,
    -- It went by mail alone: who uses it reads what is sent to the address.
    mailed     INTEGER NOT NULL,
    -- Wrong codes for the address since it was made.
    failures   INTEGER NOT NULL DEFAULT 0,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (purpose, email, hash)
) WITHOUT ROWID, STRICT;
CREATE INDEX mail_codes_expiry ON mail_codes (expires_at);
