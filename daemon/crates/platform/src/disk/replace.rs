//! Renames that never lose a file that another program puts in the way.
//!
//! Putting a new version in place swaps the two files and then looks at what was swapped out: an edit
//! that came between the last check and the swap is found there and put back. If the file system can't
//! swap, a hard link (or a copy) keeps the old file instead.

use super::unix::{ResolvedPath, list, move_lent, stat, stat_at};
use super::{Expect, FileKind, Stat, StatKey, TargetChanged, attributes};
use cairn_model::name::search_key;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;

/// A point inside [`replace`] at which tests act as the other program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Point {
    /// The target was checked; the swap comes next.
    Checked,
    /// The new file is at the target; what was displaced hasn't been looked at.
    Swapped,
}

pub(super) fn replace(
    temp: &ResolvedPath<'_>,
    target: &ResolvedPath<'_>,
    expect: Expect,
) -> io::Result<Stat> {
    replace_with(temp, target, expect, exchange, &mut |_| {})
}

/// The way in which the two files change places: [`exchange`] or [`displace`].
pub(super) type Swap =
    fn(&ResolvedPath<'_>, &ResolvedPath<'_>, &StatKey, &mut dyn FnMut(Point)) -> io::Result<()>;

pub(super) fn replace_with(
    temp: &ResolvedPath<'_>,
    target: &ResolvedPath<'_>,
    expect: Expect,
    swap: Swap,
    at: &mut dyn FnMut(Point),
) -> io::Result<Stat> {
    let ours = match expect {
        Expect::Absent => {
            attributes::inherit(temp, target)?;
            let ours = stat(temp)?;
            at(Point::Checked);
            move_no_replace(temp, target).map_err(|e| changed_error_if(e, Errno::EXIST, target))?;
            ours
        }
        Expect::Same(key) => {
            let found = stat(target).map_err(|e| {
                if e.kind() == io::ErrorKind::NotFound {
                    changed_error(target)
                } else {
                    e
                }
            })?;
            if found.key() != key || found.kind != FileKind::File {
                return Err(changed_error(target));
            }
            attributes::carry_over(temp, target)?;
            let ours = stat(temp)?;
            at(Point::Checked);
            swap(temp, target, &key, at)?;
            ours
        }
    };
    // Where somebody edits the new file at once, the caller must not take that edit for its own write.
    match stat(target) {
        Ok(now) if now.key().same_content(&ours.key()) => Ok(now),
        Ok(_) => Ok(ours),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(ours),
        Err(e) => Err(e),
    }
}

/// Swaps in one call of the kernel; falls back to [`displace`] where the file system can't.
pub(super) fn exchange(
    temp: &ResolvedPath<'_>,
    target: &ResolvedPath<'_>,
    key: &StatKey,
    at: &mut dyn FnMut(Point),
) -> io::Result<()> {
    match rename_flagged(temp, target, RenameFlags::EXCHANGE) {
        Ok(()) => {}
        Err(e) if is_unsupported(e) => return displace(temp, target, key, at),
        Err(e) => return Err(changed_error_if(e.into(), Errno::NOENT, target)),
    }
    at(Point::Swapped);
    if stat(temp)?.key().same_content(key) {
        return Ok(());
    }
    match rename_flagged(temp, target, RenameFlags::EXCHANGE) {
        // The new file was deleted in the meantime; the edit still has to go back.
        Err(Errno::NOENT) => move_no_replace(temp, target)?,
        result => result?,
    }
    Err(changed_error(target))
}

