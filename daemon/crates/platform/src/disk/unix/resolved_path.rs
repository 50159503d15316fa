//! A path, resolved as far as its last component, without leaving the folder it lies in.

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// A path, split into a directory that is open already and what is resolved from there.
pub(in crate::disk) struct ResolvedPath<'a> {
    dir: Option<OwnedFd>,
    name: &'a Path,
    path: &'a Path,
}

impl<'a> ResolvedPath<'a> {
    /// Resolves a path; below `root`, opens the parent without passing through a symbolic link.
    pub(in crate::disk) fn new(path: &'a Path, root: Option<&Path>) -> io::Result<Self> {
        let guarded = root.and_then(|root| {
            let parent = path.strip_prefix(root).ok()?.parent()?;
            Some((root, parent, Path::new(path.file_name()?)))
        });
        let Some((root, parent, name)) = guarded else {
            return Ok(Self {
                dir: None,
                name: path,
                path,
            });
        };
        let mut dir = rustix::fs::open(root, DIR_HANDLE, Mode::empty())?;
        if !parent.as_os_str().is_empty() {
            dir = open_below(&dir, parent)?;
        }
        Ok(Self {
            dir: Some(dir),
            name,
            path,
        })
    }

    /// The directory from which [`ResolvedPath::name`] is resolved.
    pub(in crate::disk) fn dir(&self) -> BorrowedFd<'_> {
        self.dir.as_ref().map_or(CWD, AsFd::as_fd)
    }

    pub(in crate::disk) fn name(&self) -> &Path {
        self.name
    }

    /// The last component, for comparing spellings.
    pub(in crate::disk) fn last(&self) -> Option<&OsStr> {
        self.name.file_name()
    }

    /// The whole path, for messages.
    pub(in crate::disk) fn path(&self) -> &Path {
        self.path
    }

    /// Returns the directory that contains it.
    pub(in crate::disk) fn parent(&self) -> io::Result<ResolvedPath<'_>> {
        let dir = self.dir.as_ref().map(OwnedFd::try_clone).transpose()?;
        let parent = match self.name.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        Ok(ResolvedPath {
            dir,
            name: parent,
            path: self.path.parent().unwrap_or(parent),
        })
    }

    /// The same directory with another last component.
    pub(in crate::disk) fn sibling(&self, last: &OsStr) -> io::Result<(Option<OwnedFd>, PathBuf)> {
        let dir = self.dir.as_ref().map(OwnedFd::try_clone).transpose()?;
        Ok((dir, self.name.with_file_name(last)))
    }
}

#[cfg(target_os = "linux")]
const DIR_HANDLE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const DIR_HANDLE: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

#[cfg(target_os = "linux")]
fn open_below(root: &OwnedFd, parent: &Path) -> io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    match openat2(
        root,
        parent,
        DIR_HANDLE,
        Mode::empty(),
        ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS,
    ) {
        Err(Errno::LOOP) => Err(not_a_directory()),
        // Kernels before 5.6, and sandboxes that don't know the call.
        Err(Errno::NOSYS | Errno::PERM) => open_step_by_step(root, parent),
        result => Ok(result?),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_below(root: &OwnedFd, parent: &Path) -> io::Result<OwnedFd> {
    open_step_by_step(root, parent)
}

fn open_step_by_step(root: &OwnedFd, parent: &Path) -> io::Result<OwnedFd> {
    let mut dir = root.try_clone()?;
    for name in parent {
        let flags = DIR_HANDLE | OFlags::NOFOLLOW;
        dir = rustix::fs::openat(&dir, name, flags, Mode::empty()).map_err(loop_is_no_directory)?;
    }
    Ok(dir)
}

pub(super) fn not_a_directory() -> io::Error {
    io::Error::new(
        io::ErrorKind::NotADirectory,
        "a symbolic link is in the place of a directory; links are not followed",
    )
}

pub(super) fn loop_is_no_directory(errno: Errno) -> io::Error {
    if errno == Errno::LOOP {
        not_a_directory()
    } else {
        errno.into()
    }
}
