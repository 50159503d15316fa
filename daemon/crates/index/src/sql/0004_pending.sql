-- Changes of the feed whose folder was not reported yet; it comes with a later page.
CREATE TABLE pending (
    node   BLOB PRIMARY KEY,
    change BLOB NOT NULL
) WITHOUT ROWID;
