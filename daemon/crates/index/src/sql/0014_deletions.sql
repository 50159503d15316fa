-- The side on which a node would be deleted ('local' or 'remote') while a person decides about it: the decision is
-- about these and no others.
ALTER TABLE synced ADD COLUMN deletion_waits TEXT;
CREATE INDEX synced_deletion_waits ON synced(folder, deletion_waits) WHERE deletion_waits IS NOT NULL;
-- `deletion_agreed` now stands for a decision on this device as well, so that it ends with the deletion itself.
CREATE INDEX synced_deletion_agreed ON synced(folder) WHERE deletion_agreed = 1;
UPDATE synced SET deletion_waits = 'remote'
    WHERE folder IN (SELECT folder FROM questions WHERE side = 'remote' AND answer = 'asked')
    AND NOT EXISTS (SELECT 1 FROM local l WHERE l.id = synced.local);
UPDATE synced SET deletion_waits = 'local'
    WHERE folder IN (SELECT folder FROM questions WHERE side = 'local' AND answer = 'asked')
    AND deletion_agreed = 0 AND NOT EXISTS (SELECT 1 FROM remote r WHERE r.node = synced.node);
UPDATE synced SET deletion_agreed = 1
    WHERE folder IN (SELECT folder FROM questions WHERE side = 'remote' AND answer = 'agreed')
    AND NOT EXISTS (SELECT 1 FROM local l WHERE l.id = synced.local);
UPDATE synced SET deletion_agreed = 1
    WHERE folder IN (SELECT folder FROM questions WHERE side = 'local' AND answer = 'agreed')
    AND NOT EXISTS (SELECT 1 FROM remote r WHERE r.node = synced.node);
DELETE FROM questions WHERE answer = 'agreed';
