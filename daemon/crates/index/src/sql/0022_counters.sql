-- Counts of each folder pair, so that nobody reads a million rows for one number: the files that are synced from this
-- disk and their bytes, and the files in sync whose deletion nobody has confirmed.
CREATE TABLE counters (
    folder      INTEGER PRIMARY KEY REFERENCES folders(id) ON DELETE CASCADE,
    files       INTEGER NOT NULL,
    bytes       INTEGER NOT NULL,
    unconfirmed INTEGER NOT NULL
);
INSERT INTO counters (folder, files, bytes, unconfirmed)
    SELECT f.id,
        (SELECT count(*) FROM local l WHERE l.folder = f.id AND l.kind = 0 AND l.held = 0),
        (SELECT coalesce(sum(l.size), 0) FROM local l WHERE l.folder = f.id AND l.kind = 0 AND l.held = 0),
        (SELECT count(*) FROM synced s WHERE s.folder = f.id AND s.kind = 0 AND s.deletion_agreed = 0)
    FROM folders f;
CREATE TRIGGER local_inserted AFTER INSERT ON local WHEN NEW.kind = 0 AND NEW.held = 0 BEGIN
    UPDATE counters SET files = files + 1, bytes = bytes + NEW.size WHERE folder = NEW.folder;
END;
CREATE TRIGGER local_deleted AFTER DELETE ON local WHEN OLD.kind = 0 AND OLD.held = 0 BEGIN
    UPDATE counters SET files = files - 1, bytes = bytes - OLD.size WHERE folder = OLD.folder;
END;
CREATE TRIGGER local_updated AFTER UPDATE OF kind, size, held ON local
    WHEN NEW.kind <> OLD.kind OR NEW.size <> OLD.size OR NEW.held <> OLD.held BEGIN
    UPDATE counters SET
        files = files + (NEW.kind = 0 AND NEW.held = 0) - (OLD.kind = 0 AND OLD.held = 0),
        bytes = bytes + NEW.size * (NEW.kind = 0 AND NEW.held = 0) - OLD.size * (OLD.kind = 0 AND OLD.held = 0)
        WHERE folder = NEW.folder;
END;
CREATE TRIGGER synced_inserted AFTER INSERT ON synced WHEN NEW.kind = 0 AND NEW.deletion_agreed = 0 BEGIN
    UPDATE counters SET unconfirmed = unconfirmed + 1 WHERE folder = NEW.folder;
END;
CREATE TRIGGER synced_deleted AFTER DELETE ON synced WHEN OLD.kind = 0 AND OLD.deletion_agreed = 0 BEGIN
    UPDATE counters SET unconfirmed = unconfirmed - 1 WHERE folder = OLD.folder;
END;
CREATE TRIGGER synced_updated AFTER UPDATE OF kind, deletion_agreed ON synced
    WHEN NEW.kind <> OLD.kind OR NEW.deletion_agreed <> OLD.deletion_agreed BEGIN
    UPDATE counters SET unconfirmed = unconfirmed
        + (NEW.kind = 0 AND NEW.deletion_agreed = 0) - (OLD.kind = 0 AND OLD.deletion_agreed = 0)
        WHERE folder = NEW.folder;
END;
