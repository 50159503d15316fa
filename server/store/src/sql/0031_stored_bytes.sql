-- What a space uses is what is stored for it: sealed chunks as they lie, once however many revisions
-- and copies use them; the sealed manifest and key of each revision; and what open uploads have
-- announced and not sent yet. The triggers keep `storage_used`, so that no statement can forget it.
ALTER TABLE chunks ADD COLUMN space INTEGER NOT NULL DEFAULT 0;
-- Who stored it: the figures of a team tell it.
ALTER TABLE chunks ADD COLUMN account BLOB;
ALTER TABLE revisions ADD COLUMN space INTEGER NOT NULL DEFAULT 0;
-- Announced bytes that have not come yet.
ALTER TABLE uploads ADD COLUMN reserved INTEGER NOT NULL DEFAULT 0;

UPDATE chunks SET
    space = coalesce(
        (SELECT n.space FROM nodes n WHERE n.id = chunks.node),
        (SELECT u.space FROM uploads u WHERE u.node = chunks.node LIMIT 1),
        0
    ),
    account = coalesce(
        (SELECT r.account FROM revisions r WHERE r.node = chunks.node ORDER BY r.number LIMIT 1),
        (SELECT u.account FROM uploads u WHERE u.node = chunks.node LIMIT 1)
    );
UPDATE revisions SET space = coalesce((SELECT n.space FROM nodes n WHERE n.id = revisions.node), 0);

-- Uploads that are open now have nothing set aside: their chunks are counted and checked as they come.
WITH held AS MATERIALIZED (
    SELECT space, sum(bytes) AS bytes FROM (
        SELECT space, size AS bytes FROM chunks
        UNION ALL
        SELECT space, length(manifest) + length(content_key) FROM revisions
    ) GROUP BY space
)
UPDATE spaces SET storage_used =
    coalesce((SELECT bytes FROM held WHERE held.space = spaces.row), 0);

CREATE TRIGGER chunks_stored AFTER INSERT ON chunks BEGIN
    UPDATE spaces SET storage_used = storage_used + NEW.size WHERE row = NEW.space;
END;
CREATE TRIGGER chunks_deleted AFTER DELETE ON chunks BEGIN
    UPDATE spaces SET storage_used = storage_used - OLD.size WHERE row = OLD.space;
END;
CREATE TRIGGER revisions_stored AFTER INSERT ON revisions BEGIN
    UPDATE spaces SET storage_used = storage_used + length(NEW.manifest) + length(NEW.content_key)
    WHERE row = NEW.space;
END;
CREATE TRIGGER revisions_deleted AFTER DELETE ON revisions BEGIN
    UPDATE spaces SET storage_used = storage_used - length(OLD.manifest) - length(OLD.content_key)
    WHERE row = OLD.space;
END;
CREATE TRIGGER uploads_begun AFTER INSERT ON uploads BEGIN
    UPDATE spaces SET storage_used = storage_used + NEW.reserved WHERE row = NEW.space;
END;
CREATE TRIGGER uploads_moved_on AFTER UPDATE OF reserved ON uploads BEGIN
    UPDATE spaces SET storage_used = storage_used + NEW.reserved - OLD.reserved WHERE row = NEW.space;
END;
CREATE TRIGGER uploads_ended AFTER DELETE ON uploads BEGIN
    UPDATE spaces SET storage_used = storage_used - OLD.reserved WHERE row = OLD.space;
END;
