-- The highest number of an earlier revision of the node, of those whose manifests were opened; 0: none.
ALTER TABLE remote ADD COLUMN number_before INTEGER NOT NULL DEFAULT 0;
