-- Two disks may have one device number, and their roots one inode.
ALTER TABLE folders ADD COLUMN root_birth INTEGER;