/// Replaces on file systems that can't swap: the old file gets a second name first, so that an edit in
/// place during the rename shows there and can be put back.
///
/// One race remains, and only here: another program renames its own file over the target between the
/// last check and the rename.
pub(super) fn displace(
    temp: &ResolvedPath<'_>,
    target: &ResolvedPath<'_>,
    key: &StatKey,
    at: &mut dyn FnMut(Point),
) -> io::Result<()> {
    let kept = with_suffix(temp, ".old")?;
    let (dir, name) = temp.sibling(&kept)?;
    let dir = dir
        .as_ref()
        .map_or(rustix::fs::CWD, std::os::fd::AsFd::as_fd);
    match rustix::fs::unlinkat(dir, &name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(e) => return Err(e.into()),
    }
    let forget = || rustix::fs::unlinkat(dir, &name, AtFlags::empty());
    match rustix::fs::linkat(target.dir(), target.name(), dir, &name, AtFlags::empty()) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Err(changed_error(target)),
        Err(e) if is_unsupported(e) || matches!(e, Errno::PERM | Errno::MLINK) => {
            copy(target, dir, &name)?;
        }
        Err(e) => return Err(e.into()),
    }
    let untouched = |found: io::Result<Stat>| found.is_ok_and(|s| s.key().same_content(key));
    if !untouched(stat(target)) {
        forget()?;
        return Err(changed_error(target));
    }
    if let Err(e) = rustix::fs::renameat(temp.dir(), temp.name(), target.dir(), target.name()) {
        forget()?;
        return Err(e.into());
    }
    at(Point::Swapped);
    let displaced = stat_at(dir, &name)?;
    let edited = displaced.file_id == key.file_id && !displaced.key().same_content(key);
    if edited {
        // The new version goes back to `temp`, then the edit to the target.
        rustix::fs::linkat(
            target.dir(),
            target.name(),
            temp.dir(),
            temp.name(),
            AtFlags::empty(),
        )?;
        rustix::fs::renameat(dir, &name, target.dir(), target.name())?;
        return Err(changed_error(target));
    }
    Ok(rustix::fs::renameat(dir, &name, temp.dir(), temp.name())?)
}

fn copy(
    from: &ResolvedPath<'_>,
    dir: std::os::fd::BorrowedFd<'_>,
    name: &std::path::Path,
) -> io::Result<()> {
    let mut source = super::unix::open(from)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(dir, name, flags, Mode::RUSR | Mode::WUSR)?;
    let mut target = std::fs::File::from(fd);
    let modified = source.metadata()?.modified()?;
    io::copy(&mut source, &mut target)?;
    target.set_modified(modified)?;
    target.sync_all()
}

/// Renames without replacing anything; a change of case or normalisation alone works everywhere, and a directory that
/// its owner may not write in moves to another one all the same.
pub(super) fn rename(from: &ResolvedPath<'_>, to: &ResolvedPath<'_>) -> io::Result<()> {
    match move_no_replace(from, to) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => respell(from, to, e),
        Err(e) => move_lent(from, e, || move_no_replace(from, to)),
        Ok(()) => Ok(()),
    }
}

fn move_no_replace(from: &ResolvedPath<'_>, to: &ResolvedPath<'_>) -> io::Result<()> {
    match rename_flagged(from, to, RenameFlags::NOREPLACE) {
        Err(e) if is_unsupported(e) => move_in_two_steps(from, to),
        result => Ok(result?),
    }
}

/// The same for file systems without the flag: the name is claimed by a call that fails where it is
/// taken.
pub(super) fn move_in_two_steps(from: &ResolvedPath<'_>, to: &ResolvedPath<'_>) -> io::Result<()> {
    let plain = || rustix::fs::renameat(from.dir(), from.name(), to.dir(), to.name());
    if stat(from)?.kind == FileKind::Dir {
        // A directory may be renamed over an empty one, so an empty one can reserve the name.
        rustix::fs::mkdirat(to.dir(), to.name(), Mode::RWXU)?;
        if let Err(e) = plain() {
            rustix::fs::unlinkat(to.dir(), to.name(), AtFlags::REMOVEDIR)?;
            return Err(e.into());
        }
        return Ok(());
    }
    match rustix::fs::linkat(
        from.dir(),
        from.name(),
        to.dir(),
        to.name(),
        AtFlags::empty(),
    ) {
        Ok(()) => Ok(rustix::fs::unlinkat(
            from.dir(),
            from.name(),
            AtFlags::empty(),
        )?),
        // No hard links either (FAT on old kernels): look, then rename.
        Err(e) if is_unsupported(e) || e == Errno::PERM => match stat(to) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(plain()?),
            Ok(_) => Err(Errno::EXIST.into()),
            Err(e) => Err(e),
        },
        Err(e) => Err(e.into()),
    }
}

