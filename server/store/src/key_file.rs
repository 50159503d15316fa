//! `records.key`: the key that seals records (secrets in the database), in a file of its own beside it.
//!
//! One key stands in a line. While the key is being replaced there are two: the new one, which seals, and the old
//! one, which still opens what was not sealed anew yet. The file is always replaced as a whole.

use crate::error::{Error, Result};
use crate::private_files;
use crate::source::Source;
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

pub(crate) const KEY_FILE: &str = "records.key";
const LOCK_FILE: &str = "records.lock";

pub(super) type Key = [u8; 32];

fn io(what: &str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let what = format!("can't {what} {}", path.display());
    move |source| Error::Io { what, source }
}

/// Takes the lock under which the keys stay as they are: whoever seals with one holds it.
///
/// # Errors
/// [`Error::Config`] while the key is being replaced.
pub(super) fn lock_shared(data: &Path) -> Result<File> {
    lock(data, File::try_lock_shared, |path| {
        format!(
            "{} is being replaced by `cairn-server keys rotate`; try again when that has ended",
            path.display()
        )
    })
}

/// Takes the lock under which the keys can be replaced: nobody seals with one meanwhile.
///
/// # Errors
/// [`Error::Config`] while somebody does.
pub(super) fn lock_exclusive(data: &Path) -> Result<File> {
    lock(data, File::try_lock, |path| {
        format!(
            "a server or another command uses {}: stop the server, let the others end, and try again. Nothing was \
             changed",
            path.display()
        )
    })
}

fn lock(
    data: &Path,
    take: impl FnOnce(&File) -> std::result::Result<(), TryLockError>,
    held: impl FnOnce(&Path) -> String,
) -> Result<File> {
    let path = data.join(LOCK_FILE);
    let file = private_files::open_lock(&path).map_err(io("open", &path))?;
    match take(&file) {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Config(held(&data.join(KEY_FILE)))),
        Err(TryLockError::Error(error)) => Err(io("lock", &path)(error)),
    }
}

/// Reads the keys under `data`, or makes the first one if nothing was sealed yet.
///
/// # Errors
/// [`Error::Io`] and, for a file that is missing or holds no key, [`Error::Config`].
pub(super) fn read_or_make(data: &Path, source: &Source, has_sealed: bool) -> Result<Vec<Key>> {
    let path = data.join(KEY_FILE);
    if path.exists() {
        // It may have been copied here under a loose umask.
        private_files::keep_private(&path)?;
        return read(data);
    }
    if has_sealed {
        return Err(missing_key_error(&path));
    }
    let key: Key = source.bytes();
    let fresh = write_beside(data, source, &[key])?;
    // A name that is not there yet, so that of two who begin at once one finds the other's key.
    let named = std::fs::hard_link(&fresh, &path);
    std::fs::remove_file(&fresh).map_err(io("clean up beside", &path))?;
    match named {
        Ok(()) => Ok(vec![key]),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => read(data),
        Err(error) => Err(io("make", &path)(error)),
    }
}

/// Replaces the keys by others, the one that seals first. A crash leaves these or those.
pub(super) fn replace(data: &Path, source: &Source, keys: &[Key]) -> Result<()> {
    let path = data.join(KEY_FILE);
    let fresh = write_beside(data, source, keys)?;
    std::fs::rename(&fresh, &path).map_err(io("replace", &path))?;
    private_files::sync_dir(data).map_err(io("write", data))
}

/// Removes what a crash left beside the file: it holds a key. Only for whoever has the exclusive lock.
pub(super) fn remove_leftovers(data: &Path) -> Result<()> {
    for entry in std::fs::read_dir(data).map_err(io("read", data))? {
        let name = entry.map_err(io("read", data))?.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("records.") && name.ends_with(".tmp") {
            let path = data.join(&*name);
            std::fs::remove_file(&path).map_err(io("remove", &path))?;
        }
    }
    Ok(())
}

/// Writes keys into a new file and returns its path: whole and on the disk before it gets its name.
fn write_beside(data: &Path, source: &Source, keys: &[Key]) -> Result<PathBuf> {
    let path = data.join(KEY_FILE);
    let fresh = path.with_extension(format!("{}.tmp", source.nonce()));
    let lines: Vec<String> = keys.iter().map(hex::encode).collect();
    private_files::create_new()
        .open(&fresh)
        .and_then(|mut file| {
            file.write_all(lines.join("\n").as_bytes())?;
            file.sync_all()
        })
        .map_err(io("write", &path))?;
    Ok(fresh)
}

/// A new key would open nothing, and hide that the old one is to be found.
fn missing_key_error(path: &Path) -> Error {
    Error::Config(format!(
        "{} is missing, and the database beside it has records that only this key opens: webhook secrets, \
         secrets of second factors and the keys that sign tokens. Restore the file from a backup (`cairn-server \
         backup` puts it beside the copy of the database); nothing was changed",
        path.display()
    ))
}

/// Reads the keys, the one that seals first.
///
/// # Errors
/// [`Error::Config`] for a file that holds none, or anything else.
pub(super) fn read(data: &Path) -> Result<Vec<Key>> {
    let path = data.join(KEY_FILE);
    let text = std::fs::read_to_string(&path).map_err(io("read", &path))?;
    let keys: Option<Vec<Key>> = text
        .split_whitespace()
        .map(|line| {
            let mut key = Key::default();
            hex::decode_to_slice(line, &mut key).ok().map(|()| key)
        })
        .collect();
    keys.filter(|keys| !keys.is_empty()).ok_or_else(|| {
        Error::Config(format!(
            "{} holds no key of 64 hexadecimal digits; restore it from a backup, or remove it: webhook \
             secrets and waiting deliveries are lost then",
            path.display()
        ))
    })
}
