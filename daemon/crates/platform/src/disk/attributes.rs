//! The attributes that a new version of a file takes over from the old one (mode, owner, extended
//! attributes and access lists), and those that a new file gets from its directory.
//!
//! Only the mode of an old version has to succeed. The rest is done as far as this user and the file system allow it: a
//! missing attribute must not keep new content away.

use super::unix::{ResolvedPath, open, with_executable};
use rustix::fs::{AtFlags, Mode, RawMode};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};
use std::fs::File;
use std::io;

/// The bits of a mode that are carried over: permissions and the sticky bit.
const CARRIED: RawMode = 0o1777;
const SET_GROUP_ID: RawMode = 0o2000;
const GROUP_EXECUTE: RawMode = 0o010;

/// Gives `temp` the attributes of `target`, but leaves it its own executable bit.
pub(super) fn carry_over(temp: &ResolvedPath<'_>, target: &ResolvedPath<'_>) -> io::Result<()> {
    let stat = |place: &ResolvedPath<'_>| {
        rustix::fs::statat(place.dir(), place.name(), AtFlags::SYMLINK_NOFOLLOW)
    };
    let (old, new) = (stat(target)?, stat(temp)?);
    if old.st_nlink > 1 {
        tracing::warn!(
            path = %target.path().display(),
            links = old.st_nlink,
            "the file has other hard links; they keep the old content"
        );
    }
    // The owner first: changing it clears bits of the mode and some attributes.
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid) {
        let (owner, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
        set_owner(temp, Some(owner), group);
    }
    match (open(target), open(temp)) {
        (Ok(from), Ok(to)) => carry_extended(&from, &to),
        // A file that may not be read: its attributes may not either.
        (Err(error), _) | (_, Err(error)) => {
            tracing::debug!(path = %target.path().display(), %error, "extended attributes not read");
        }
    }
    let wanted = wanted_mode(
        Mode::from_raw_mode(old.st_mode),
        Mode::from_raw_mode(new.st_mode),
    );
    // Always: owner and access list may have changed it since it was read.
    Ok(rustix::fs::chmodat(
        temp.dir(),
        temp.name(),
        wanted,
        AtFlags::empty(),
    )?)
}

/// Gives a new file the group and the access list that it would have if it had been made in its
/// directory instead of that of temporary files: folders that several users share rely on them.
pub(super) fn inherit(temp: &ResolvedPath<'_>, target: &ResolvedPath<'_>) -> io::Result<()> {
    let parent = target.parent()?;
    let dir = rustix::fs::statat(parent.dir(), parent.name(), AtFlags::empty())?;
    if dir.st_mode & SET_GROUP_ID != 0 {
        let new = rustix::fs::statat(temp.dir(), temp.name(), AtFlags::SYMLINK_NOFOLLOW)?;
        if new.st_gid != dir.st_gid {
            set_owner(temp, None, Gid::from_raw(dir.st_gid));
        }
    }
    #[cfg(target_os = "linux")]
    if let Err(error) = inherit_list(temp, &parent) {
        tracing::debug!(path = %target.path().display(), %error, "access list not inherited");
    }
    Ok(())
}

/// Applies the default access list of a directory, as the kernel does (acl(5), "Object creation and
/// default ACLs").
#[cfg(target_os = "linux")]
fn inherit_list(temp: &ResolvedPath<'_>, parent: &ResolvedPath<'_>) -> io::Result<()> {
    use rustix::fs::{OFlags, XattrFlags, fchmod, fsetxattr, fstat, openat};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = File::from(openat(parent.dir(), parent.name(), flags, Mode::empty())?);
    let list = match value_of(&dir, "system.posix_acl_default") {
        Err(Errno::NODATA | Errno::NOTSUP) => return Ok(()),
        result => result?,
    };
    let file = open(temp)?;
    let executable = Mode::from_raw_mode(fstat(&file)?.st_mode).contains(Mode::XUSR);
    fsetxattr(&file, ACCESS_LIST, &list, XattrFlags::empty())?;
    // Setting the list has set the mode too.
    let mode = Mode::from_raw_mode(fstat(&file)?.st_mode & 0o666);
    Ok(fchmod(&file, with_executable(mode, executable))?)
}

