-- The chunks of an object: looked for by checks, by compaction, and for each object that is deleted.
CREATE INDEX chunks_object ON chunks (object);
