-- The files that have chunks of another one, by that one: whose damage is theirs.
CREATE INDEX borrowed_holder ON borrowed (holder);
