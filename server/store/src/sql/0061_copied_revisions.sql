-- The revisions whose content is that of another one: what is read of each node beside its own row.
CREATE UNIQUE INDEX revisions_copied ON revisions (id) WHERE source_node IS NOT NULL;
