-- Contents are sealed under keys that follow from their nodes: none comes from the service.
ALTER TABLE remote DROP COLUMN content_key;
