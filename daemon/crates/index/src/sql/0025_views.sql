-- The digest of the space as this device had it after a change of the present history, of the last times.
CREATE TABLE own_views (
    seq    INTEGER PRIMARY KEY,
    digest BLOB NOT NULL
) STRICT;

-- The checkpoint of another device that was compared last.
CREATE TABLE other_views (
    device     BLOB PRIMARY KEY,
    name       TEXT NOT NULL,
    seq        INTEGER NOT NULL,
    digest     BLOB NOT NULL,
    -- When it said the same as this device, by its own clock; NULL if it never did.
    same_at  INTEGER,
    -- When it was found to say something else; NULL if it does not, or a person has dismissed it.
    differs_at INTEGER
) WITHOUT ROWID, STRICT;
