-- The head of a content in sync: 0 short, 1 structured, 2 noise; NULL: not looked at yet.
ALTER TABLE synced ADD COLUMN head INTEGER;
-- 1: overwriting it on the service waits for a person; 2: a person has agreed to it.
ALTER TABLE synced ADD COLUMN overwrite INTEGER;
CREATE INDEX synced_overwrite ON synced(folder, overwrite) WHERE overwrite IS NOT NULL;
-- Shorter contents say nothing.
CREATE INDEX synced_head_unknown ON synced(folder, node) WHERE head IS NULL AND kind = 0 AND size >= 256;
