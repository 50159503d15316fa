//! Replaces a small file in one step: a crash leaves the old content or the new one, never a part.

use crate::disk::in_context;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The permissions of a file that [`write_atomic`] writes. Without effect on Windows, where a file
/// gets the access list of its directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileMode {
    /// 0600: only the owner reads and writes.
    Private,
    /// The mode of the file that is replaced; for a new file 0666 without the umask.
    Inherit,
}

/// Writes `bytes` to a temporary file beside `path`, flushes it to the medium, and renames it over
/// `path`; on Unix the new name is flushed too. The directory must exist. If `path` is a symbolic
/// link, the file that it points to is replaced.
///
/// # Errors
/// Returns the error of the file system, with the path; the old file is untouched then.
pub fn write_atomic(path: &Path, bytes: &[u8], mode: FileMode) -> io::Result<()> {
    replace_file(path, bytes, mode).map_err(|e| in_context("write", path, e))
}

/// Does the same for callers that add the path to the error themselves.
pub(crate) fn replace_file(path: &Path, bytes: &[u8], mode: FileMode) -> io::Result<()> {
    replace(&resolve(path)?, bytes, mode)
}

/// Follows a symbolic link, so that the link survives; its target may not exist yet.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => {
            let target = std::fs::read_link(path)?;
            let target = directory(path).join(target);
            match std::fs::canonicalize(&target) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(target),
                result => result,
            }
        }
        Ok(_) => Ok(path.to_path_buf()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(path.to_path_buf()),
        Err(e) => Err(e),
    }
}

fn replace(path: &Path, bytes: &[u8], mode: FileMode) -> io::Result<()> {
    let dir = directory(path);
    let mut file = temporary_file(dir, path, mode)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    #[cfg(unix)]
    std::fs::File::open(dir)?.sync_all()?;
    Ok(())
}

/// The directory of a path; the current one for a bare name.
fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    }
}

#[cfg(unix)]
fn temporary_file(dir: &Path, path: &Path, mode: FileMode) -> io::Result<tempfile::NamedTempFile> {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;
    let mut builder = tempfile::Builder::new();
    match mode {
        FileMode::Private => builder.tempfile_in(dir),
        FileMode::Inherit => match std::fs::metadata(path) {
            Ok(old) => {
                let file = builder.tempfile_in(dir)?;
                file.as_file().set_permissions(old.permissions())?;
                Ok(file)
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                // The umask applies to these permissions.
                builder
                    .permissions(Permissions::from_mode(0o666))
                    .tempfile_in(dir)
            }
            Err(e) => Err(e),
        },
    }
}

#[cfg(not(unix))]
fn temporary_file(dir: &Path, _: &Path, _: FileMode) -> io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_made_and_replaced_and_nothing_else_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        write_atomic(&path, b"one", FileMode::Private).unwrap();
        write_atomic(&path, b"two", FileMode::Inherit).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_directory_is_an_error_that_names_the_path() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("missing/settings.json");
        let error = write_atomic(&path, b"x", FileMode::Private).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("settings.json"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn the_mode_is_private_or_that_of_the_old_file() {
        use std::fs::Permissions;
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
        write_atomic(&path, b"1", FileMode::Inherit).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        write_atomic(&path, b"2", FileMode::Inherit).unwrap();
        assert_eq!(mode(), 0o640);
        write_atomic(&path, b"3", FileMode::Private).unwrap();
        assert_eq!(mode(), 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_stays_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        std::os::unix::fs::symlink("real", &link).unwrap();
        for text in ["one", "two"] {
            write_atomic(&link, text.as_bytes(), FileMode::Inherit).unwrap();
            assert_eq!(std::fs::read_to_string(&real).unwrap(), text);
        }
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
