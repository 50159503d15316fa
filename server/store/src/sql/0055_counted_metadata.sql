-- What a node says about itself counts as storage: its description, labels and tags, and its seal as far as it is
-- longer than 1,024 bytes. Of a revision the list of its chunks counts, too, as far as it is longer than 64 chunks
-- (3,584 bytes): a copy and an old revision made current again have one of their own. Folders are counted beside
-- files. Triggers keep the numbers, so that no statement can forget them.
ALTER TABLE spaces ADD COLUMN folder_count INTEGER NOT NULL DEFAULT 0;

WITH held AS MATERIALIZED (
    SELECT space, sum(bytes) AS bytes FROM (
        SELECT space, length(CAST(description AS BLOB)) + coalesce(length(CAST(labels AS BLOB)), 0)
            + coalesce(length(CAST(tags AS BLOB)), 0) + max(coalesce(length(seal), 0) - 1024, 0) AS bytes
            FROM nodes WHERE state < 2
        UNION ALL
        SELECT space, max(length(chunks) - 3584, 0) FROM revisions
    ) GROUP BY space
)
UPDATE spaces SET
    storage_used = storage_used + coalesce((SELECT bytes FROM held WHERE held.space = spaces.row), 0),
    folder_count =
        (SELECT count(*) FROM nodes n WHERE n.space = spaces.row AND n.state < 2 AND n.kind = 1);

CREATE TRIGGER nodes_described AFTER UPDATE OF description, labels, tags, seal ON nodes
WHEN NEW.description IS NOT OLD.description OR NEW.labels IS NOT OLD.labels OR NEW.tags IS NOT OLD.tags
    OR length(NEW.seal) > 1024 OR length(OLD.seal) > 1024
BEGIN
    UPDATE spaces SET storage_used = storage_used
        + length(CAST(NEW.description AS BLOB)) + coalesce(length(CAST(NEW.labels AS BLOB)), 0)
        + coalesce(length(CAST(NEW.tags AS BLOB)), 0) + max(coalesce(length(NEW.seal), 0) - 1024, 0)
        - length(CAST(OLD.description AS BLOB)) - coalesce(length(CAST(OLD.labels AS BLOB)), 0)
        - coalesce(length(CAST(OLD.tags AS BLOB)), 0) - max(coalesce(length(OLD.seal), 0) - 1024, 0)
    WHERE row = NEW.space;
END;

CREATE TRIGGER nodes_made AFTER INSERT ON nodes WHEN length(NEW.seal) > 1024 BEGIN
    UPDATE spaces SET storage_used = storage_used + length(NEW.seal) - 1024 WHERE row = NEW.space;
END;

CREATE TRIGGER folders_made AFTER INSERT ON nodes WHEN NEW.kind = 1 AND NEW.state < 2 BEGIN
    UPDATE spaces SET folder_count = folder_count + 1 WHERE row = NEW.space;
END;
CREATE TRIGGER folders_purged AFTER UPDATE OF state ON nodes
WHEN OLD.kind = 1 AND OLD.state < 2 AND NEW.state = 2
BEGIN
    UPDATE spaces SET folder_count = folder_count - 1 WHERE row = OLD.space;
END;

DROP TRIGGER revisions_stored;
DROP TRIGGER revisions_deleted;
CREATE TRIGGER revisions_stored AFTER INSERT ON revisions BEGIN
    UPDATE spaces SET storage_used = storage_used + length(NEW.manifest) + max(length(NEW.chunks) - 3584, 0)
    WHERE row = NEW.space;
END;
CREATE TRIGGER revisions_deleted AFTER DELETE ON revisions BEGIN
    UPDATE spaces SET storage_used = storage_used - length(OLD.manifest) - max(length(OLD.chunks) - 3584, 0)
    WHERE row = OLD.space;
END;
