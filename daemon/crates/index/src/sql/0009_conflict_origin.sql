-- Whether a conflict copy is known to have been made on this device: of those that were, a node was noted.
ALTER TABLE conflicts ADD COLUMN made_here INTEGER NOT NULL DEFAULT 0;
UPDATE conflicts SET made_here = 1 WHERE node IS NOT NULL;
-- The revision of the node that both versions were made from; NULL where that is not known.
ALTER TABLE conflicts ADD COLUMN base BLOB;
