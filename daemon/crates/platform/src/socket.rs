//! The local socket between the daemon and its clients: a Unix socket, or a named pipe on Windows.
//!
//! Only processes of the same user get through. Knows nothing of the messages.

#[cfg(test)]
mod tests;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as sys;
#[cfg(windows)]
use windows as sys;

use crate::disk::in_context;
use std::io;
use std::path::{Path, PathBuf};

/// One connection; implements `AsyncRead` and `AsyncWrite`.
pub type Stream = sys::Stream;

/// The daemon's end; removes the file of the socket when dropped.
#[derive(Debug)]
pub struct Listener {
    sys: sys::Listener,
    path: PathBuf,
}

impl Listener {
    /// Listens at `path` (see [`crate::Home::socket_path`]), in place of a socket that a daemon left
    /// behind when it was killed. Needs a tokio runtime around it.
    ///
    /// # Errors
    /// `AddrInUse` if a daemon listens there, `PermissionDenied` if the directory belongs to or is
    /// writable for somebody else, or the system's.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let sys = sys::Listener::bind(path).map_err(|e| in_context("listen at", path, e))?;
        Ok(Self {
            sys,
            path: path.to_path_buf(),
        })
    }

    /// Waits for the next connection by a process of the same user; others are disconnected.
    ///
    /// # Errors
    /// Returns the error of the system; the listener can be used again after it.
    pub async fn accept(&self) -> io::Result<Stream> {
        loop {
            let accepted = self.sys.accept().await;
            if let Some(stream) = accepted.map_err(|e| in_context("accept at", &self.path, e))? {
                return Ok(stream);
            }
        }
    }
}

/// Connects to the daemon that listens at `path`.
///
/// # Errors
/// `NotFound` or `ConnectionRefused` if no daemon listens, `PermissionDenied` if the one that does
/// belongs to another user, or the system's.
pub async fn connect(path: &Path) -> io::Result<Stream> {
    sys::connect(path)
        .await
        .map_err(|e| in_context("connect to the daemon at", path, e))
}
