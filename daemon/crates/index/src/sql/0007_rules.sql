-- The rules of a folder pair: the last text of the rules file that could be read on this disk, and the
-- text of the service's, with its revision, while that file is not synced here.
CREATE TABLE rules (
    folder          INTEGER PRIMARY KEY REFERENCES folders(id) ON DELETE CASCADE,
    text            TEXT,
    shared_revision BLOB,
    shared_text     TEXT
);
