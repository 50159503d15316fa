-- The latest request that named the device.
ALTER TABLE devices ADD COLUMN seen_at INTEGER;
-- A removed device is listed again if it is seen later: then it uses a credential that did not end.
ALTER TABLE devices ADD COLUMN removed_at INTEGER;
-- The device that uses the login.
ALTER TABLE grants ADD COLUMN device BLOB;
