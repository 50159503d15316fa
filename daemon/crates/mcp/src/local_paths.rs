//! The local paths that tools may read and write: those in allowed folders, and there no hidden files, no
//! start-up files, nothing of Cairn's own, and never the system's directories.

#[cfg(test)]
mod tests;

use crate::error::{ToolError, ToolResult};
use crate::quote::quote_path;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// Directories of the system, as components from the root.
const SYSTEM: [&str; 8] = ["etc", "usr", "bin", "sbin", "var", "proc", "sys", "dev"];

/// Directories and files that are run at log-in or by a shell, as consecutive components of a path.
const START_UP: [&[&str]; 8] = [
    &["autostart"],
    &["systemd", "user"],
    &["launchagents"],
    &["launchdaemons"],
    &["start menu", "programs", "startup"],
    &["powershell"],
    &["windowspowershell"],
    &["config.fish"],
];

/// The folders that tools may use, and those that they may not.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LocalPaths {
    allowed: Vec<PathBuf>,
    private: Vec<PathBuf>,
    /// The file that marks other private folders; empty: none.
    #[serde(default)]
    private_mark: String,
    temporary: PathBuf,
}

impl LocalPaths {
    /// Takes the allowed folders and the private ones inside them, with their links resolved.
    pub(crate) fn new(allowed: Vec<PathBuf>, private: Vec<PathBuf>) -> Self {
        let resolve = |paths: Vec<PathBuf>| -> Vec<PathBuf> {
            let absolute = |path: PathBuf| std::path::absolute(expand_home(&path)).ok();
            let paths = paths.into_iter().filter_map(absolute);
            let paths = paths.map(|path| resolve_links(&path));
            // The root of the file system would allow everything.
            paths.filter(|path| path.parent().is_some()).collect()
        };
        Self {
            allowed: resolve(allowed),
            private: resolve(private),
            private_mark: String::new(),
            temporary: resolve_links(&std::env::temp_dir()),
        }
    }

    /// Takes the name of the file that marks folders as private, too.
    pub(crate) fn with_private_mark(self, name: &str) -> Self {
        Self {
            private_mark: name.to_owned(),
            ..self
        }
    }

    /// Returns the path with the links of its existing part resolved, if tools may use it.
    ///
    /// # Errors
    /// [`ToolError::Argument`] for what is not a path of this system, [`ToolError::Refused`] for a path
    /// that tools may not use, also through symbolic links and `..`.
    pub(crate) fn check(&self, path: &Path) -> ToolResult<PathBuf> {
        refuse_foreign_forms(path)?;
        let absolute = std::path::absolute(expand_home(path))
            .map_err(ToolError::local(format!("find {}", quote_path(path))))?;
        refuse_system(&absolute, path)?;
        refuse_system(&without_dots(&absolute), path)?;
        let resolved = resolve_links(&absolute);
        self.check_resolved(&resolved, path)?;
        Ok(resolved)
    }

    /// Checks an existing path again that was allowed before: a link in it may have been exchanged.
    ///
    /// # Errors
    /// Fails like [`Self::check`].
    pub(crate) fn recheck(&self, path: &Path) -> ToolResult {
        let now = std::fs::canonicalize(path)
            .map_err(ToolError::local(format!("open {}", quote_path(path))))?;
        self.check_resolved(&now, path)
    }

    fn check_resolved(&self, resolved: &Path, given: &Path) -> ToolResult {
        refuse_system(resolved, given)?;
        let shown = quote_path(given);
        if self.is_private(resolved) {
            return Err(ToolError::refused(format!(
                "{shown} belongs to Cairn itself: tools don't use it"
            )));
        }
        let Some(root) = self.allowed.iter().find(|dir| resolved.starts_with(dir)) else {
            return Err(self.outside_error(given));
        };
        // Programs that make temporary folders may hide them; nothing there is read at log-in.
        let skipped = usize::from(*root == self.temporary);
        let below = resolved.strip_prefix(root).unwrap_or(resolved);
        if below.components().skip(skipped).any(is_hidden) {
            return Err(hidden_error(resolved, given));
        }
        if is_start_up(resolved) {
            return Err(ToolError::refused(format!(
                "{shown} is run at log-in or by a shell: tools don't use such files"
            )));
        }
        Ok(())
    }

    /// Returns whether a path, with its links resolved, is in a private folder.
    pub(crate) fn is_private(&self, resolved: &Path) -> bool {
        let is_marked = |dir: &Path| dir.join(&self.private_mark).symlink_metadata().is_ok();
        self.private.iter().any(|dir| resolved.starts_with(dir))
            || !self.private_mark.is_empty() && resolved.ancestors().any(is_marked)
    }

