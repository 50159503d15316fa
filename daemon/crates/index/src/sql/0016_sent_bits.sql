-- The executable bit that a revision was sent with.
ALTER TABLE sent ADD COLUMN executable INTEGER NOT NULL DEFAULT 0;
-- Executable bits that this device has sent alone, until it is known what became of them.
CREATE TABLE sent_bits (
    node       BLOB NOT NULL,
    folder     INTEGER NOT NULL REFERENCES folders(id) ON DELETE CASCADE,
    local      INTEGER NOT NULL,
    executable INTEGER NOT NULL,
    -- Of the node, once it has the bit.
    version    INTEGER NOT NULL,
    PRIMARY KEY (node, folder, version, executable)
) WITHOUT ROWID;
CREATE INDEX sent_bits_folder ON sent_bits(folder);
CREATE INDEX sent_bits_local ON sent_bits(local);
