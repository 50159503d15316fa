//! `server.lock`: the lock of a data directory that its server holds while it runs.

use crate::error::{Error, Result};
use crate::private_files;
use std::fs::{File, TryLockError};
use std::path::Path;

const LOCK_FILE: &str = "server.lock";

/// Takes the lock of a data directory; `None` while a server has it. It is held until the file is dropped.
///
/// # Errors
/// [`Error::Io`].
pub fn lock_server(data: &Path) -> Result<Option<File>> {
    let path = data.join(LOCK_FILE);
    let io = |source| Error::Io {
        what: format!("can't lock {}", path.display()),
        source,
    };
    let file = private_files::open_lock(&path).map_err(io)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(io(source)),
    }
}