    fn outside_error(&self, given: &Path) -> ToolError {
        let named: Vec<_> = self.allowed.iter().map(|dir| quote_path(dir)).collect();
        let shown = quote_path(given);
        ToolError::refused(if named.is_empty() {
            format!(
                "{shown} can't be used: no local folder is allowed; start the server with --allow-dir FOLDER"
            )
        } else {
            format!(
                "{shown} is outside the folders that tools may use ({}): choose a path in one of them, or start the server with --allow-dir FOLDER",
                named.join(", ")
            )
        })
    }
}

/// Returns the folder of a `file:` address, as clients name their roots.
pub(crate) fn from_file_uri(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let mut bytes = Vec::new();
    let mut left = rest.as_bytes();
    while let Some((first, after)) = left.split_first() {
        let code = (*first == b'%').then(|| after.get(..2)).flatten();
        let code = code.and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                left = &after[2..];
            }
            None => {
                bytes.push(*first);
                left = after;
            }
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    let drive = text
        .strip_prefix('/')
        .filter(|text| text.as_bytes().get(1) == Some(&b':'));
    let path = PathBuf::from(drive.unwrap_or(&text));
    path.is_absolute().then_some(path)
}

/// Refuses texts that would become odd relative paths: addresses, and drives on systems without them.
fn refuse_foreign_forms(path: &Path) -> ToolResult {
    let text = path.to_string_lossy();
    if text.is_empty() || text.contains('\0') {
        return Err(ToolError::argument(
            "the local path is empty or contains a NUL character",
        ));
    }
    let drive = text.as_bytes().get(1) == Some(&b':') && text.as_bytes()[0].is_ascii_alphabetic();
    if text.contains("://") || text.starts_with("file:") || (drive && !path.has_root()) {
        return Err(ToolError::argument(format!(
            "`{text}` is not a path on this machine: give one such as ~/Downloads/report.pdf"
        )));
    }
    Ok(())
}

fn is_hidden(part: Component<'_>) -> bool {
    matches!(part, Component::Normal(name) if name.to_string_lossy().starts_with('.'))
}

/// Returns the error for a path of which a part begins with a dot. A hidden folder can be allowed, a hidden file can't.
fn hidden_error(resolved: &Path, given: &Path) -> ToolError {
    let shown = quote_path(given);
    let last = resolved.components().next_back();
    ToolError::refused(if last.is_some_and(is_hidden) && !resolved.is_dir() {
        format!(
            "{shown} is a hidden file, and tools don't use those in any folder: choose a name that does not begin with a dot, or have a person use `cairn upload` or `cairn download`"
        )
    } else {
        format!(
            "{shown} is in a hidden folder, and tools don't use those: choose another one, or start the server with that folder as --allow-dir if it is meant"
        )
    })
}

/// Returns whether a file on the service would be hidden, or a start-up file, where it is synced; for its path there.
/// Characters that nobody sees are no way around that: some systems leave them out.
pub(crate) fn is_hidden_or_start_up(path: &str) -> bool {
    [path, &crate::clean::text(path)].iter().any(|path| {
        let is_hidden = path.split('/').any(|part| part.starts_with('.'));
        is_hidden || is_start_up(Path::new(path))
    })
}

fn is_start_up(path: &Path) -> bool {
    let parts: Vec<String> = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy().to_lowercase())
        .collect();
    let matches = |wanted: &[&str]| parts.windows(wanted.len()).any(|window| window == wanted);
    START_UP.iter().any(|wanted| matches(wanted))
}

/// Expands a leading `~` to the user's home.
pub(crate) fn expand_home(path: &Path) -> PathBuf {
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
    let is = |name: Option<&OsStr>, of: &[&str]| {
        name.is_some_and(|name| of.iter().any(|system| name.eq_ignore_ascii_case(system)))
    };
    let first = parts.next();
    // Where `/var` and `/etc` are links to places below `/private`. The user's own temporary folder
    // lies there too, and is the user's.
    let second = is(first, &["private"]).then(|| parts.next()).flatten();
    let own_temporary = second.is_some() && path.starts_with(resolve_links(&std::env::temp_dir()));
    if is(first, &SYSTEM) && !in_temporary_of_user(path) || is(second, &SYSTEM) && !own_temporary {
        return Err(ToolError::refused(format!(
            "{} is in a system directory: choose a path in your own folders",
            quote_path(given)
        )));
    }
    Ok(())
}

/// The per-user temporary folder that some systems keep below `/var/folders`.
fn in_temporary_of_user(path: &Path) -> bool {
    path.starts_with("/var/folders") && path.starts_with(std::env::temp_dir())
}

/// Returns the path with the links of its nearest existing part resolved, and what follows without dots.
pub(crate) fn resolve_links(path: &Path) -> PathBuf {
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

/// The path without `.` and `..`, resolved without looking at the disk.
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
