-- A space that goes, and a member who leaves, look for the uploads of the space.
CREATE INDEX uploads_space ON uploads (space);
