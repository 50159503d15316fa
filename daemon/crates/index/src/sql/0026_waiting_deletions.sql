-- Whether a change that waits for a person is a deletion; null where an older Cairn recorded it.
ALTER TABLE unaccepted ADD COLUMN deleted INTEGER;
