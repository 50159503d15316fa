//! Which places on this machine tools may read and write: none that belong to the system.

use crate::error::{ToolError, ToolResult};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Directories of the system, as components from the root.
const SYSTEM: [&str; 8] = ["etc", "usr", "bin", "sbin", "var", "proc", "sys", "dev"];

/// A local path with everything resolved that exists of it, if tools may use it.
///
/// # Errors
/// [`ToolError::Refused`] for system directories, also through symbolic links and `..`.
pub(super) fn allowed(path: &Path) -> ToolResult<PathBuf> {
    if path.as_os_str().is_empty() || path.to_string_lossy().contains('\0') {
        return Err(ToolError::argument(
            "the local path is empty or contains a NUL character",
        ));
    }
    let absolute = std::path::absolute(at_home(path))
        .map_err(ToolError::local(format!("find `{}`", path.display())))?;
    let plain = without_dots(&absolute);
    refuse_system(&absolute, path)?;
    refuse_system(&plain, path)?;
    let resolved = resolved(&absolute);
    refuse_system(&resolved, path)?;
    Ok(resolved)
}

/// Checks a path again that was allowed before: what it leads to may have been exchanged.
pub(super) fn still_allowed(path: &Path) -> ToolResult {
    let now = std::fs::canonicalize(path)
        .map_err(ToolError::local(format!("open `{}`", path.display())))?;
    refuse_system(&now, path)
}

/// Expands a leading `~` to the user's home.
fn at_home(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

fn refuse_system(path: &Path, given: &Path) -> ToolResult {
    let mut parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            None
        }
    });
    let is = |name: Option<&std::ffi::OsStr>, of: &[&str]| {
        name.is_some_and(|name| of.iter().any(|system| name.eq_ignore_ascii_case(system)))
    };
    let first = parts.next();
    // Where `/var` and `/etc` are links to places below `/private`. The user's own temporary folder
    // lies there too, and is the user's.
    let second = is(first, &["private"]).then(|| parts.next()).flatten();
    let own_temporary = second.is_some() && path.starts_with(resolved(&std::env::temp_dir()));
    if is(first, &SYSTEM) && !in_temporary_of_user(path) || is(second, &SYSTEM) && !own_temporary {
        return Err(ToolError::refused(format!(
            "`{}` is in a system directory: choose a path in your own folders",
            given.display()
        )));
    }
    Ok(())
}

/// The per-user temporary folder that some systems keep below `/var/folders`.
fn in_temporary_of_user(path: &Path) -> bool {
    path.starts_with("/var/folders") && path.starts_with(std::env::temp_dir())
}

/// The path with the links of its nearest existing part resolved, and what follows without dots.
fn resolved(path: &Path) -> PathBuf {
    let mut missing: Vec<OsString> = Vec::new();
    let mut at = path.to_owned();
    loop {
        if let Ok(real) = std::fs::canonicalize(&at) {
            let whole = missing
                .iter()
                .rev()
                .fold(real, |real, name| real.join(name));
            return without_dots(&whole);
        }
        // `file_name` knows no `..`: the last component is taken as it is written.
        let last = at
            .components()
            .next_back()
            .map(|c| c.as_os_str().to_owned());
        match (at.parent().map(Path::to_owned), last) {
            (Some(parent), Some(last)) => {
                missing.push(last);
                at = parent;
            }
            _ => return without_dots(path),
        }
    }
}

/// The path with `.` and `..` worked out on paper.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Normal(_) | Component::Prefix(_) | Component::RootDir => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_directories_are_refused_however_they_are_written() {
        for bad in [
            "/etc/passwd",
            "/etc",
            "/usr/local/x",
            "/bin/sh",
            "/sbin",
            "/var/log/x",
            "/proc/self/mem",
            "/sys/x",
            "/dev/null",
            "/tmp/../etc/x",
            "/tmp/nowhere/../../etc/x",
            "//etc//passwd",
            "/./etc/x",
            "",
        ] {
            assert!(allowed(Path::new(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn own_places_are_fine_also_with_similar_names() {
        let dir = tempfile::tempdir().unwrap();
        for good in ["x", "etc/x", "a/b/c", "a/../b"] {
            allowed(&dir.path().join(good)).unwrap_or_else(|e| panic!("{good}: {e}"));
        }
        assert!(allowed(Path::new("/etcetera/x")).is_ok());
        assert!(allowed(Path::new("relative")).unwrap().is_absolute());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_into_the_system_is_seen_through() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("/etc", &link).unwrap();
        assert!(allowed(&link.join("passwd")).is_err());
        assert!(allowed(&link.join("new/file")).is_err());
        assert!(still_allowed(&link).is_err());
    }
}
