-- What a share link carries counts for the storage of the space that the file lies in.
ALTER TABLE share_files ADD COLUMN space bigint NOT NULL DEFAULT 0;
UPDATE share_files SET space = coalesce((SELECT n.space FROM nodes n WHERE n.id = share_files.node), 0);
DELETE FROM share_files WHERE node IN (SELECT id FROM nodes WHERE state = 2);
CREATE INDEX share_files_node ON share_files (node);
UPDATE spaces SET storage_used = storage_used
    + coalesce((SELECT sum(length(f.sealed)) FROM share_files f WHERE f.space = spaces.row), 0);

CREATE FUNCTION share_files_put() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used + length(NEW.sealed) WHERE row = NEW.space;
    RETURN NULL;
END $$;
CREATE TRIGGER share_files_put AFTER INSERT ON share_files FOR EACH ROW EXECUTE FUNCTION share_files_put();

CREATE FUNCTION share_files_replaced() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used + length(NEW.sealed) - length(OLD.sealed) WHERE row = NEW.space;
    RETURN NULL;
END $$;
CREATE TRIGGER share_files_replaced AFTER UPDATE OF sealed ON share_files FOR EACH ROW EXECUTE FUNCTION share_files_replaced();

CREATE FUNCTION share_files_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used - length(OLD.sealed) WHERE row = OLD.space;
    RETURN NULL;
END $$;
CREATE TRIGGER share_files_removed AFTER DELETE ON share_files FOR EACH ROW EXECUTE FUNCTION share_files_removed();
