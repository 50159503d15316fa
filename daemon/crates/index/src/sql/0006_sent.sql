-- Revisions that this device has sent, until the service is known to have one: of whatever becomes the
-- head of its node, this device knows that it made it, even when the reply was lost.
CREATE TABLE sent (
    revision BLOB PRIMARY KEY,
    node     BLOB NOT NULL,
    folder   INTEGER NOT NULL,
    local    INTEGER NOT NULL,
    hash     BLOB NOT NULL,
    size     INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX sent_local ON sent(local);
CREATE INDEX sent_node ON sent(node);
