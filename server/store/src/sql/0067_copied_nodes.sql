-- The node that a copy was made of by the server, to know a repeated request.
ALTER TABLE nodes ADD COLUMN copied_from BLOB;
