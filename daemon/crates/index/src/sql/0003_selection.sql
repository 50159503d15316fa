-- Nodes that this device leaves out by a pattern, each with its place when that was found: what
-- only its parents are called later changes nothing, a move of its own makes the record void. Earlier
-- records had no place and named everything below, too; all is judged anew, by its path.
DROP TABLE excluded;
CREATE TABLE excluded (
    folder INTEGER NOT NULL REFERENCES folders(id) ON DELETE CASCADE,
    node   BLOB NOT NULL,
    parent BLOB NOT NULL,
    name   TEXT NOT NULL,
    PRIMARY KEY (folder, node)
) WITHOUT ROWID;

-- The folders that the entries of a pair's `only` stand for, so that the choice goes where they go.
CREATE TABLE chosen (
    folder INTEGER NOT NULL REFERENCES folders(id) ON DELETE CASCADE,
    path   TEXT NOT NULL,
    node   BLOB NOT NULL,
    PRIMARY KEY (folder, path)
) WITHOUT ROWID;