/// Changes only the case or normal form of a name on a file system that treats both as one name.
fn respell(from: &ResolvedPath<'_>, to: &ResolvedPath<'_>, taken: io::Error) -> io::Result<()> {
    let (Some(old), Some(new)) = (from.last(), to.last()) else {
        return Err(taken);
    };
    let one_file = stat(from)?.file_id == stat(to)?.file_id || is_only_spelling(from, to)?;
    // Two hard links side by side are one file as well, but there both spellings are listed.
    if !one_file || old == new || is_listed(to, new)? {
        return Err(taken);
    }
    rustix::fs::renameat(from.dir(), from.name(), to.dir(), to.name())?;
    if is_listed(to, new)? {
        return Ok(());
    }
    // The kernel saw one file on both sides and did nothing: go through a third name.
    let between = OsString::from(format!(".cairn-tmp-rename-{}", std::process::id()));
    let (dir, name) = from.sibling(&between)?;
    let dir = dir
        .as_ref()
        .map_or(rustix::fs::CWD, std::os::fd::AsFd::as_fd);
    rustix::fs::renameat(from.dir(), from.name(), dir, &name)?;
    if let Err(e) = rustix::fs::renameat(dir, &name, to.dir(), to.name()) {
        rustix::fs::renameat(dir, &name, from.dir(), from.name())?;
        return Err(e.into());
    }
    Ok(())
}

/// Returns whether a directory has nothing that has a name like the new one but what has the old one: some file systems
/// (exFAT through FUSE) number a file anew for each spelling of its name.
fn is_only_spelling(from: &ResolvedPath<'_>, to: &ResolvedPath<'_>) -> io::Result<bool> {
    let (Some(old), Some(new)) = (from.last(), to.last()) else {
        return Ok(false);
    };
    if from.path().parent() != to.path().parent() {
        return Ok(false);
    }
    let entries = list(&to.parent()?)?;
    let names = entries.iter().map(|entry| entry.name.as_os_str());
    Ok(is_only_one_like(names, old, new))
}

/// Returns whether a name is the only one of some that differs from a new one by case or normal form alone.
fn is_only_one_like<'a>(names: impl Iterator<Item = &'a OsStr>, old: &OsStr, new: &OsStr) -> bool {
    let key = |name: &OsStr| search_key(&name.to_string_lossy());
    let alike = names.filter(|name| key(name) == key(new));
    alike.eq([old])
}

fn is_listed(place: &ResolvedPath<'_>, name: &OsStr) -> io::Result<bool> {
    let parent = place.parent()?;
    Ok(list(&parent)?.iter().any(|entry| entry.name == name))
}

fn rename_flagged(
    from: &ResolvedPath<'_>,
    to: &ResolvedPath<'_>,
    flags: RenameFlags,
) -> Result<(), Errno> {
    rustix::fs::renameat_with(from.dir(), from.name(), to.dir(), to.name(), flags)
}

fn is_unsupported(error: Errno) -> bool {
    error == Errno::INVAL
        || error == Errno::NOSYS
        || error == Errno::NOTSUP
        || error == Errno::OPNOTSUPP
}

fn with_suffix(place: &ResolvedPath<'_>, suffix: &str) -> io::Result<OsString> {
    let mut name = place
        .last()
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?
        .to_os_string();
    name.push(suffix);
    Ok(name)
}

fn changed_error(place: &ResolvedPath<'_>) -> io::Error {
    TargetChanged::into_io(place.path())
}

fn changed_error_if(error: io::Error, when: Errno, target: &ResolvedPath<'_>) -> io::Error {
    if error.raw_os_error() == Some(when.raw_os_error()) {
        changed_error(target)
    } else {
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_spelling_replaces_no_other_file() {
        let is_only = |names: &[&str], old: &str, new: &str| {
            is_only_one_like(
                names.iter().map(OsStr::new),
                OsStr::new(old),
                OsStr::new(new),
            )
        };
        assert!(is_only(&["a", "b"], "a", "A"));
        assert!(is_only(&["Stra\u{df}e"], "Stra\u{df}e", "STRASSE"));
        // What lies at the new name is another file, or may be.
        assert!(!is_only(&["a", "b"], "b", "A"));
        assert!(!is_only(&["\u{c9}", "e\u{301}"], "\u{c9}", "\u{e9}"));
        assert!(!is_only(&["b"], "a", "A"));
    }
}
