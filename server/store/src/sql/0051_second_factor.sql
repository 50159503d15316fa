-- The second factor of an account: the secret that its owner's authenticator app makes codes of.
CREATE TABLE second_factors (
    account      BLOB PRIMARY KEY,
    -- Sealed with records.key.
    secret       BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    -- Set by the first code, which shows that the app has the secret; before that no login asks for one.
    confirmed_at INTEGER,
    -- The time step of the last code that was taken: that one and earlier ones are refused.
    last_step    INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

-- Codes that stand in for the app, each once.
CREATE TABLE second_factor_codes (
    account BLOB NOT NULL,
    -- SHA-256; a code has 80 random bits.
    hash    BLOB NOT NULL,
    PRIMARY KEY (account, hash)
) WITHOUT ROWID, STRICT;
