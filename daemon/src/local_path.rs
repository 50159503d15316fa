//! Paths on this machine, as a person types them and as the index stores them.

use crate::failure::{CommandResult, Context as _, Failure};
use cairn_model::name::compose;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

/// The one absolute form of a folder's path, whether the folder is still there or not.
pub(crate) fn folder(path: &Path) -> CommandResult<String> {
    let absolute = match path.canonicalize() {
        Ok(path) => path,
        Err(e) if e.kind() == io::ErrorKind::NotFound => below_existing(path)?,
        Err(e) => return Err(e).context(format_args!("find {}", path.display())),
    };
    absolute.into_os_string().into_string().map_err(|_| {
        Failure::usage(format!(
            "{} is not valid UTF-8: rename it first",
            path.display()
        ))
    })
}

/// The absolute form of a path whose last component may be a symbolic link, or missing.
pub(crate) fn file(path: &Path) -> CommandResult<PathBuf> {
    below_existing(path)
}

/// The absolute form of a path, with what lies in one of these folders as it was given: a symbolic link in a folder is
/// not synced, and what lies behind it isn't in the folder. The folders are in their one absolute form.
pub(crate) fn in_folders(path: &Path, folders: &[String]) -> CommandResult<PathBuf> {
    let absolute = without_parents(path)?;
    let mut above: Vec<&Path> = absolute.ancestors().skip(1).collect();
    above.reverse();
    for dir in above {
        let Ok(resolved) = dir.canonicalize() else {
            break;
        };
        let is_in_folder = folders.iter().any(|folder| resolved.starts_with(folder));
        if let (true, Ok(below)) = (is_in_folder, absolute.strip_prefix(dir)) {
            return Ok(resolved.join(below));
        }
    }
    below_existing(&absolute)
}

/// Makes a path absolute. Everything before the last `..` is resolved, as the system does it.
fn without_parents(path: &Path) -> CommandResult<PathBuf> {
    let absolute = std::path::absolute(path).context(format_args!("find {}", path.display()))?;
    let components: Vec<Component<'_>> = absolute.components().collect();
    let is_parent = |component: &Component<'_>| *component == Component::ParentDir;
    let Some(last) = components.iter().rposition(is_parent) else {
        return Ok(absolute);
    };
    let (above, below) = components.split_at(last + 1);
    let above: PathBuf = above.iter().collect();
    let above = above
        .canonicalize()
        .context(format_args!("find {}", above.display()))?;
    Ok(below.iter().fold(above, |path, name| path.join(name)))
}

/// Resolves the nearest folder above that exists, and leaves what is below it as it was given.
fn below_existing(path: &Path) -> CommandResult<PathBuf> {
    let absolute = std::path::absolute(path).context(format_args!("find {}", path.display()))?;
    let mut above = absolute.clone();
    let mut below = Vec::new();
    while let Some(name) = above.file_name().map(ToOwned::to_owned) {
        above.pop();
        below.push(name);
        if let Ok(resolved) = above.canonicalize() {
            return Ok(below
                .iter()
                .rev()
                .fold(resolved, |path, name| path.join(name)));
        }
    }
    Ok(absolute)
}

/// Returns a path below a folder with its names as they are there: where nothing has a name byte for byte, the one
/// counts that differs only in how accents are composed.
pub(crate) fn as_spelled_there(root: &Path, below: &Path) -> PathBuf {
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    if below.as_os_str().is_ascii() || is_there(&root.join(below)) {
        return below.to_path_buf();
    }
    let mut spelled = PathBuf::new();
    for part in below.components() {
        let wanted = part.as_os_str();
        let dir = root.join(&spelled);
        let found = match is_there(&dir.join(wanted)) {
            true => None,
            false => same_name_in(&dir, wanted),
        };
        spelled.push(found.as_deref().unwrap_or(wanted));
    }
    spelled
}

fn same_name_in(dir: &Path, wanted: &OsStr) -> Option<OsString> {
    let wanted = compose(wanted.to_str()?);
    let names = std::fs::read_dir(dir).ok()?.flatten();
    let mut names = names.map(|entry| entry.file_name());
    names.find(|name| name.to_str().is_some_and(|name| compose(name) == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_whose_accents_are_composed_in_another_way() {
        let dir = tempfile::tempdir().unwrap();
        let there = Path::new("cafe\u{301}/re\u{301}sume\u{301}.txt");
        std::fs::create_dir_all(dir.path().join(there)).unwrap();
        let spelled = |below: &str| as_spelled_there(dir.path(), Path::new(below));
        assert_eq!(spelled("caf\u{e9}/r\u{e9}sum\u{e9}.txt"), there);
        assert_eq!(spelled(there.to_str().unwrap()), there);
        let gone = Path::new("cafe\u{301}/\u{e9}t\u{e9}");
        assert_eq!(spelled("caf\u{e9}/\u{e9}t\u{e9}"), gone);
    }

    #[test]
    fn what_is_gone_keeps_its_name_below_what_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let gone = dir.path().join("gone/below");
        assert_eq!(
            folder(&gone).unwrap(),
            root.join("gone/below").to_str().unwrap()
        );
        assert_eq!(folder(dir.path()).unwrap(), root.to_str().unwrap());
        assert_eq!(file(&gone).unwrap(), root.join("gone/below"));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_to_a_folder_and_not_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let root = top.join("root");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        std::fs::create_dir(top.join("other")).unwrap();
        let link = |to: &str, at: &Path| std::os::unix::fs::symlink(top.join(to), at).unwrap();
        link("root", &top.join("to_root"));
        link("other", &root.join("out"));
        link("root/sub", &root.join("in"));
        let folders = [root.to_str().unwrap().to_owned()];
        for (given, expected) in [
            ("to_root/sub/f", "root/sub/f"),
            ("root/out", "root/out"),
            ("root/out/f", "root/out/f"),
            ("to_root/in/f", "root/in/f"),
            ("root/sub/../in/f", "root/in/f"),
            ("root/gone/f", "root/gone/f"),
            ("root", "root"),
            ("root/out/f/..", "root/out/f"),
        ] {
            let found = in_folders(&top.join(given), &folders);
            // What is there decides what `..` means.
            if given.ends_with("..") {
                assert!(found.is_err(), "{given}");
            } else {
                assert_eq!(found.unwrap(), top.join(expected), "{given}");
            }
        }
    }
}
