-- Sealed objects beside the commits of a space. One that no commit names is its sender's: nobody else can
-- read it, or have it taken for theirs, and each sender may have other bytes under the same id.
CREATE TABLE log_objects (
    space    INTEGER NOT NULL,
    id       BLOB NOT NULL,
    -- `sender` and not `account`: what a commit names outlives the account that sent it.
    sender   BLOB NOT NULL,
    sha256   BLOB NOT NULL,
    size     INTEGER NOT NULL,
    object   INTEGER NOT NULL REFERENCES objects (id),
    sent_at  INTEGER NOT NULL,
    -- The position of the first commit that names it.
    named_at INTEGER,
    PRIMARY KEY (space, id, sender)
) WITHOUT ROWID, STRICT;

CREATE UNIQUE INDEX log_objects_named ON log_objects (space, id) WHERE named_at IS NOT NULL;
CREATE INDEX log_objects_unnamed ON log_objects (sent_at) WHERE named_at IS NULL;
CREATE INDEX log_objects_object ON log_objects (object);

CREATE TRIGGER log_objects_stored AFTER INSERT ON log_objects BEGIN
    UPDATE spaces SET storage_used = storage_used + NEW.size WHERE row = NEW.space;
END;
CREATE TRIGGER log_objects_deleted AFTER DELETE ON log_objects BEGIN
    UPDATE spaces SET storage_used = storage_used - OLD.size WHERE row = OLD.space;
END;
