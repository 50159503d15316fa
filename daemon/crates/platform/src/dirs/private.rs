//! Closes an installation's directories and files to other users.
//!
//! A home (the directory of an installation) that was made by hand, by an older version, or under a loose umask may
//! be open to them, and the index has the names of all files.

use super::Home;
use super::own_files::is_own_file;
use crate::disk::in_context;
use std::fs::{DirEntry, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The bits of a mode that concern other users.
const OTHERS: u32 = 0o077;
/// On a directory: shared by several users, such as `/tmp`.
const STICKY: u32 = 0o1000;

/// Takes all permissions on the home from other users.
///
/// Only directories and files that this user owns are changed; links are not followed. The secrets stay as they are:
/// who reads them refuses a file that others could read, until the person has replaced what they may know. A directory
/// that has another purpose too (the user's own, or one shared by several users) stays as it is. A file
/// system that has no modes is no reason to fail.
pub(super) fn close(home: &Home) -> io::Result<()> {
    for dir in [&home.config, &home.data, &home.logs_dir()] {
        let found = std::fs::symlink_metadata(dir).map_err(|e| in_context("read", dir, e))?;
        if found.is_dir() && !has_other_purpose(dir, &found) {
            close_one(dir, &found);
        }
    }
    for file in files(home)? {
        match std::fs::symlink_metadata(&file) {
            Ok(found) if found.is_file() => close_one(&file, &found),
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(in_context("read", &file, e)),
        }
    }
    Ok(())
}

pub(super) fn has_other_purpose(dir: &Path, found: &Metadata) -> bool {
    let is_user_home = super::user_home().is_some_and(|home| home == dir);
    is_user_home || dir.parent().is_none() || found.mode() & STICKY != 0
}

fn close_one(path: &Path, found: &Metadata) {
    let mode = found.mode() & 0o7777;
    if mode & OTHERS == 0 || found.uid() != super::user_id() {
        return;
    }
    let closed = Permissions::from_mode(mode & !OTHERS);
    if let Err(error) = std::fs::set_permissions(path, closed) {
        tracing::warn!(path = %path.display(), %error, "other users may read it");
    }
}

/// The files of a home by name: a directory that was chosen with `--home` may have others too.
fn files(home: &Home) -> io::Result<Vec<PathBuf>> {
    let mut files = vec![home.config_file()];
    let own = list(&home.data)?.filter(|entry| entry.file_name().to_str().is_some_and(is_own_file));
    let secrets = home.secrets_file();
    files.extend(
        own.map(|entry| entry.path())
            .filter(|path| *path != secrets),
    );
    files.extend(list(&home.logs_dir())?.map(|entry| entry.path()));
    Ok(files)
}

fn list(dir: &Path) -> io::Result<impl Iterator<Item = DirEntry>> {
    let found = std::fs::read_dir(dir).map_err(|e| in_context("list", dir, e))?;
    Ok(found.flatten())
}
