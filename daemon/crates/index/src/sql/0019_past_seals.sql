-- The highest number of a seal that was seen of each node that has left the remote tree, so that its past can't come
-- back as its present. The seal is the one of that number: null where that is not known, empty for a deletion's.
CREATE TABLE past_seals (
    node BLOB PRIMARY KEY,
    seen INTEGER NOT NULL,
    seal BLOB
) WITHOUT ROWID;
