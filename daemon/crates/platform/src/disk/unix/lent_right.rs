//! The right to write in a directory, which its owner lends themselves: they may take it at any time, and what they do
//! by hand needs the same two steps.

use super::ResolvedPath;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;

/// Tries a move of a directory again that was refused, with the right to write in it: to move it to another directory
/// changes its entry `..`. It has its former mode afterwards.
pub(in crate::disk) fn move_lent(
    dir: &ResolvedPath<'_>,
    refused: io::Error,
    again: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    if refused.raw_os_error() != Some(Errno::ACCESS.raw_os_error()) {
        return Err(refused);
    }
    let Ok(Some((opened, former))) = lend(dir) else {
        return Err(refused);
    };
    let moved = again();
    // By its handle: its path is another one by now. Where this fails it stays writable, and has moved all the same.
    let _ = rustix::fs::fchmod(&opened, former);
    moved
}

/// Gives the owner of a directory the right to write in it.
pub(in crate::disk) fn make_writable(dir: &ResolvedPath<'_>) -> io::Result<()> {
    lend(dir).map(drop)
}

/// Adds the right to write to a directory. Returns its handle and its former mode; `None` if it has the right.
fn lend(dir: &ResolvedPath<'_>) -> io::Result<Option<(File, Mode)>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = File::from(rustix::fs::openat(
        dir.dir(),
        dir.name(),
        flags,
        Mode::empty(),
    )?);
    let former = Mode::from_raw_mode(rustix::fs::fstat(&opened)?.st_mode);
    if former.contains(Mode::WUSR) {
        return Ok(None);
    }
    rustix::fs::fchmod(&opened, former | Mode::WUSR)?;
    Ok(Some((opened, former)))
}
