-- Places that this device has sent, of folders to be made and of nodes to be moved, until it is known what
-- became of them: what the service has of them is nobody else's change, even when the response was lost.
CREATE TABLE sent_places (
    -- In the order in which they were sent.
    id      INTEGER PRIMARY KEY,
    node    BLOB NOT NULL,
    folder  INTEGER NOT NULL REFERENCES folders(id) ON DELETE CASCADE,
    local   INTEGER NOT NULL,
    -- The node is a new folder.
    creates INTEGER NOT NULL,
    parent  BLOB NOT NULL,
    name    TEXT NOT NULL,
    -- Of the node, once it has the place.
    version INTEGER NOT NULL,
    UNIQUE (node, folder, version, parent, name)
);
CREATE INDEX sent_places_folder ON sent_places(folder);
CREATE INDEX sent_places_local ON sent_places(local);
