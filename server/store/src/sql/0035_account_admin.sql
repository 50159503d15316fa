-- An account that the administrator has switched off; its data stays.
ALTER TABLE accounts ADD COLUMN disabled_at INTEGER;
