//! Unix sockets, guarded by the modes of file and directory and by the peer's user id.

use crate::dirs::{create_private, user_id};
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use tokio::net::{UnixListener, UnixStream};

pub(super) type Stream = UnixStream;

#[derive(Debug)]
pub(super) struct Listener {
    listener: UnixListener,
    path: PathBuf,
    /// Distinguishes the file of this listener from a later one.
    inode: u64,
}

impl Listener {
    pub(super) fn bind(path: &Path) -> io::Result<Self> {
        let dir = path.parent().unwrap_or(Path::new("."));
        create_private(dir)?;
        check_dir(dir)?;
        remove_stale(path)?;
        let listener = UnixListener::bind(path)?;
        std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
        Ok(Self {
            listener,
            path: path.to_path_buf(),
            inode: std::fs::symlink_metadata(path)?.ino(),
        })
    }

    /// Returns `None` for a connection by another user, which was closed.
    pub(super) async fn accept(&self) -> io::Result<Option<Stream>> {
        let (stream, _) = self.listener.accept().await?;
        let peer = stream.peer_cred()?.uid();
        if peer == user_id() || peer == 0 {
            return Ok(Some(stream));
        }
        tracing::warn!(peer, "disconnected another user's process");
        Ok(None)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let ours = std::fs::symlink_metadata(&self.path).is_ok_and(|m| m.ino() == self.inode);
        if ours {
            // A file that stays is replaced by the next daemon.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

pub(super) async fn connect(path: &Path) -> io::Result<Stream> {
    let stream = UnixStream::connect(path).await?;
    // Secrets go through here: somebody else's socket under our name must not get them.
    let peer = stream.peer_cred()?.uid();
    if peer == user_id() || peer == 0 || user_id() == 0 {
        return Ok(stream);
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!("a process of another user (id {peer}) listens there"),
    ))
}

fn check_dir(dir: &Path) -> io::Result<()> {
    let found = std::fs::symlink_metadata(dir)?;
    let (owner, mode) = (found.uid(), found.mode() & 0o777);
    if owner != user_id() {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("{} belongs to another user (id {owner})", dir.display()),
        ));
    }
    if mode & 0o022 != 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!(
                "other users can write to {} (mode {mode:o}); run `chmod go-w` on it",
                dir.display()
            ),
        ));
    }
    Ok(())
}

fn remove_stale(path: &Path) -> io::Result<()> {
    match std::os::unix::net::UnixStream::connect(path) {
        Ok(_) => Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "another daemon listens there",
        )),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(_) => std::fs::remove_file(path),
    }
}
