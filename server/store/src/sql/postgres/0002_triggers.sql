-- Numbers that triggers keep, so that no statement can forget them.

CREATE FUNCTION chunks_stored() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used + NEW.size WHERE row = NEW.space;
    RETURN NULL;
END $$;
CREATE TRIGGER chunks_stored AFTER INSERT ON chunks FOR EACH ROW EXECUTE FUNCTION chunks_stored();

CREATE FUNCTION chunks_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used - OLD.size WHERE row = OLD.space;
    RETURN NULL;
END $$;
CREATE TRIGGER chunks_deleted AFTER DELETE ON chunks FOR EACH ROW EXECUTE FUNCTION chunks_deleted();

CREATE FUNCTION uploads_begun() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used + NEW.reserved WHERE row = NEW.space;
    RETURN NULL;
END $$;
CREATE TRIGGER uploads_begun AFTER INSERT ON uploads FOR EACH ROW EXECUTE FUNCTION uploads_begun();

CREATE FUNCTION uploads_moved_on() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used + NEW.reserved - OLD.reserved WHERE row = NEW.space;
    RETURN NULL;
END $$;
CREATE TRIGGER uploads_moved_on AFTER UPDATE OF reserved ON uploads FOR EACH ROW EXECUTE FUNCTION uploads_moved_on();

CREATE FUNCTION uploads_ended() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used - OLD.reserved WHERE row = OLD.space;
    RETURN NULL;
END $$;
CREATE TRIGGER uploads_ended AFTER DELETE ON uploads FOR EACH ROW EXECUTE FUNCTION uploads_ended();

CREATE FUNCTION log_objects_stored() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used + NEW.size WHERE row = NEW.space;
    RETURN NULL;
END $$;
CREATE TRIGGER log_objects_stored AFTER INSERT ON log_objects FOR EACH ROW EXECUTE FUNCTION log_objects_stored();

CREATE FUNCTION log_objects_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used - OLD.size WHERE row = OLD.space;
    RETURN NULL;
END $$;
CREATE TRIGGER log_objects_deleted AFTER DELETE ON log_objects FOR EACH ROW EXECUTE FUNCTION log_objects_deleted();

CREATE FUNCTION chunks_compared() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM compared_chunks WHERE node = OLD.node AND chunk = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER chunks_compared AFTER DELETE ON chunks FOR EACH ROW EXECUTE FUNCTION chunks_compared();

CREATE FUNCTION nodes_described() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used + octet_length(NEW.description) + coalesce(octet_length(NEW.labels), 0) + coalesce(octet_length(NEW.tags), 0) + greatest(coalesce(length(NEW.seal), 0) - 1024, 0) - octet_length(OLD.description) - coalesce(octet_length(OLD.labels), 0) - coalesce(octet_length(OLD.tags), 0) - greatest(coalesce(length(OLD.seal), 0) - 1024, 0) WHERE row = NEW.space;
    RETURN NULL;
END $$;
CREATE TRIGGER nodes_described AFTER UPDATE OF description, labels, tags, seal ON nodes FOR EACH ROW WHEN (NEW.description IS DISTINCT FROM OLD.description OR NEW.labels IS DISTINCT FROM OLD.labels OR NEW.tags IS DISTINCT FROM OLD.tags OR length(NEW.seal) > 1024 OR length(OLD.seal) > 1024)
    EXECUTE FUNCTION nodes_described();

CREATE FUNCTION nodes_made() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used + length(NEW.seal) - 1024 WHERE row = NEW.space;
    RETURN NULL;
END $$;
CREATE TRIGGER nodes_made AFTER INSERT ON nodes FOR EACH ROW WHEN (length(NEW.seal) > 1024)
    EXECUTE FUNCTION nodes_made();

CREATE FUNCTION folders_made() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET folder_count = folder_count + 1 WHERE row = NEW.space;
    RETURN NULL;
END $$;
CREATE TRIGGER folders_made AFTER INSERT ON nodes FOR EACH ROW WHEN (NEW.kind = 1 AND NEW.state < 2)
    EXECUTE FUNCTION folders_made();

CREATE FUNCTION folders_purged() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET folder_count = folder_count - 1 WHERE row = OLD.space;
    RETURN NULL;
END $$;
CREATE TRIGGER folders_purged AFTER UPDATE OF state ON nodes FOR EACH ROW WHEN (OLD.kind = 1 AND OLD.state < 2 AND NEW.state = 2)
    EXECUTE FUNCTION folders_purged();

