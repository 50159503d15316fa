-- What administrators decided about a report, and what they wrote to who made it.
ALTER TABLE reports ADD COLUMN answer text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE reports ADD COLUMN answered_at bigint;

CREATE INDEX reports_open ON reports (created_at) WHERE answered_at IS NULL;
