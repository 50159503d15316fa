-- The state of a space that each device says to the others that it sees; the server can't read it.
CREATE TABLE checkpoints (
    space      INTEGER NOT NULL,
    account    BLOB NOT NULL,
    device     BLOB NOT NULL,
    sealed     BLOB NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (space, account, device)
) WITHOUT ROWID, STRICT;
