//! Named pipes.
//!
//! The default access list of a pipe lets only this user, administrators and the system write. The name can't
//! be predicted: it has a random part, and is stored in a file of the home (the installation's directory),
//! which other users can't read. A client also checks that the process at the other end is the one that holds
//! the home's lock, because the names of existing pipes are public.

use crate::atomic_write::{FileMode, write_atomic};
use crate::{DaemonLock, Home};
use interprocess::local_socket::tokio::prelude::*;
use interprocess::local_socket::{GenericNamespaced, ListenerOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};

pub(super) type Stream = interprocess::local_socket::tokio::Stream;

#[derive(Debug)]
pub(super) struct Listener {
    listener: interprocess::local_socket::tokio::Listener,
    /// The file with the name of the pipe.
    file: PathBuf,
    name: String,
}

impl Listener {
    /// Listens at a new pipe; the lock of the home keeps out a second daemon.
    pub(super) fn bind(path: &Path) -> io::Result<Self> {
        let dir = path.parent().unwrap_or(path);
        // The keys of the standard library's hasher come from the system's random generator.
        let random = RandomState::new().hash_one(std::process::id());
        let name = format!("cairn-{}-{random:016x}", Home::at(dir).tag());
        let listener = ListenerOptions::new()
            .name(name.as_str().to_ns_name::<GenericNamespaced>()?)
            .create_tokio()?;
        write_atomic(path, name.as_bytes(), FileMode::Private)?;
        Ok(Self {
            listener,
            file: path.to_path_buf(),
            name,
        })
    }

    pub(super) async fn accept(&self) -> io::Result<Option<Stream>> {
        self.listener.accept().await.map(Some)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let is_ours = std::fs::read_to_string(&self.file).is_ok_and(|name| name == self.name);
        if is_ours {
            // A file that stays is replaced by the next daemon.
            let _ = std::fs::remove_file(&self.file);
        }
    }
}

pub(super) async fn connect(path: &Path) -> io::Result<Stream> {
    let name = std::fs::read_to_string(path)?;
    let stream = Stream::connect(name.to_ns_name::<GenericNamespaced>()?).await?;
    // Secrets are sent over it: another user's pipe under our name must not get them.
    let peer = stream.peer_creds()?.pid();
    let lock = path.with_file_name("daemon.lock");
    let holder = DaemonLock::holder(&lock).map_err(|e| io::Error::other(e.to_string()))?;
    let daemon = holder.and_then(|holder| holder.pid);
    if daemon.is_some() && daemon == peer {
        return Ok(stream);
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        "the process that listens there is not the daemon of this home",
    ))
}
