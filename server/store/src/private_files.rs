//! Files and directories that only the server's own user may read: the one place of the server that
//! differs between systems in this. On a system without modes the rights of the directory above decide.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Makes a directory, and those above it, for the server's user alone. One that exists stays as it is.
///
/// # Errors
/// The error of the system.
pub fn create_dir(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Makes a directory for the server's user alone, and closes one that is there to others.
pub(crate) fn close_dir(path: &Path) -> io::Result<()> {
    create_dir(path)?;
    #[cfg(unix)]
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    Ok(())
}

/// Returns the options to make a new file, for the server's user alone, and to write to it.
pub(crate) fn create_new() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Opens the file of a lock, which is made for the server's user alone if it is missing.
///
/// # Errors
/// The error of the system.
pub fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Keeps a file that exists from other users of the machine.
#[cfg(unix)]
pub(crate) fn restrict(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
}

/// Keeps a file that exists from other users of the machine: its directory does.
#[cfg(not(unix))]
pub(crate) fn restrict(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Makes the names in a directory outlast a power failure.
#[cfg(unix)]
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Makes the names in a directory outlast a power failure: the file system does.
#[cfg(not(unix))]
pub(crate) fn sync_dir(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    fn mode(path: &Path) -> Option<u32> {
        Some(path.metadata().ok()?.permissions().mode() & 0o777)
    }

    #[test]
    fn only_the_owner_may_read() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("a/b");
        create_dir(&inner).unwrap();
        assert_eq!(
            (mode(&inner), mode(&dir.path().join("a"))),
            (Some(0o700), Some(0o700))
        );
        let file = inner.join("f");
        create_new().open(&file).unwrap().write_all(b"x").unwrap();
        assert_eq!(mode(&file), Some(0o600));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        restrict(&file).unwrap();
        assert_eq!(mode(&file), Some(0o600));
        std::fs::set_permissions(&inner, std::fs::Permissions::from_mode(0o755)).unwrap();
        close_dir(&inner).unwrap();
        assert_eq!(mode(&inner), Some(0o700));
    }
}

/// Keeps a file from other users of the machine. SQLite makes its log and index with the same mode.
pub(crate) fn keep_private(path: &Path) -> crate::Result<()> {
    restrict(path).map_err(|source| crate::Error::Io {
        what: format!("can't restrict the access to {}", path.display()),
        source,
    })
}
