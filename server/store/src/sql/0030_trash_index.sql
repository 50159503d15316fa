-- What went into the trash with a folder is found by its folder, not by reading all of it.
CREATE INDEX nodes_trash_children ON nodes (trash_root, parent) WHERE trash_root IS NOT NULL;
DROP INDEX nodes_trash;

-- These were stored unsealed; new ones are made, sealed, at the next start.
DELETE FROM settings WHERE key IN ('token_key', 'form_key', 'billing_key');
