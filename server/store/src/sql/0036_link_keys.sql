-- The content keys that links have handed out, as they are wrapped for their space. What is written after
-- that needs a key of its own, also once the link is gone.
CREATE TABLE link_keys (
    node        BLOB NOT NULL,
    content_key BLOB NOT NULL,
    PRIMARY KEY (node, content_key)
) WITHOUT ROWID, STRICT;

INSERT OR IGNORE INTO link_keys (node, content_key)
    SELECT f.node, r.content_key FROM share_files f JOIN revisions r ON r.id = f.revision;
