-- Whether a revision was sent as a node of its own. Only such a node may be sent once more as a new one: that of
-- an edit exists already, and may be in the trash.
ALTER TABLE sent ADD COLUMN creates INTEGER NOT NULL DEFAULT 0;
UPDATE sent SET creates = 1 WHERE node NOT IN (SELECT node FROM synced);