/// Returns the mode of the old version with the executable bit of the new one.
///
/// Set-user-ID, and set-group-ID of a program, are dropped, as the kernel drops them when a user's
/// process writes to a file: the new content comes from another device. Set-group-ID without the
/// group's execute bit runs nothing and stays.
fn wanted_mode(old: Mode, new: Mode) -> Mode {
    let executable = new.contains(Mode::XUSR);
    let bits = old.as_raw_mode();
    let kept = if bits & GROUP_EXECUTE == 0 && !executable {
        CARRIED | SET_GROUP_ID
    } else {
        CARRIED
    };
    let mode = Mode::from_raw_mode(bits & kept);
    if mode.contains(Mode::XUSR) == executable {
        mode
    } else {
        with_executable(mode, executable)
    }
}

/// Sets owner and group, or the group alone, which a member of it may do.
fn set_owner(temp: &ResolvedPath<'_>, owner: Option<Uid>, group: Gid) {
    let set = |owner| {
        rustix::fs::chownat(
            temp.dir(),
            temp.name(),
            owner,
            Some(group),
            AtFlags::SYMLINK_NOFOLLOW,
        )
    };
    if let Err(error) = set(owner).or_else(|_| set(None)) {
        tracing::debug!(path = %temp.path().display(), %error, "owner and group not set");
    }
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn carry_extended(from: &File, to: &File) {
    match copy_extended(from, to) {
        Ok(()) | Err(Errno::NOTSUP) => {}
        Err(error) => tracing::debug!(%error, "extended attributes not carried over"),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn carry_extended(_: &File, _: &File) {}

/// The access list of a file, as Linux stores it (acl(5)).
#[cfg(any(target_os = "linux", target_os = "macos"))]
const ACCESS_LIST: &str = "system.posix_acl_access";
/// The capabilities of a program; the kernel drops them on a write, like set-user-ID.
#[cfg(any(target_os = "linux", target_os = "macos"))]
const CAPABILITIES: &str = "security.capability";

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn copy_extended(from: &File, to: &File) -> Result<(), Errno> {
    use rustix::fs::{XattrFlags, fremovexattr, fsetxattr};
    let names = names_of(from)?;
    // The directory of temporary files may have given the new file a list of its own.
    if !names.iter().any(|name| name == ACCESS_LIST) {
        match fremovexattr(to, ACCESS_LIST) {
            Ok(()) | Err(Errno::NODATA | Errno::NOTSUP | Errno::INVAL) => {}
            Err(error) => tracing::debug!(%error, "an access list was not removed"),
        }
    }
    for name in names.iter().filter(|name| *name != CAPABILITIES) {
        let copied = value_of(from, name)
            .and_then(|value| fsetxattr(to, name.as_str(), &value, XattrFlags::empty()));
        if let Err(error) = copied {
            // Labels of security modules and names of other users' programs may be out of reach.
            tracing::debug!(name, %error, "an extended attribute was not carried over");
        }
    }
    Ok(())
}

/// The longest list of names and the longest value on Linux, in bytes (limits.h).
#[cfg(any(target_os = "linux", target_os = "macos"))]
const LONGEST: usize = 64 * 1024;

/// Lists the names; those that aren't UTF-8 are left out.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn names_of(file: &File) -> Result<Vec<String>, Errno> {
    let mut list = vec![0; LONGEST];
    let length = rustix::fs::flistxattr(file, &mut list[..])?;
    let names = list[..length]
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty());
    Ok(names
        .filter_map(|name| String::from_utf8(name.to_vec()).ok())
        .collect())
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn value_of(file: &File, name: &str) -> Result<Vec<u8>, Errno> {
    let mut value = vec![0; LONGEST];
    let length = rustix::fs::fgetxattr(file, name, &mut value[..])?;
    value.truncate(length);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carried_mode(old: RawMode, new: RawMode) -> RawMode {
        wanted_mode(Mode::from_raw_mode(old), Mode::from_raw_mode(new)).as_raw_mode()
    }

    #[test]
    fn permissions_and_sticky_bit_stay_and_the_executable_bit_is_the_new_one() {
        assert_eq!(carried_mode(0o640, 0o644), 0o640);
        assert_eq!(carried_mode(0o1600, 0o644), 0o1600);
        assert_eq!(carried_mode(0o640, 0o755), 0o750);
        assert_eq!(carried_mode(0o755, 0o644), 0o644);
    }

    #[test]
    fn new_content_never_runs_as_somebody_else() {
        assert_eq!(carried_mode(0o4755, 0o755), 0o755);
        assert_eq!(carried_mode(0o2755, 0o755), 0o755);
        assert_eq!(
            carried_mode(0o6644, 0o644),
            0o2644,
            "set-group-ID of no program"
        );
        assert_eq!(carried_mode(0o2644, 0o755), 0o755);
    }
}
