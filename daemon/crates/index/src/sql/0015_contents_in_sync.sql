-- A new large file with a content that is in sync is made of what the service and this disk have.
CREATE INDEX synced_content ON synced(size, hash) WHERE size > 262144 AND hash IS NOT NULL;
