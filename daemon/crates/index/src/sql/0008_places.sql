-- Where nodes were before they were moved or renamed: the service knows only where they are.
CREATE TABLE past_places (
    id     INTEGER PRIMARY KEY,
    node   BLOB NOT NULL,
    parent BLOB NOT NULL,
    name   TEXT NOT NULL,
    until  INTEGER NOT NULL
);
CREATE INDEX past_places_node ON past_places(node, until);
-- The time of a node's latest change, as the service has it; NULL where an older Cairn recorded the node.
ALTER TABLE remote ADD COLUMN changed INTEGER;
