-- The state of a space that each device says to the others that it sees; the server can't read it.
CREATE TABLE checkpoints (
    space      bigint NOT NULL,
    account    bytea NOT NULL,
    device     bytea NOT NULL,
    sealed     bytea NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (space, account, device)
);
