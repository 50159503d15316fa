-- Chunks that no revision uses are few, and looked for every few minutes.
CREATE INDEX chunks_unused ON chunks (node) WHERE refs <= 0;