CREATE FUNCTION revisions_stored() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used + length(NEW.manifest) + greatest(length(NEW.chunks) - 3584, 0) WHERE row = NEW.space;
    RETURN NULL;
END $$;
CREATE TRIGGER revisions_stored AFTER INSERT ON revisions FOR EACH ROW EXECUTE FUNCTION revisions_stored();

CREATE FUNCTION revisions_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used - length(OLD.manifest) - greatest(length(OLD.chunks) - 3584, 0) WHERE row = OLD.space;
    RETURN NULL;
END $$;
CREATE TRIGGER revisions_deleted AFTER DELETE ON revisions FOR EACH ROW EXECUTE FUNCTION revisions_deleted();

CREATE FUNCTION responses_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO kept_responses (account, bytes) VALUES (NEW.account, length(NEW.body) + length(NEW.headers) + length(NEW.key) + 256) ON CONFLICT (account) DO UPDATE SET bytes = kept_responses.bytes + excluded.bytes;
    RETURN NULL;
END $$;
CREATE TRIGGER responses_kept AFTER INSERT ON idempotency FOR EACH ROW EXECUTE FUNCTION responses_kept();

CREATE FUNCTION responses_forgotten() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE kept_responses SET bytes = bytes - length(OLD.body) - length(OLD.headers) - length(OLD.key) - 256 WHERE account = OLD.account;
    RETURN NULL;
END $$;
CREATE TRIGGER responses_forgotten AFTER DELETE ON idempotency FOR EACH ROW EXECUTE FUNCTION responses_forgotten();

CREATE FUNCTION log_uses_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE log_objects SET uses = uses + 1 WHERE space = NEW.space AND id = NEW.id AND named_at IS NOT NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER log_uses_added AFTER INSERT ON log_uses FOR EACH ROW EXECUTE FUNCTION log_uses_added();

CREATE FUNCTION log_uses_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE log_objects SET uses = uses - 1 WHERE space = OLD.space AND id = OLD.id AND named_at IS NOT NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER log_uses_removed AFTER DELETE ON log_uses FOR EACH ROW EXECUTE FUNCTION log_uses_removed();

CREATE FUNCTION log_items_stored() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used + coalesce(length(NEW.body), 0) + 160 WHERE row = NEW.space;
    RETURN NULL;
END $$;
CREATE TRIGGER log_items_stored AFTER INSERT ON log_items FOR EACH ROW EXECUTE FUNCTION log_items_stored();

CREATE FUNCTION log_items_pruned() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used + coalesce(length(NEW.body), 0) - coalesce(length(OLD.body), 0) WHERE row = NEW.space;
    RETURN NULL;
END $$;
CREATE TRIGGER log_items_pruned AFTER UPDATE OF body ON log_items FOR EACH ROW EXECUTE FUNCTION log_items_pruned();

CREATE FUNCTION log_items_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used - coalesce(length(OLD.body), 0) - 160 WHERE row = OLD.space;
    RETURN NULL;
END $$;
CREATE TRIGGER log_items_deleted AFTER DELETE ON log_items FOR EACH ROW EXECUTE FUNCTION log_items_deleted();

CREATE FUNCTION log_leaves_stored() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used + length(NEW.leaf) + 160 WHERE row = NEW.space;
    RETURN NULL;
END $$;
CREATE TRIGGER log_leaves_stored AFTER INSERT ON log_leaves FOR EACH ROW EXECUTE FUNCTION log_leaves_stored();

CREATE FUNCTION log_leaves_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used - length(OLD.leaf) - 160 WHERE row = OLD.space;
    RETURN NULL;
END $$;
CREATE TRIGGER log_leaves_deleted AFTER DELETE ON log_leaves FOR EACH ROW EXECUTE FUNCTION log_leaves_deleted();

CREATE FUNCTION log_uses_stored() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used + 100 WHERE row = NEW.space;
    RETURN NULL;
END $$;
CREATE TRIGGER log_uses_stored AFTER INSERT ON log_uses FOR EACH ROW EXECUTE FUNCTION log_uses_stored();

CREATE FUNCTION log_uses_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE spaces SET storage_used = storage_used - 100 WHERE row = OLD.space;
    RETURN NULL;
END $$;
CREATE TRIGGER log_uses_deleted AFTER DELETE ON log_uses FOR EACH ROW EXECUTE FUNCTION log_uses_deleted();
