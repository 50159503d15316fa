-- The file or folder that a download was begun of, which its token is good for; NULL for all of the link's.
ALTER TABLE share_visits ADD COLUMN node BLOB;
