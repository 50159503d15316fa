-- Rules files in any directory of a folder pair: the last text of each that could be read on this disk (the root's
-- under the empty path), and the texts of the service's, each with its revision, while it is not synced here.
CREATE TABLE rules_texts (
    folder INTEGER NOT NULL REFERENCES folders(id) ON DELETE CASCADE,
    dir    TEXT NOT NULL,
    text   TEXT NOT NULL,
    PRIMARY KEY (folder, dir)
) WITHOUT ROWID;
INSERT INTO rules_texts (folder, dir, text) SELECT folder, '', text FROM rules WHERE text IS NOT NULL;
-- What the service had is fetched again before the next plan.
CREATE TABLE shared_rules (
    folder   INTEGER NOT NULL REFERENCES folders(id) ON DELETE CASCADE,
    node     BLOB NOT NULL,
    revision BLOB NOT NULL,
    text     TEXT NOT NULL,
    PRIMARY KEY (folder, node)
) WITHOUT ROWID;
DROP TABLE rules;
CREATE INDEX remote_rules ON remote(name) WHERE name = '.cairnignore';
